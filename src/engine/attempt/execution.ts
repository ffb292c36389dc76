/** The execution: an attempt of a job, with the code of its type and the tracker of its progress. */
import type { Job, RunningJob } from '../../model/job.ts';
import type { Progress } from '../../model/progress.ts';
import type { Clock } from '../../time/clock.ts';
import { hasTasks, type JobType } from '../declare/job-type.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import type { Notes } from '../progress/notes.ts';
import { Tracker } from '../progress/tracker.ts';
import type { Attempt } from './attempt.ts';
import type { Attempts } from './attempts.ts';

export interface ExecutionParts {
  readonly registry: Pick<TypeRegistry, 'require'>;
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly notes: Notes;
  /** The epoch of the lease of this instance: it changes when the lease may have lapsed. */
  readonly leaseEpoch: () => symbol | null;
}

export interface Execution {
  readonly type: JobType;
  readonly attempt: Attempt;
  /** That of the lease when the attempt began. */
  readonly epoch: symbol | null;
  readonly tracker: Tracker;
}

const timeoutDefaultMs = 3_600_000;
const prepareTimeoutDefaultMs = 3_600_000;

/** Starts an attempt of the job. */
export function startExecution({ registry, attempts, clock, notes, leaseEpoch }: ExecutionParts, job: RunningJob): Execution {
  const type = registry.require(job.type);
  const attempt = attempts.start(job);
  // The progress of an isolated handler is reported by another tracker, in the thread or process of the handler.
  // The steps of a planning are stored with those of the gathering, whose progress does not show them.
  const mayFollow = phaseOf(type, job) !== 'gather';
  const onChange = isIsolated(type, job)
    ? () => {}
    : (progress: Progress) => notes.progress(attempt.holding, progress, mayFollow && tracker.followsFromSteps);
  const tracker: Tracker = new Tracker({ clock, onChange });
  attempt.onAbort((reason) => tracker.cancel(reason));
  return { type, attempt, epoch: leaseEpoch(), tracker };
}

/**
 * Returns the phase to execute. If the type was not in the catalogue when the run was created, the stored phase is
 * `run` even though the type has tasks. In that case `details` shows the phase, because the planning sets `details`:
 * null means `prepare`, any other value means `gather`. So it is for a run that has waited for child runs: its stored
 * phase is `run`, and its details are what its handler returned.
 */
export function phaseOf(type: JobType, { phase, details }: Job): Job['phase'] {
  if (phase !== 'run') return phase;
  if (details !== null) return 'gather';
  return hasTasks(type) ? 'prepare' : 'run';
}

/** Whether the handler is called in a thread or process of its own. Planning and gathering never are. */
export const isIsolated = (type: JobType, job: Job): boolean =>
  type.options.isolate !== undefined && (job.kind === 'task' || phaseOf(type, job) === 'run');

export function timeoutOf({ type, attempt: { job } }: Execution): number {
  const { kind, policy } = job;
  return kind === 'run' && phaseOf(type, job) !== 'run'
    ? (policy.prepareTimeoutMs ?? prepareTimeoutDefaultMs)
    : (policy.timeoutMs ?? timeoutDefaultMs);
}
