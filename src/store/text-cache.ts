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
  let text = '';
  return (value) => {
    if (last !== undefined && areShallowEqual(last, value)) return text;
    text = write(value);
    last = value;
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

/**
 * A `for … in` loop over both objects takes 2.5 µs instead of 0.1 in a process that compares objects of several shapes:
 * V8 optimizes its property accesses for one name, and discards the optimized code at the next name, again and again.
 */
export function areShallowEqual<T extends object>(one: T, other: T): boolean {
  const names = Object.keys(one) as (keyof T)[];
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
