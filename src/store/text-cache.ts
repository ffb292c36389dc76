/**
 * Remembers the last JSON text: consecutive jobs of a batch are usually equal, and comparing costs a tenth of
 * stringifying. Equal texts that are the same string need not be sent twice.
 */

/** Stringifies; for an object that equals the previous one, answers the previous text. */
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

/** Parses; for a text that equals the previous one, answers the previous value, which must not be changed. */
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

/** Whether both have the same fields with identical values. */
export function areShallowEqual<T extends object>(one: T, other: T): boolean {
  let fields = 0;
  for (const name in one) {
    if (one[name] !== other[name]) return false;
    fields += 1;
  }
  for (const _ in other) fields -= 1;
  return fields === 0;
}
