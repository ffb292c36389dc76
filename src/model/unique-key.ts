/**
 * The unique key of a job: which change needs the key, which change releases it, and until when the job has it.
 *
 * A key without a period (`forMs` null) belongs to its job while the job is open: it is released when the job ends and
 * needed again when the job is reopened. A key with a period is taken when the job is created and stays taken until the
 * period ends, even if the job ends or is deleted before.
 */
import type { Change } from './change.ts';
import { isOpen, type Job } from './job.ts';

/** Returns the key that must be free because the change creates or reopens the job; null: none. */
export function neededKey({ before, after }: Pick<Change, 'before' | 'after'>): string | null {
  if (after === null || after.unique === null || !isOpen(after)) return null;
  return before === null || (!isOpen(before) && isWhileOpen(after)) ? after.unique.key : null;
}

/** Returns the key that becomes free because the change ends or deletes the job; null: none. */
export function releasedKey({ before, after }: Pick<Change, 'before' | 'after'>): string | null {
  const isClosed = before !== null && isOpen(before) && (after === null || !isOpen(after));
  return isClosed && isWhileOpen(before) ? before.unique!.key : null;
}

/** Returns the time at which the period of the job's key ends; null: the key has no period, or the job has no key. */
export const keyUntil = ({ unique, created }: Job): number | null =>
  unique === null || unique.forMs === null ? null : created + unique.forMs;

/** Whether the job has its key at the time `now`. If so, the store must contain the key. */
export const holdsKey = (job: Job, now: number): boolean =>
  job.unique !== null && (isWhileOpen(job) ? isOpen(job) : keyUntil(job)! > now);

const isWhileOpen = ({ unique }: Job): boolean => unique !== null && unique.forMs === null;
