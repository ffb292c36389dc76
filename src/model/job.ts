/** The job: the one record that runs, tasks, Bedrock jobs and definitions share. */
import type { ErrorCode, Fate, Hold, Kind, Phase, TerminateCode } from './state.ts';
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
   * When a Bedrock job was due by its schedule, after `due` became another time: its lease lapsed, or it has waited for
   * its children. SCHEDULED repeats count from it. Null: `due` is that time.
   */
  readonly scheduled: number | null;
  /** Rises with every claim and never repeats. */
  readonly fence: number;
  /** Rises each time an ended job is reopened. */
  readonly generation: number;
  /** Attempts in this phase and generation; an attempt that was released or lost in a crash does not count. */
  readonly attempt: number;
  readonly crashes: number;
  /** Whether it counts toward its gate. */
  readonly admitted: boolean;
  readonly startedAt: number | null;
  /** Whether it is running and has children: it must wait for them before it can succeed. */
  readonly hasChildrenWaiting: boolean;
  readonly cancel: CancelNote | null;
  /** The error of the last attempt. */
  readonly error: JobError | null;
  /** JSON text; null: there is none yet. */
  readonly result: string | null;
  /** Data that the tasks of a run share, as JSON text. */
  readonly details: string | null;
  /** The state of a definition's schedules. */
  readonly plan: Plan | null;
}

/** The fields that a job has from its creation; only an edit changes them. */
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
  /** Jobs that share a gate are limited together. */
  readonly gate: string | null;
  readonly unique: UniqueKey | null;
  readonly policy: Policy;
  readonly tags: Tags | null;
  /** JSON text. */
  readonly input: string;
  /** The tick that created the run. */
  readonly tick: RunTick | null;
}

export interface Lease {
  readonly holder: string;
  /**
   * Store time; null: for as long as the holder's instance sends heartbeats, or without limit for a job that was handed
   * off.
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
  /** How the job ends once none of its children is open. */
  readonly fate: 'cancelled' | 'failed';
  /** When the job is stopped if it has not ended; null: never. */
  readonly stopAt: number | null;
}

export interface JobError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The name of its class, unless that is `Error`. */
  readonly name?: string;
  /** The application's own code, such as ENOENT. */
  readonly id?: string;
  /** Its causes and inner errors, each before its own causes. */
  readonly causes?: readonly ErrorCause[];
  /** JSON data that the handler attached. */
  readonly data?: unknown;
  readonly stack?: string;
}

export type ErrorCause = Pick<JobError, 'name' | 'id' | 'message'>;

export interface RunTick {
  /** The definition's id. */
  readonly def: number;
  readonly schedule: number;
  readonly nominal: number;
  /** Whether the next tick of the schedule counts from this run. */
  readonly isAwaited: boolean;
}

export type Tags = Readonly<Record<string, string>>;

/** The settings of a job; a missing field means the default. */
export interface Policy extends Partial<RetryPolicy> {
  readonly timeoutMs?: number;
  /** For the phases in which a run prepares and gathers its tasks. */
  readonly prepareTimeoutMs?: number;
  readonly onTaskFailure?: OnTaskFailure;
  readonly retentionMs?: number;
  readonly leaderOnly?: boolean;
  /** A repeat rule: when the job finishes, it is pending again (Bedrock). */
  readonly repeat?: string;
  /** Date modifiers from the claim to the time at which an unfinished job is handed out again (Bedrock). */
  readonly retryAfter?: string;
  readonly startBy?: number;
  /** How often the job may be handed out without finishing; after that it fails. */
  readonly handOutsMax?: number;
}

export type OnTaskFailure = 'collect' | 'failFast' | { readonly tolerate: number } | { readonly toleratePercent: number };

/** The state of each schedule of a definition. */
export interface Plan {
  readonly schedules: readonly SchedulePlan[];
}

export interface SchedulePlan {
  /** No tick is due at or before this time. */
  readonly activated: number;
  /** The nominal time of the last tick that was handled. */
  readonly lastNominal: number | null;
  readonly next: { readonly nominal: number; readonly due: number } | null;
  /** The last run, if the next tick counts from its start or end; if `next` is null, that run is awaited. */
  readonly run: number | null;
  /** When that run started and ended, once the next tick counts from it: the run itself may have been deleted since. */
  readonly ran?: { readonly startedAt: number | null; readonly endedAt: number | null };
}

/** Whether its lease lapsed and it was not claimed since: with retryAfter, its worker may still finish it. */
export const isLate = (job: Job): job is PendingJob =>
  job.state === 'pending' && job.policy.retryAfter !== undefined && job.crashes > 0 && job.scheduled !== null;

export const isOpen = (job: Job): job is OpenJob => job.state !== 'ended';

/** The holder of a job that was handed off: any system that has the token. */
export const tokenHolder = (token: string): string => `token ${token}`;

export const isHandedOff = ({ lease }: RunningJob): boolean => lease.holder.startsWith(tokenHolder(''));

/**
 * The job without the fields of its current state. Copying the named fields is much faster than deleting the others.
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
  tick: job.tick,
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
});
