/** Makes predicates over type names and jobs from the exact names or the pattern of a request. */
import { matches, parseGlob } from '../model/glob.ts';
import type { Job } from '../model/job.ts';
import { knowsVersion } from '../model/type-version.ts';
import type { TypeNames } from './store.ts';

export function namePredicate(names: TypeNames): (type: string) => boolean {
  if ('exact' in names) {
    const exact = new Set(names.exact);
    return (type) => exact.has(type);
  }
  const glob = parseGlob(names.glob);
  return (type) => matches(glob, type);
}

/** Returns a predicate: the request names the type of a job, and knows its version. */
export function jobPredicate(names: TypeNames): (job: Pick<Job, 'type' | 'typeVersion'>) => boolean {
  const isNamed = namePredicate(names);
  const known = ('exact' in names && names.versions) || [];
  return ({ type, typeVersion }) => isNamed(type) && knowsVersion(known, type, typeVersion);
}
