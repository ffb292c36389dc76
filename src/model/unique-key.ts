/**
 * The unique key of a job: which change needs it, which releases it, who must hold it, and until when.
 *
 * A key without a period (`forMs` null) belongs to its job while the job is open: it is released when the job ends and
 * needed again when the job is reopened. A key with a period is taken when the job is created and stays taken until the
 * period ends, even if the job ends or is deleted before.
 */
import type { Change } from './change.ts';
import { isOpen, type Job } from './job.ts';

/** The key that must be free for the change to be written; null: none. */
export function neededKey({ before, after }: Pick<Change, 'before' | 'after'>): string | null {
  if (after === null || after.unique === null || !isOpen(after)) return null;
  return before === null || (!isOpen(before) && isWhileOpen(after)) ? after.unique.key : null;
}

/** The key that the change releases; null: none. */
export function releasedKey({ before, after }: Pick<Change, 'before' | 'after'>): string | null {
  const isClosed = before !== null && isOpen(before) && (after === null || !isOpen(after));
  return isClosed && isWhileOpen(before) ? before.unique!.key : null;
}

/** Until when the job holds its key; null: while it is open. */
export const keyUntil = ({ unique, created }: Job): number | null =>
  unique === null || unique.forMs === null ? null : created + unique.forMs;

/** Whether a job that has been written must hold its key at this time. */
export const holdsKey = (job: Job, now: number): boolean =>
  job.unique !== null && (isWhileOpen(job) ? isOpen(job) : keyUntil(job)! > now);

const isWhileOpen = ({ unique }: Job): boolean => unique !== null && unique.forMs === null;
