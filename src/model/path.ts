/** Paths in an input: member names, outermost first. */

/** Returns the value at a path; undefined: the input has none there. */
export function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/**
 * Returns the string or number at a path of the input, as text; runs with the same text are limited together.
 * Undefined: the input has neither a string nor a number there.
 */
export function keyAt(input: unknown, path: readonly string[]): string | undefined {
  const value = valueAt(input, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
