/**
 * The text cache: remembers the last value and its JSON text. Consecutive jobs of a batch usually have equal events and
 * bodies.
 *
 * Saves (bench/LEDGER.md, "a line that equals the line before shares its text", "equal texts are one parameter"): a
 * shallow comparison takes a tenth of the time of stringifying. Equal texts are the same string, which is sent to the
 * database once.
 * Applies to values whose fields are identical to those of the previous value.
 * Without the cache every value is stringified and parsed; the results are the same.
 */

/**
 * Returns a function that stringifies objects. For an object that equals the previous one, it returns the previous
 * text.
 */
export function cachedStringify<T extends object>(write: (value: T) => string = JSON.stringify): (value: T) => string {
  let last: T | undefined;
  let names: readonly (keyof T)[] = [];
  let text = '';
  return (value) => {
    if (last !== undefined && (value === last || hasFieldsOf(last, names, value))) return text;
    text = write(value);
    last = value;
    names = namesOf(value);
    return text;
  };
}

/**
 * Returns a function that parses texts. For a text that equals the previous one, it returns the previous value, which
 * must not be changed.
 */
export function cachedParse<T>(): (text: string) => T {
  let last: string | undefined;
  let value: T;
  return (text) => {
    if (text !== last) {
      value = JSON.parse(text) as T;
      last = text;
    }
    return value;
  };
}

export const areShallowEqual = <T extends object>(one: T, other: T): boolean => hasFieldsOf(one, namesOf(one), other);

const namesOf = <T extends object>(value: T): readonly (keyof T)[] => Object.keys(value) as (keyof T)[];

/**
 * Whether `other` has the fields of `one`, which are `names`, and no further ones. The `for … in` loop only counts: with
 * `Object.keys`, each comparison would make a list of names. A `for … in` loop that reads the fields takes 2.5 µs instead
 * of 0.1 in a process that compares objects of several shapes: V8 optimizes its property accesses for one name, and
 * discards the optimized code at the next name, again and again.
 */
function hasFieldsOf<T extends object>(one: T, names: readonly (keyof T)[], other: T): boolean {
  let count = 0;
  for (const _ in other) count += 1;
  if (count !== names.length) return false;
  for (let index = 0; index < count; index++) if (one[names[index]!] !== other[names[index]!]) return false;
  return true;
}
