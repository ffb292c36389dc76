/** The type of a record that is being made: the same fields, which may still be set. */
export type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
