/** JobRun and JobTask: the states, attempts and statistics of runs that consist of tasks. */
import type { Event, EventKind } from '../model/event.ts';
import { isOpen, type Job, type JobError } from '../model/job.ts';
import type { Fate, Phase, State } from '../model/state.ts';
import { jobStandingOf, stepsOf, type JobStanding, type LifeStep } from './standing.ts';

export type RunState = TaskState | 'CANCELLING';
export type TaskState = 'PENDING' | 'RUNNING' | 'DONE' | 'CANCELLED';
export const runStates: readonly RunState[] = ['PENDING', 'RUNNING', 'DONE', 'CANCELLING', 'CANCELLED'];
export const taskStates: readonly TaskState[] = ['PENDING', 'RUNNING', 'DONE', 'CANCELLED'];

const words: Readonly<Record<JobStanding, TaskState>> = {
  inserting: 'PENDING',
  pending: 'PENDING',
  paused: 'PENDING',
  behindParent: 'PENDING',
  // A run counts as running only after its tasks are stored.
  preparing: 'PENDING',
  underWay: 'RUNNING',
  succeeded: 'DONE',
  failed: 'DONE',
  cancelled: 'CANCELLED',
};

export const runState = (job: Job): RunState =>
  isOpen(job) && job.cancel !== null && job.kind !== 'task' ? 'CANCELLING' : taskState(job);

export const taskState = (job: Job): TaskState => words[jobStandingOf(job)];

export const isSucceeded = (job: Job): boolean => taskState(job) === 'DONE' && job.error === null;

export const isFailed = (job: Job): boolean => taskState(job) === 'DONE' && job.error !== null;

/** One attempt of a job. */
export interface PastAttempt {
  /** The number of its claim, from 1, as in its log lines; null: the job failed without being executed. */
  readonly fence: number | null;
  readonly start: number;
  /** Null: the attempt has not ended. */
  readonly end: number | null;
  /** The worker that claimed the job; null: the job failed without being executed. */
  readonly worker: string | null;
  readonly phase: Phase;
  readonly error: JobError | null;
  /** The kind of the event that ended the attempt; null: it has not ended. */
  readonly endedBy: EventKind | null;
}

/** Returns all attempts that a job's events record, newest first. */
export function attemptsOf(events: readonly Event[]): readonly PastAttempt[] {
  const attempts: PastAttempt[] = [];
  for (const step of stepsOf(events)) {
    if (step.event.kind === 'claimed') attempts.unshift(begun(step, step.event.holder));
    else if (step.before.state === 'running' && step.after.state !== 'running') attempts[0] = over(attempts[0]!, step);
    else if (step.before.state !== 'running' && step.after.state === 'running') attempts[0] = resumed(attempts[0]!);
    else if (step.event.kind === 'failed') attempts.unshift(over(begun(step, null), step));
  }
  return attempts;
}

const begun = ({ event, before, after }: LifeStep, worker: string | null): PastAttempt => ({
  fence: worker === null ? null : after.fence,
  start: event.at,
  end: null,
  worker,
  phase: before.phase,
  error: null,
  endedBy: null,
});

const over = (attempt: PastAttempt, { event }: LifeStep): PastAttempt => ({
  ...attempt,
  end: event.at,
  error: errorOf(event),
  endedBy: event.kind,
});

/** Reopens an attempt that had lapsed: its worker has reclaimed the job, under the same fence. */
const resumed = (attempt: PastAttempt): PastAttempt => ({ ...attempt, end: null, error: null, endedBy: null });

function errorOf(event: Event): JobError | null {
  if (event.kind === 'retried' || event.kind === 'failed') return event.error;
  if (event.kind !== 'lapsed') return null;
  return { code: 'crashed', message: `${event.holder} lost its lease in phase ${event.phase}` };
}

/** The number of a run's tasks in one state, or with one fate if they have ended. */
export interface TaskTally {
  readonly standing: Exclude<State, 'ended'> | Fate;
  readonly count: number;
}

