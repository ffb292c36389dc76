/** Equality of plain data by content, ignoring prototypes. A member whose value is undefined counts as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Map || b instanceof Map) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false;
  return hasFieldsOf(a, b) && hasFieldsOf(b, a);
}

function hasFieldsOf(a: object, b: object): boolean {
  for (const name of Object.keys(b)) {
    const [mine, theirs] = [(a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]];
    if (theirs !== undefined && mine !== theirs && !(Object.hasOwn(a, name) && isSame(mine, theirs))) return false;
  }
  return true;
}
