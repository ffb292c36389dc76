/** The options with which a run follows other runs, and the rule that they become. */
import { checkId, checkOneOf } from '../../jobs/checks/values.ts';
import {
  afterFailures, followingRule, followOns, type AfterFailure, type Following, type FollowOn,
} from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';

/** A run: its handle or its id. */
export type RunReference = number | { readonly id: number };

export interface FollowRequest {
  /** Runs that this run follows: it starts after all of them have ended. */
  readonly after?: RunReference | readonly RunReference[];
  /**
   * Which end of the runs in `after` starts this run. `succeeded` (default): all have succeeded. `failed`: at least one
   * has failed or was cancelled. `ended`: whatever happened. A run that does not start is cancelled.
   */
  readonly on?: FollowOn;
  /**
   * What happens to this run if a run in `after` fails or is cancelled. `cancel` (default): it is cancelled. `run`: it
   * starts nevertheless. `wait`: it waits until the other run is retried and succeeds. Not together with `on`.
   */
  readonly afterFailure?: AfterFailure;
}

/** The options with which a run starts only if the runs before it have results. */
export type SureFollowing = { readonly on?: 'succeeded'; readonly afterFailure?: 'cancel' | 'wait' };

/** The options with which a run may start although a run before it has no result. */
export type MaybeFollowing =
  | { readonly on: 'failed' | 'ended'; readonly afterFailure?: never }
  | { readonly on?: never; readonly afterFailure: 'run' };

/** The runs that a request names, and when it starts after them; null: it follows no runs. */
export function followedBy(request: FollowRequest): { readonly ids: readonly number[]; readonly follows: Following } | null {
  const follows = followingOf(request);
  if (request.after === undefined) return null;
  const runs = (Array.isArray(request.after) ? request.after : [request.after]) as readonly RunReference[];
  return { ids: [...new Set(Array.from(runs, idOfRun))], follows };
}

export const idOfRun = (run: RunReference): number => checkId(typeof run === 'object' && run !== null ? run.id : run);

export function followingOf({ after, on, afterFailure }: FollowRequest): Following {
  if (after === undefined && (on !== undefined || afterFailure !== undefined)) {
    throw new Refusal('malformed.option', 'on and afterFailure need after: name the runs that this run follows');
  }
  if (on !== undefined && afterFailure !== undefined) {
    throw new Refusal('malformed.option', 'a run has either on or afterFailure: leave out one of them');
  }
  if (afterFailure !== undefined) checkOneOf('afterFailure', afterFailure, afterFailures);
  if (on !== undefined) checkOneOf('on', on, followOns);
  return followingRule(on, afterFailure);
}
