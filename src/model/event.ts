/**
 * The event: one change of one job, numbered from 1 without gaps. Applying a job's events in order gives the job,
 * except its result and the end of an extended lease.
 */
import type { CancelNote, JobError, Plan, Policy, Tags } from './job.ts';
import type { Hold, Phase, TerminateCode } from './state.ts';
import type { SkipReason } from '../time/ticks.ts';

export type Event = Stamp & EventBody;
export type EventKind = Event['kind'];

export interface Stamp {
  /** Its number within the job: 1, 2, 3, … without gaps. */
  readonly n: number;
  /** Store time; never decreases within a history. */
  readonly at: number;
  /** The actor: an instance, a user or a protocol. */
  readonly by: string;
  /** The reason that the actor gave. */
  readonly why?: string;
}

export type EventBody =
  /** The job was created. */
  | ({ readonly kind: 'created' } & FirstState)
  /** A worker claimed the job: a new lease, a new fence. */
  | {
      readonly kind: 'claimed';
      readonly holder: string;
      readonly until?: number;
      /** The first and the last version of the type that the worker knows; absent: it knows the first version. */
      readonly knows?: readonly [from: number, to: number];
    }
  /** The job was returned to the queue; the attempt does not count. */
  | { readonly kind: 'released'; readonly due: number; readonly crashes?: number }
  /** The handler sleeps: the job is due again when the sleep is over, and its attempts count from 1 again. */
  | {
      readonly kind: 'slept';
      readonly name: string;
      readonly due: number;
      /** The handler also waits for answers, or only for them. */
      readonly waits?: true;
    }
  /** The wait `name` got its answer. `due`: the handler waited for it, and continues. */
  | { readonly kind: 'answered'; readonly name: string; readonly due?: number }
  /** The wait `name` has timed out, or the handler has refused its answer and waits for another. */
  | { readonly kind: 'unanswered'; readonly name: string; readonly cause: UnansweredCause }
  /** The lease lapsed or its holder is gone; the job gets another attempt. */
  | {
      readonly kind: 'lapsed';
      readonly holder: string;
      readonly phase: Phase;
      readonly due: number;
      readonly scheduled?: number;
    }
  /** The attempt failed, and there will be another. */
  | { readonly kind: 'retried'; readonly error: JobError; readonly due: number }
  /**
   * Another system will finish the job, under the same fence. Also recorded when a worker reclaims a job whose lease
   * had lapsed, when a cancel shortens the lease of a handed-off job, and when UpdateJob of Bedrock sets another end of
   * the lease.
   */
  | { readonly kind: 'handedOff'; readonly holder: string; readonly until?: number }
  /** The job waits for its children; if `tasks` is 0, it is pending again. */
  | {
      readonly kind: 'planned';
      readonly tasks: number;
      readonly details?: string;
      readonly due?: number;
      readonly scheduled?: number;
    }
  /** Children were added. */
  | { readonly kind: 'adopted'; readonly tasks: number }
  /** No child of the job is open any more, and the job continues. */
  | { readonly kind: 'settled'; readonly due: number }
  /** The job no longer waits for its parent. */
  | { readonly kind: 'freed' }
  /** Runs were created that follow this job. */
  | { readonly kind: 'followed'; readonly runs: number }
  /**
   * All runs that the job follows have ended as wanted, and the job continues. `input` contains their results; `startBy`
   * is the new limit of the start, which counts from the time at which the job is due.
   */
  | { readonly kind: 'proceeded'; readonly due: number; readonly startBy?: number; readonly input?: string }
  /** Runs that the job follows were reopened, and the job waits for them again. */
  | { readonly kind: 'awaited'; readonly runs: number }
  /** The job cannot be claimed until it is resumed. For a definition: it is disabled until then. */
  | { readonly kind: 'paused' }
  /** The job can be claimed again. */
  | { readonly kind: 'resumed'; readonly due: number; readonly crashes?: number }
  /** The job was asked to cancel; if it is running, its handler is notified. */
  | { readonly kind: 'cancelAsked'; readonly note: CancelNote }
  /** The job succeeded. */
  | { readonly kind: 'succeeded' }
  /** The job failed, and there will be no further attempt. */
  | { readonly kind: 'failed'; readonly error: JobError; readonly late?: Late }
  /** The job was cancelled. */
  | { readonly kind: 'cancelled'; readonly code: TerminateCode; readonly late?: Late }
  /** The attempt finished, and the job is due again: by its repeat rule, or because its worker asked for it. */
  | { readonly kind: 'repeated'; readonly due: number }
  /** The ended job was reopened, by an operator or a Bedrock client. `from`: the first step that it has forgotten. */
  | {
      readonly kind: 'reopened';
      readonly due: number;
      readonly phase: Phase;
      readonly hold?: 'children' | 'runs';
      readonly from?: string;
      /** Its children were deleted, and it plans new ones. */
      readonly replans?: true;
    }
  /** Fields of the job were changed, by an operator, a deploy, a Bedrock client or a creation with `onTaken`. */
  | { readonly kind: 'edited'; readonly edit: Edit }
  /**
   * A definition handled ticks of its schedules. `backfill`: past ticks, for the backfill run with this id; the plan is
   * unchanged.
   */
  | {
    readonly kind: 'ticked'; readonly ticks: readonly TickOutcome[]; readonly plan: Plan; readonly due: number;
    readonly backfill?: number;
  };

