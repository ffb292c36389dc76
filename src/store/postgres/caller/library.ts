/** A library whose transactions `in` accepts. Its objects are recognized by their shape, so that nothing imports it. */

/**
 * Executes a statement with numbered parameters ($1, $2) in the caller's transaction; returns its rows. With a name, the
 * connection prepares the statement under it, if the library allows that.
 */
export type Execute = (text: string, values: readonly unknown[], name?: string) => Promise<readonly object[]>;

/** An object of the library that is no open transaction. */
export interface Unfit {
  readonly what: string;
  readonly todo: string;
}

/** Returns how to execute statements on `value`, or why it is unfit; null: `value` is no object of this library. */
export type Library = (value: object) => Execute | Unfit | null;

/** The rows in the answer of a client: `{ rows }`, or the rows themselves. */
export const rowsOf = (answer: unknown): readonly object[] =>
  Array.isArray(answer) ? (answer as object[]) : ((answer as { rows?: object[] } | null)?.rows ?? []);

/** Whether a property of an object or function is a function. */
export const has = (value: object, name: string): boolean =>
  typeof (value as Record<string, unknown>)[name] === 'function';
