/**
 * Following: a run that follows other runs waits until all of them have ended. An edge connects a follower with one run
 * that it follows, and keeps the outcome of that run, even after the run was deleted.
 */
import type { Fate } from './state.ts';

/** Which outcome of the followed runs lets a follower continue. */
export interface Following {
  /** `succeeded`: all of them succeeded. `failed`: at least one failed or was cancelled. `ended`: whatever happened. */
  readonly on: FollowOn;
  /** What happens to a follower whose runs have not ended as wanted: it is cancelled, or waits until they are retried. */
  readonly otherwise: 'cancel' | 'wait';
  /** Whether edges of the follower have links: results of followed runs are parts of its input. */
  readonly hasLinks?: true;
}

export type FollowOn = 'succeeded' | 'failed' | 'ended';
export const followOns: readonly FollowOn[] = ['succeeded', 'failed', 'ended'];

/** What happens to a follower if a run that it follows fails or is cancelled. */
export type AfterFailure = 'cancel' | 'run' | 'wait';
export const afterFailures: readonly AfterFailure[] = ['cancel', 'run', 'wait'];

/** Returns the rule of a follower. At most one of `on` and `afterFailure` is set; neither: it starts after successes. */
export function followingRule(on: FollowOn | undefined, afterFailure: AfterFailure | undefined): Following {
  if (afterFailure === 'run') return { on: 'ended', otherwise: 'cancel' };
  return { on: on ?? 'succeeded', otherwise: afterFailure === 'wait' ? 'wait' : 'cancel' };
}

/** Whether a follower with these options starts only if the runs before it have results. */
export const isAfterSuccess = (
  { on, afterFailure }: { readonly on?: FollowOn | undefined; readonly afterFailure?: AfterFailure | undefined },
): boolean => followingRule(on, afterFailure).on === 'succeeded';

export interface Edge {
  readonly follower: number;
  readonly followed: number;
  /** How the followed run has ended; null: it is open. */
  readonly outcome: Fate | null;
  /** Which parts of the result become parts of the follower's input; empty: none. */
  readonly links: readonly Link[];
  /** The result of a followed run that was deleted, as JSON text, if the edge has links; otherwise null. */
  readonly result: string | null;
}

/**
 * A part of the followed run's result, and the place in the follower's input at which it is inserted. If the run did not
 * succeed or the part is missing, null is inserted.
 */
export interface Link {
  readonly from: Path;
  readonly to: Path;
}

export type Path = readonly (string | number)[];

/** Returns what happens to a follower when all its runs have ended, `unsuccessful` of them without success. */
export function afterEnds({ on, otherwise }: Following, unsuccessful: number): 'proceed' | 'cancel' | 'wait' {
  const isAsWanted = on === 'ended' || (on === 'failed') === (unsuccessful > 0);
  return isAsWanted ? 'proceed' : otherwise;
}