/** `timeout`: the wait is over. `schema` and `role`: an answer that came before the question was not accepted. */
export type UnansweredCause = 'timeout' | 'schema' | 'role';

/** The initial values of the fields that later events change. */
export interface FirstState {
  readonly due: number;
  readonly priority: number;
  readonly phase?: Phase;
  readonly hold?: Hold;
  readonly plan?: Plan;
  readonly isFollowed?: true;
}

/**
 * An outcome that arrived after the job had been asked to cancel. It is recorded, and the job gets the fate of the
 * cancel.
 */
export type Late = 'succeeded' | 'failed';

/** The fields that an edit can change. */
export interface Edit {
  readonly type?: string;
  readonly priority?: number;
  readonly due?: number;
  /** JSON text. */
  readonly input?: string;
  /** The version of the type for which `input` was made. */
  readonly typeVersion?: number;
  readonly policy?: Policy;
  readonly tags?: Tags | null;
  readonly plan?: Plan;
}

/**
 * A tick with its run, a skipped tick, or a range of `count` skipped ticks from `nominal` to `to`. `schedule` is an
 * index into the schedules of the definition.
 */
export type TickOutcome =
  | {
      readonly schedule: number; readonly nominal: number; readonly run: number; readonly lateMs: number;
      /** The runs of the definitions that follow this one, created with the run; absent: none follows it. */
      readonly followers?: readonly FollowerOutcome[];
    }
  | { readonly schedule: number; readonly nominal: number; readonly to?: number; readonly count?: number; readonly skipped: TickSkip };

/** The run of a definition that follows the ticked one, or why it got none. */
export type FollowerOutcome =
  | { readonly def: string; readonly run: number }
  | { readonly def: string; readonly skipped: FollowerSkip };

/**
 * Why a follower got no run. `disabled`: it is disabled. `undeclared`: no living build declares it. `refused`: as for a
 * tick. `predecessor`: a definition that it follows got no run.
 */
export type FollowerSkip = 'disabled' | 'undeclared' | 'refused' | 'predecessor';

/**
 * Why a tick was skipped. A `SkipReason`: the misfire policy skipped the tick, or its wall time was in the gap of a
 * clock change. `overlap`: another run was open, or with the policy `replace` a newer tick was due as well. `disabled`:
 * the definition was disabled. `edited`: an edit removed the schedule of the tick.
 * `refused`: a middleware of the engine, or the rules of the type, refused the run.
 */
export type TickSkip = SkipReason | 'overlap' | 'disabled' | 'edited' | 'refused';

export const endings: ReadonlySet<EventKind> = new Set<EventKind>(['succeeded', 'failed', 'cancelled']);
