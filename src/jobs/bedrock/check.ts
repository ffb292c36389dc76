/**
 * Checks of Bedrock requests: Bedrock's limits on priorities, times and names, in addition to the limits of all jobs.
 */
import { parseGlob } from '../../model/glob.ts';
import { Refusal } from '../../refusal.ts';
import type { TypeNames } from '../../store/store.ts';
import { checkInstant } from '../../time/instant.ts';
import { applyModifiers, parseModifiers } from '../../time/repeat.ts';
import { checkText, nameMax } from '../checks/values.ts';

export const priorityDefault = 500;
export const queuePriorities: readonly number[] = [0, 250, 500, 750, 850, 1000];
export const handOutMax = 1000;
/** How many bytes all names of one request may have together. */
export const namesBytesMax = 12_750;

export function checkQueuePriority(priority: number): number {
  if (queuePriorities.includes(priority)) return priority;
  const message = `the priority must be one of ${queuePriorities.join(', ')}`;
  throw new Refusal('malformed.number', message, { name: 'priority' });
}

/** Allows times from the year 0000, as Bedrock does; the times of other jobs begin with 1970. */
export const checkDue = (field: string, due: number): number => checkInstant(due, field);

/** The refusal names the field `retryAfter`, because the refusal of an invalid repeat rule has the same code. */
export function checkRetryAfter(retryAfter: string, now: number): string {
  try {
    applyModifiers(parseModifiers(retryAfter), now);
    return retryAfter;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal('malformed.repeat', error.message, { ...error.detail, field: 'retryAfter' });
  }
}

/** Returns the names to search for, without duplicates and without names that are too long for any job. */
export function checkNames(names: TypeNames): TypeNames {
  if ('glob' in names) return { glob: parseGlob(names.glob).text };
  for (const name of names.exact) checkText('name', name, namesBytesMax);
  return { exact: [...new Set(names.exact)].filter((name) => Buffer.byteLength(name) <= nameMax) };
}
