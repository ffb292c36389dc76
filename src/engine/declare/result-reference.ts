/**
 * The result reference: `{ "$result": name, "path": […] }` in an input that is given as data. It stands for the result of
 * the named run or definition, or for a part of it.
 */
import { checkFields } from '../../jobs/checks/values.ts';
import type { Path } from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';

export interface ResultReference {
  readonly $result: string;
  readonly path?: Path;
}

const depthMax = 200;

/** Returns the input with `replace` of each reference to a result, which gets the place of the reference, too. */
export function withResults(
  value: unknown,
  replace: (reference: ResultReference, place: Path) => unknown,
  place: Path = [],
): unknown {
  if (typeof value !== 'object' || value === null || place.length > depthMax) return value;
  if (Array.isArray(value)) return value.map((element, index) => withResults(element, replace, [...place, index]));
  if (Object.hasOwn(value, '$result')) return replace(checkReference(value as ResultReference), place);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withResults(member, replace, [...place, name])]),
  );
}

/** Refuses a part of a result that the run cannot rely on. */
export function refuseUnsurePart(isAfterSuccess: boolean, path: Path): void {
  if (isAfterSuccess || path.length === 0) return;
  const message = 'a run that starts after a failure can only have whole results: leave out path';
  throw new Refusal('malformed.flow', message, { path });
}

function checkReference(reference: ResultReference): ResultReference {
  const { $result, path = [] } = checkFields('a reference to a result', reference, ['$result', 'path']);
  const isPath = Array.isArray(path) && path.every((part) => typeof part === 'string' || isIndex(part));
  if (typeof $result === 'string' && isPath) return reference;
  const message = 'a reference to a result has a name in $result, and names or indexes, from 0, in path';
  throw new Refusal('malformed.flow', message, {});
}

/** The highest index that an array can have. */
const indexMax = 2 ** 32 - 2;

const isIndex = (part: number): boolean => Number.isSafeInteger(part) && part >= 0 && part <= indexMax;
