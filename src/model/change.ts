/**
 * The change: a job before and after a command, with its events. The store writes it only if the stored version is
 * still that of `before`.
 */
import type { Event } from './event.ts';
import type { Job } from './job.ts';

export interface Change {
  /** The job that was read; null: it does not exist yet. */
  readonly before: Job | null;
  /** The job to write; null: the job, its history and its notes are deleted. */
  readonly after: Job | null;
  /**
   * The events, in order. The last one has the number `after.version`. Empty if the job is deleted or nothing changed.
   */
  readonly events: readonly Event[];
}

/**
 * Whether the change leaves the lease as it was read. If so, the store must not write the lease: the holder may have
 * extended the stored lease after the job was read, and an extension does not raise the version.
 */
export const leavesLease = (before: Job, after: Job): boolean =>
  before.state === 'running' && after.state === 'running' &&
  before.fence === after.fence && before.lease.holder === after.lease.holder && before.lease.until === after.lease.until;

/** Whether the change creates a job that is already running: it was claimed in the commit that creates it. */
export const startsNewJob = ({ before, after }: Pick<Change, 'before' | 'after'>): boolean =>
  before === null && after?.state === 'running';

/** Whether a job may be claimable after the change: the job itself, or jobs that use a named limit. */
export const mayMakeClaimable = ({ after }: Pick<Change, 'after'>): boolean =>
  after?.state === 'pending' || after?.kind === 'limit';
