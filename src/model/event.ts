/** The event: one change of one job, numbered from 1 without gaps; folding a job's events gives the job. */
import type { CancelNote, JobError, Plan, Policy, Tags } from './job.ts';
import type { Hold, Phase, TerminateCode } from './state.ts';
import type { SkipReason } from '../time/ticks.ts';

export type Event = Stamp & EventBody;
export type EventKind = Event['kind'];

export interface Stamp {
  /** 1, 2, 3, … of its job, without gaps. */
  readonly n: number;
  /** Store time; never falls along a history. */
  readonly at: number;
  /** Who did it: an instance, a user, a face. */
  readonly by: string;
  /** What whoever did it had to say. */
  readonly why?: string;
}

export type EventBody =
  /** It came to be. */
  | ({ readonly kind: 'created' } & FirstState)
  /** Someone took it to work on it: a new lease, a new fence. */
  | { readonly kind: 'claimed'; readonly holder: string; readonly until?: number }
  /** Given back: the try does not count. */
  | { readonly kind: 'released'; readonly due: number }
  /** The lease ran out or its holder is gone: what it left behind was judged worth another try. */
  | { readonly kind: 'lapsed'; readonly holder: string; readonly phase: Phase; readonly due: number }
  /** The try failed and there will be another. */
  | { readonly kind: 'retried'; readonly error: JobError; readonly due: number }
  /** It will be finished from outside, under the same fence. */
  | { readonly kind: 'handedOff'; readonly holder: string; readonly until?: number }
  /** It now waits for its children. */
  | { readonly kind: 'planned'; readonly tasks: number; readonly details?: string }
  /** One or more children joined. */
  | { readonly kind: 'adopted'; readonly tasks: number }
  /** No child is open any more. */
  | { readonly kind: 'settled'; readonly due: number }
  /** Its parent lets it go. */
  | { readonly kind: 'freed' }
  /** Nobody may claim it until it is resumed; a definition: it is disabled. */
  | { readonly kind: 'paused' }
  /** It may be claimed again. */
  | { readonly kind: 'resumed'; readonly due: number }
  /** It was asked to give up; its handler hears of it. */
  | { readonly kind: 'cancelAsked'; readonly note: CancelNote }
  /** It ended well. */
  | { readonly kind: 'succeeded' }
  /** It ended with an error, and no try is left. */
  | { readonly kind: 'failed'; readonly error: JobError; readonly late?: Late }
  /** It ended because someone wanted it to. */
  | { readonly kind: 'cancelled'; readonly code: TerminateCode; readonly late?: Late }
  /** Finished, and due again by its repeat rule. */
  | { readonly kind: 'repeated'; readonly due: number }
  /** Opened again by hand. */
  | { readonly kind: 'reopened'; readonly due: number; readonly phase: Phase; readonly hold?: 'children' }
  /** An operator or the code changed it. */
  | { readonly kind: 'edited'; readonly edit: Edit }
  /** A definition answered occurrences of its schedules. */
  | { readonly kind: 'ticked'; readonly ticks: readonly TickOutcome[]; readonly plan: Plan; readonly due: number };

/** What a job starts with. */
export interface FirstState {
  readonly due: number;
  readonly priority: number;
  readonly phase?: Phase;
  readonly hold?: Hold;
  readonly plan?: Plan;
}

/** The outcome that came after the job had been asked to give up: it is told, and changes nothing. */
export type Late = 'succeeded' | 'failed';

/** What an edit may change. */
export interface Edit {
  readonly type?: string;
  readonly priority?: number;
  readonly due?: number;
  /** JSON text. */
  readonly input?: string;
  readonly policy?: Policy;
  readonly tags?: Tags | null;
  readonly plan?: Plan;
}

/** One occurrence, or a range of them, and what became of it. */
export type TickOutcome =
  | { readonly schedule: number; readonly nominal: number; readonly run: number; readonly lateMs: number }
  | { readonly schedule: number; readonly nominal: number; readonly to?: number; readonly count?: number; readonly skipped: TickSkip };

/** Beyond what time decides: a run was under way, the definition was disabled, or its schedule was taken away. */
export type TickSkip = SkipReason | 'overlap' | 'disabled' | 'edited';

export const endings: ReadonlySet<EventKind> = new Set<EventKind>(['succeeded', 'failed', 'cancelled']);
