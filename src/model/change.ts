/** The change: a job before and after, with the events between. The store writes it only if nobody came in between. */
import type { Event } from './event.ts';
import type { Job } from './job.ts';

export interface Change {
  /** As it was seen; null: it does not exist yet. */
  readonly before: Job | null;
  /** As it shall be; null: every trace of it goes. */
  readonly after: Job | null;
  /** What happened, in order; `after.version` is the number of the last. */
  readonly events: readonly Event[];
}

/** Whether the lease stays as it was seen. It may have been extended since, which is no event, and must not be cut again. */
export const leavesLease = (before: Job, after: Job): boolean =>
  before.state === 'running' && after.state === 'running' &&
  before.fence === after.fence && before.lease.holder === after.lease.holder && before.lease.until === after.lease.until;
