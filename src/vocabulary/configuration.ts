/** Job configurations: the status of a definition and of its runs, and when it ran last and runs next. */
import { isOpen, type Job } from '../model/job.ts';
import type { ProgressStatus } from '../model/progress-tree.ts';
import type { Fate } from '../model/state.ts';
import { jobStandingOf, type JobStanding } from './standing.ts';

export type CurrentStatus = 'SCHEDULED' | 'RUNNING' | 'DISABLED';
export type OutcomeStatus = 'COMPLETED' | 'STOPPED' | 'FAILED' | 'NOT_STARTED';
export type JobStatus = CurrentStatus | OutcomeStatus;
export const jobStatuses: readonly JobStatus[] = [
  'SCHEDULED', 'RUNNING', 'DISABLED', 'COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED',
];

const words = {
  inserting: 'SCHEDULED',
  pending: 'SCHEDULED',
  paused: 'DISABLED',
  behindParent: 'SCHEDULED',
  preparing: 'RUNNING',
  underWay: 'RUNNING',
  succeeded: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'STOPPED',
} as const satisfies Readonly<Record<JobStanding, JobStatus>>;

/** Returns the status of one run. A run that was asked to cancel is RUNNING until it has ended. */
export const runStatus = (run: Job): JobStatus => (isAskedToCancel(run) ? 'RUNNING' : words[jobStandingOf(run)]);

const processWords: Readonly<Record<JobStanding, ProgressStatus | null>> = {
  inserting: null,
  pending: null,
  paused: null,
  behindParent: null,
  preparing: 'RUNNING',
  underWay: 'RUNNING',
  succeeded: 'SUCCESS',
  failed: 'ERROR',
  cancelled: 'CANCELLED',
};

/**
 * Returns the status that the run has as a process in the tree of progress. It is CANCELLED as soon as a cancel is
 * requested, and null while the run is pending, paused or waits for its parent.
 */
export const processStatus = (run: Job): ProgressStatus | null =>
  isAskedToCancel(run) ? 'CANCELLED' : processWords[jobStandingOf(run)];

export interface Configuration {
  readonly status: CurrentStatus;
  /** When a run of the definition was last claimed, among the runs that were passed to `configurationOf`. */
  readonly lastExecuted: number | null;
  readonly lastExecutedStatus: OutcomeStatus;
  /** The id of the run that was claimed at `lastExecuted`. */
  readonly lastRun: number | null;
  /** Null: the definition is disabled, or no tick is planned. */
  readonly nextExecutionTime: number | null;
}

/**
 * Returns the configuration of a definition. `runs` must contain its open runs and the run that ended last, in any
 * order.
 */
export function configurationOf(def: Job, runs: readonly Job[]): Configuration {
  const executed = newest(runs.filter((run) => run.startedAt !== null), (run) => run.startedAt!);
  const ended = newest(runs.filter((run) => !isOpen(run)), (run) => run.endedAt);
  return {
    status: statusOf(def, runs),
    lastExecuted: executed?.startedAt ?? null,
    lastExecutedStatus: outcomeStatus(ended),
    lastRun: executed?.id ?? null,
    nextExecutionTime: nextExecutionTime(def),
  };
}

/** Returns the outcome of a definition whose run that ended last is `ended`; null: none has ended. */
export const outcomeStatus = (ended: { readonly fate: Fate } | null): OutcomeStatus =>
  (ended === null ? 'NOT_STARTED' : words[ended.fate]);

/** Returns the status of a definition. While a run executes, this is RUNNING even if the definition is disabled. */
function statusOf(def: Job, runs: readonly Job[]): CurrentStatus {
  if (runs.some((run) => runStatus(run) === 'RUNNING')) return 'RUNNING';
  return isDisabled(def) ? 'DISABLED' : 'SCHEDULED';
}

const isDisabled = (def: Job): boolean => def.state === 'ended' || (def.state === 'held' && def.hold === 'pause');

const nextExecutionTime = (def: Job): number | null =>
  def.state === 'pending' && def.plan?.schedules.some(({ next }) => next !== null) ? def.due : null;

const isAskedToCancel = (run: Job): boolean => isOpen(run) && run.cancel !== null;

const newest = <J extends Job>(runs: readonly J[], timeOf: (run: J) => number): J | null =>
  runs.reduce<J | null>((best, run) => (best === null || timeOf(run) > timeOf(best) ? run : best), null);