export interface JobRunStats {
  readonly tasksByState: Readonly<Record<TaskState, number>>;
  readonly tasksTotal: number;
  readonly tasksSucceeded: number;
  readonly tasksFailed: number;
  /** The percentage of tasks that have ended. 0: none has; 100: all have; otherwise 1 to 99. */
  readonly percentDone: number;
  /**
   * The percentage of tasks that succeeded. Null: there are no tasks, or some are open or were cancelled. 0: all
   * failed. 100: all succeeded. Otherwise 1 to 99.
   */
  readonly percentSuccess: number | null;
  /**
   * The time from the first start of the run to its end; null: the run has not ended or never started. Starts before
   * the run was last reopened or repeated do not count.
   */
  readonly totalMs: number | null;
  /** The duration of the attempt that planned the tasks; null: there is none. */
  readonly prepareMs: number | null;
  /** The duration of the newest attempt of an ended run, if that attempt gathered results; null: it did not. */
  readonly finalizeMs: number | null;
}

const statesOfStandings: Readonly<Record<TaskTally['standing'], TaskState>> = {
  pending: 'PENDING',
  held: 'PENDING',
  running: 'RUNNING',
  succeeded: 'DONE',
  failed: 'DONE',
  cancelled: 'CANCELLED',
};

export function runStats(run: Job, tallies: readonly TaskTally[], events: readonly Event[]): JobRunStats {
  const count = (isCounted: (standing: TaskTally['standing']) => boolean): number =>
    tallies.filter(({ standing }) => isCounted(standing)).reduce((sum, tally) => sum + tally.count, 0);
  const inState = (state: TaskState): number => count((standing) => statesOfStandings[standing] === state);
  const tasksByState = {
    PENDING: inState('PENDING'),
    RUNNING: inState('RUNNING'),
    DONE: inState('DONE'),
    CANCELLED: inState('CANCELLED'),
  };
  const tasksTotal = count(() => true);
  const tasksSucceeded = count((standing) => standing === 'succeeded');
  return {
    tasksByState,
    tasksTotal,
    tasksSucceeded,
    tasksFailed: count((standing) => standing === 'failed'),
    percentDone: percent(tasksByState.DONE + tasksByState.CANCELLED, tasksTotal),
    percentSuccess: tasksTotal > 0 && tasksByState.DONE === tasksTotal ? percent(tasksSucceeded, tasksTotal) : null,
    ...durations(run, events),
  };
}

function percent(part: number, whole: number): number {
  if (part === 0) return 0;
  return part === whole ? 100 : Math.max(1, Math.floor((part * 100) / whole));
}

function durations(run: Job, events: readonly Event[]): Pick<JobRunStats, 'totalMs' | 'prepareMs' | 'finalizeMs'> {
  const attempts = attemptsOf(events);
  const started = startOf(stepsOf(events));
  const [newest] = attempts;
  const isFinal = run.state === 'ended' && newest?.phase === 'gather' && newest.worker !== null;
  return {
    totalMs: run.state === 'ended' && started !== null ? run.endedAt - started : null,
    prepareMs: lengthOf(attempts.find(({ phase, endedBy }) => phase === 'prepare' && endedBy === 'planned')),
    finalizeMs: isFinal ? lengthOf(newest) : null,
  };
}

/** Returns when the job was first executed since it was created, reopened or repeated; null: never. */
function startOf(steps: readonly LifeStep[]): number | null {
  const life = steps.at(-1)?.life;
  const isStarted = ({ after }: LifeStep): boolean => ['preparing', 'underWay'].includes(jobStandingOf(after));
  return steps.find((step) => step.life === life && isStarted(step))?.event.at ?? null;
}

const lengthOf = (attempt: PastAttempt | undefined): number | null =>
  attempt === undefined || attempt.end === null ? null : attempt.end - attempt.start;
