/** The job: the one record that runs, tasks, Bedrock jobs and definitions share. */
import type { ErrorCode, Fate, Hold, Kind, Phase, TerminateCode } from './state.ts';
import type { Following } from './following.ts';
import type { RetryPolicy } from './retry.ts';

export type Job = PendingJob | HeldJob | RunningJob | EndedJob;
export type OpenJob = PendingJob | HeldJob | RunningJob;

export interface PendingJob extends JobFacts {
  readonly state: 'pending';
}

export interface HeldJob extends JobFacts {
  readonly state: 'held';
  readonly hold: Hold;
}

export interface RunningJob extends JobFacts {
  readonly state: 'running';
  readonly lease: Lease;
}

export interface EndedJob extends JobFacts {
  readonly state: 'ended';
  readonly fate: Fate;
  readonly endedAt: number;
}

/** The fields of a job in every state. */
export interface JobFacts extends JobOrigin {
  /** The number of its newest event. */
  readonly version: number;
  /** The time of its newest event. */
  readonly changed: number;
  readonly phase: Phase;
  readonly priority: number;
  readonly due: number;
  /**
   * The due time of a Bedrock job by its schedule, if a lapsed lease or the wait for its children has changed `due`;
   * otherwise null. A repeat rule with the base SCHEDULED counts from this time; if it is null, from `due`.
   */
  readonly scheduled: number | null;
  /** Rises with every claim and never repeats. */
  readonly fence: number;
  /** Rises each time an ended job is reopened. */
  readonly generation: number;
  /**
   * The number of attempts since the phase began or the job was reopened or repeated. An attempt that was released or
   * lost in a crash does not count.
   */
  readonly attempt: number;
  readonly crashes: number;
  /** Whether the job counts toward its gate. */
  readonly admitted: boolean;
  readonly startedAt: number | null;
  /**
   * Whether children were added for which the job does not wait yet. It must wait for them before it can succeed,
   * unless the command `succeed` has `despiteChildren`.
   */
  readonly hasChildrenWaiting: boolean;
  /** Whether other runs follow this job, so that its end may let them continue. */
  readonly isFollowed: boolean;
  readonly cancel: CancelNote | null;
  /**
   * The error of the last attempt that failed; null: none has failed since the job was created or reopened, or a later
   * attempt was successful.
   */
  readonly error: JobError | null;
  /** JSON text; null: there is none yet. */
  readonly result: string | null;
  /** Data that the tasks of a run share, as JSON text. */
  readonly details: string | null;
  /** The state of a definition's schedules. */
  readonly plan: Plan | null;
}

/**
 * The fields that a job has from its creation. Later, only an edit can change type, policy, tags, input and typeVersion; the others
 * never change.
 */
export interface JobOrigin {
  readonly id: number;
  readonly kind: Kind;
  /** The name of the JobType, or of the Bedrock job. */
  readonly type: string;
  readonly def: string | null;
  readonly parent: number | null;
  /** The key of a task, unique among its siblings. */
  readonly key: string | null;
  readonly created: number;
  /** The text of the gate (`gateText`), which the job may share with others; null: the job is not limited. */
  readonly gate: string | null;
  readonly unique: UniqueKey | null;
  readonly policy: Policy;
  readonly tags: Tags | null;
  /** JSON text. */
  readonly input: string;
  /** The version of the type that the input was made for; that of a task is the version of the code that planned it. */
  readonly typeVersion: number;
  /** The tick that created the run; null: no tick did. */
  readonly tick: RunTick | null;
  /** When the job continues after the runs that it follows have ended; null: it follows no runs. */
  readonly follows: Following | null;
}

export interface Lease {
  readonly holder: string;
  /**
   * The store time at which the lease ends. Null: no time is set. The lease of an instance then lasts as long as the
   * instance sends heartbeats. The lease of any other holder (a Bedrock worker, or the token of a job that was handed
   * off) then does not end.
   */
  readonly until: number | null;
}

export interface UniqueKey {
  readonly key: string;
  /** How long after creation the key stays taken, even after the job has ended; null: while the job is open. */
  readonly forMs: number | null;
}

export interface CancelNote {
  readonly by: string;
  readonly at: number;
  readonly code: TerminateCode;
  readonly why: string | null;
  /** The fate that the job gets when it ends after this request; a stop makes it `cancelled` in any case. */
  readonly fate: 'cancelled' | 'failed';
  /** When the job is stopped if it has not ended; null: never. */
  readonly stopAt: number | null;
}

export interface JobError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The name of the error's class; absent: `Error`. */
  readonly name?: string;
  /** The `code` property of the error that was thrown, such as ENOENT; `code` above is Stint's own classification. */
  readonly id?: string;
  /** The causes of the error, and the inner errors of an AggregateError. Each is followed by its own causes. */
  readonly causes?: readonly ErrorCause[];
  /** JSON data that the handler attached to the error. */
  readonly data?: unknown;
  readonly stack?: string;
}

