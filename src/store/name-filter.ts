/** Makes a predicate over type names from the exact names or the pattern of a request. */
import { matches, parseGlob } from '../model/glob.ts';
import type { TypeNames } from './store.ts';

export function namePredicate(names: TypeNames): (type: string) => boolean {
  if ('exact' in names) {
    const exact = new Set(names.exact);
    return (type) => exact.has(type);
  }
  const glob = parseGlob(names.glob);
  return (type) => matches(glob, type);
}
