/** Scheduled jobs: the states of their tasks, and the lock of a job: its owner, its end, and the work of the owner. */
import { isOpen, type Job, type RunningJob } from '../model/job.ts';
import type { Phase } from '../model/state.ts';
import { jobStandingOf, type JobStanding } from './standing.ts';

export type ScheduledState = 'creating' | 'pending' | 'starting' | 'started' | 'completed' | 'failed' | 'cancelled';
export const scheduledStates: readonly ScheduledState[] = [
  'creating', 'pending', 'starting', 'started', 'completed', 'failed', 'cancelled',
];

const words: Readonly<Record<JobStanding, ScheduledState>> = {
  inserting: 'creating',
  pending: 'pending',
  paused: 'pending',
  behindParent: 'pending',
  preparing: 'starting',
  underWay: 'started',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

export const scheduledState = (job: Job): ScheduledState =>
  isOpen(job) && job.cancel !== null ? 'started' : words[jobStandingOf(job)];

/** The work that the owner of the lock does: a phase of a run, a tick of a definition, or disabling a definition. */
export type LockState = Phase | 'tick' | 'disable';
export const lockStates: readonly LockState[] = ['prepare', 'run', 'gather', 'tick', 'disable'];

export interface Lock {
  readonly owner: string | null;
  /**
   * The store time at which the lock ends. Null: there is no owner, or the lock lasts as long as the owner's instance
   * sends heartbeats, or it has no end (see `Lease`).
   */
  readonly expires: number | null;
  readonly state: LockState | null;
}

const unlocked: Lock = { owner: null, expires: null, state: null };

/**
 * Returns the lock of a job: its lease while it runs. The engine ticks and disables a definition within one
 * transaction and without a lease, so a definition is locked only if a worker has claimed it.
 */
export const lockOf = (job: Job): Lock =>
  job.state === 'running' ? { owner: job.lease.holder, expires: job.lease.until, state: lockState(job) } : unlocked;

function lockState(job: RunningJob): LockState {
  if (job.kind !== 'def') return job.phase;
  return job.cancel === null ? 'tick' : 'disable';
}