export type ErrorCause = Pick<JobError, 'name' | 'id' | 'message'>;

export interface RunTick {
  /** The id of the definition. */
  readonly def: number;
  readonly schedule: number;
  readonly nominal: number;
  /** Whether the next tick of the schedule counts from the start or end of this run. */
  readonly isAwaited: boolean;
}

export type Tags = Readonly<Record<string, string>>;

/** The settings of a job; a missing field means the default. */
export interface Policy extends Partial<RetryPolicy> {
  readonly timeoutMs?: number;
  /** The timeout of the phases in which a run plans its tasks and gathers their results. */
  readonly prepareTimeoutMs?: number;
  readonly onTaskFailure?: OnTaskFailure;
  readonly retentionMs?: number;
  readonly leaderOnly?: boolean;
  /** A repeat rule (Bedrock). A job that finishes is pending again, due at the time that the rule gives. */
  readonly repeat?: string;
  /**
   * Date modifiers such as `+1 HOUR` (Bedrock). Applied to the time of a claim, they give the time at which the job is
   * handed out again if it has not finished.
   */
  readonly retryAfter?: string;
  readonly startBy?: number;
  /** How often the job may be handed out without finishing. A further claim makes the job fail. */
  readonly handOutsMax?: number;
  /** The size of the batches of its type. A crash halves them, so that the job has more crashes until it fails. */
  readonly batchMax?: number;
}

/** The largest size of a batch. */
export const batchSizeMax = 1_000;

export type OnTaskFailure = 'collect' | 'failFast' | { readonly tolerate: number } | { readonly toleratePercent: number };

/** The state of each schedule of a definition. */
export interface Plan {
  readonly schedules: readonly SchedulePlan[];
}

export interface SchedulePlan {
  /** When the schedule became active. Its first tick comes after this time. */
  readonly activated: number;
  /** The nominal time of the last tick that was handled. */
  readonly lastNominal: number | null;
  readonly next: { readonly nominal: number; readonly due: number } | null;
  /**
   * The id of the last run, if the next tick counts from its start or end. While `next` is null, the schedule waits for
   * this run.
   */
  readonly run: number | null;
  /**
   * The start and end of `run`. Stored when the next tick has been computed from them, because the run may be deleted
   * before they are needed again.
   */
  readonly ran?: { readonly startedAt: number | null; readonly endedAt: number | null };
}

/**
 * Whether the lease of a job with `retryAfter` has lapsed and no worker has claimed the job since. The worker that held
 * it may still finish it.
 */
export const isLate = (job: Job): job is PendingJob =>
  job.state === 'pending' && job.policy.retryAfter !== undefined && job.crashes > 0 && job.scheduled !== null;

export const isOpen = (job: Job): job is OpenJob => job.state !== 'ended';

/**
 * Returns the retention that the policy of the job sets; undefined: it sets none, and the default retention of the
 * instances applies. For a failed Bedrock job without `retentionMs`, returns Infinity: the job stays until a client or
 * an operator deletes it.
 */
export function ownRetentionMs({ kind, fate, policy: { retentionMs } }: EndedJob): number | undefined {
  const isBedrock = kind === 'bedrock' || kind === 'mock';
  return retentionMs ?? (isBedrock && fate === 'failed' ? Infinity : undefined);
}

/** Returns the holder of a job that was handed off. Any system that has the token can finish the job. */
export const tokenHolder = (token: string): string => `token ${token}`;

export const isHandedOff = ({ lease }: RunningJob): boolean => lease.holder.startsWith(tokenHolder(''));

/**
 * Returns the job without the fields of its current state. Copying the fields by name is much faster than deleting the
 * others.
 */
export const facts = (job: Job, version = job.version, changed = job.changed): JobFacts => ({
  id: job.id,
  kind: job.kind,
  type: job.type,
  def: job.def,
  parent: job.parent,
  key: job.key,
  created: job.created,
  gate: job.gate,
  unique: job.unique,
  policy: job.policy,
  tags: job.tags,
  input: job.input,
  typeVersion: job.typeVersion,
  tick: job.tick,
  follows: job.follows,
  details: job.details,
  version,
  changed,
  phase: job.phase,
  priority: job.priority,
  due: job.due,
  scheduled: job.scheduled,
  fence: job.fence,
  generation: job.generation,
  attempt: job.attempt,
  crashes: job.crashes,
  admitted: job.admitted,
  startedAt: job.startedAt,
  cancel: job.cancel,
  error: job.error,
  result: job.result,
  plan: job.plan,
  hasChildrenWaiting: job.hasChildrenWaiting,
  isFollowed: job.isFollowed,
});
