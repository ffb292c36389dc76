/** The job: the one record under runs, tasks, Bedrock jobs and definitions. */
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

/** What is known of a job in every state. */
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
  /** Rises when an ended job is opened again by hand. */
  readonly generation: number;
  /** Tries in this phase and generation; one given back or lost in a crash does not count. */
  readonly attempt: number;
  readonly crashes: number;
  /** Whether it has passed its gate and occupies a place behind it. */
  readonly admitted: boolean;
  readonly startedAt: number | null;
  /** Whether it works while it has children, which it must let go and wait for before it can succeed. */
  readonly hasChildrenWaiting: boolean;
  readonly cancel: CancelNote | null;
  /** The error of the newest attempt. */
  readonly error: JobError | null;
  /** JSON text, or null while there is none. */
  readonly result: string | null;
  /** What a run's tasks share, as JSON text. */
  readonly details: string | null;
  /** What a definition remembers of its schedules. */
  readonly plan: Plan | null;
}

/** What a job is from its first moment; only an edit changes any of it. */
export interface JobOrigin {
  readonly id: number;
  readonly kind: Kind;
  /** The JobType's name; for a Bedrock job its name. */
  readonly type: string;
  readonly def: string | null;
  readonly parent: number | null;
  /** The name of a task among its siblings. */
  readonly key: string | null;
  readonly created: number;
  /** Jobs that share a gate are limited together. */
  readonly gate: string | null;
  readonly unique: UniqueKey | null;
  readonly policy: Policy;
  readonly tags: Tags | null;
  /** JSON text. */
  readonly input: string;
  /** The occurrence of a schedule that it answers. */
  readonly tick: Tick | null;
}

export interface Lease {
  readonly holder: string;
  /** Store time; null: as long as its holder's instance lives, or until someone says otherwise. */
  readonly until: number | null;
}

export interface UniqueKey {
  readonly key: string;
  /** How long after creation the key stays taken, also beyond the job's end; null: while the job is open. */
  readonly forMs: number | null;
}

export interface CancelNote {
  readonly by: string;
  readonly at: number;
  readonly code: TerminateCode;
  readonly why: string | null;
  /** How the job ends when nothing of it is open any more. */
  readonly fate: 'cancelled' | 'failed';
  /** When patience ends and the job is stopped; null: never. */
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

export interface Tick {
  /** The definition's id. */
  readonly def: number;
  readonly schedule: number;
  readonly nominal: number;
  /** Whether the schedule's next occurrence counts from this run. */
  readonly isAwaited: boolean;
}

export type Tags = Readonly<Record<string, string>>;

/** How a job is treated; what is left out is the default. */
export interface Policy extends Partial<RetryPolicy> {
  readonly timeoutMs?: number;
  /** For the phases of a run that prepare and gather its tasks. */
  readonly prepareTimeoutMs?: number;
  readonly onTaskFailure?: OnTaskFailure;
  readonly retentionMs?: number;
  readonly leaderOnly?: boolean;
  /** A repeat rule: finishing makes the job pending again (seed 2). */
  readonly repeat?: string;
  /** Date modifiers from the claim to the moment an unfinished job is handed out again (seed 2). */
  readonly retryAfter?: string;
  readonly startBy?: number;
  /** How often it may be handed out without being finished; the next time it fails instead. */
  readonly handOutsMax?: number;
}

export type OnTaskFailure = 'collect' | 'failFast' | { readonly tolerate: number } | { readonly toleratePercent: number };

/** What a definition knows of each of its schedules. */
export interface Plan {
  readonly schedules: readonly SchedulePlan[];
}

export interface SchedulePlan {
  /** Nothing is due at or before it. */
  readonly activated: number;
  /** Of the last occurrence that was answered. */
  readonly lastNominal: number | null;
  readonly next: { readonly nominal: number; readonly due: number } | null;
  /** The last run, where the next occurrence counts from its start or end; with no next: it is waited for. */
  readonly run: number | null;
  /** When that run started and ended, once the next occurrence is counted from it: the run itself may be gone by then. */
  readonly ran?: { readonly startedAt: number | null; readonly endedAt: number | null };
}

/** Whether its lease lapsed and nobody has claimed it since: with retryAfter, its worker may still finish it. */
export const isLate = (job: Job): job is PendingJob =>
  job.state === 'pending' && job.policy.retryAfter !== undefined && job.crashes > 0 && job.scheduled !== null;

export const isOpen = (job: Job): job is OpenJob => job.state !== 'ended';

/** Who holds a job that was handed off: whoever has the token. */
export const tokenHolder = (token: string): string => `token ${token}`;

export const isHandedOff = ({ lease }: RunningJob): boolean => lease.holder.startsWith(tokenHolder(''));

/** The job without the fields that belong to the state it is in. To name what stays costs far less than what goes. */
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
