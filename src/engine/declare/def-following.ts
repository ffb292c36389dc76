/** The options with which a definition follows other definitions, and the fields of its spec that they become. */
import { checkList, checkName, checkOneOf } from '../../jobs/checks/values.ts';
import type { Spec } from '../../model/definition.ts';
import { connectedDefsMax } from '../../model/def-graph.ts';
import { afterFailures, followOns, type AfterFailure, type FollowOn } from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';

/** A definition: as `jobDef` returns it, or its name. */
export type DefReference = string | { readonly name: string };

export interface DefFollowing {
  /**
   * Definitions that this one follows: each run of theirs gets a run of this one, which starts when theirs has ended,
   * unless it is started with `followers: false`. A definition that follows others has no schedules.
   */
  readonly after?: DefReference | readonly DefReference[];
  /**
   * Which end of the runs of the definitions in `after` starts a run. `succeeded` (default): all have succeeded.
   * `failed`: at least one has failed or was cancelled. `ended`: whatever happened. A run that does not start is cancelled.
   */
  readonly on?: FollowOn;
  /**
   * What happens to a run if a run that it follows fails or is cancelled. `cancel` (default): it is cancelled. `run`: it
   * starts nevertheless. `wait`: it waits until the other run is retried and succeeds. Not together with `on`.
   */
  readonly afterFailure?: AfterFailure;
}

export type FollowingFields = Pick<Spec, 'after' | 'on' | 'afterFailure'>;

export function followingFields({ after, on, afterFailure }: DefFollowing): FollowingFields {
  const names = after === undefined ? [] : namesOfDefs(after);
  if (names.length === 0 && (on !== undefined || afterFailure !== undefined)) {
    throw new Refusal('malformed.option', 'on and afterFailure need after: name the definitions that this one follows');
  }
  if (on !== undefined && afterFailure !== undefined) throw bothRules();
  if (names.length === 0) return {};
  return {
    after: names,
    ...(on === undefined ? {} : { on: checkOneOf('on', on, followOns) }),
    ...(afterFailure === undefined ? {} : { afterFailure: checkOneOf('afterFailure', afterFailure, afterFailures) }),
  };
}

export const bothRules = (): Refusal =>
  new Refusal('malformed.option', 'a definition has either on or afterFailure: leave out one of them');

/** Returns the names of definitions, each once. */
export function namesOfDefs(after: NonNullable<DefFollowing['after']>): readonly string[] {
  const all = (Array.isArray(after) ? after : [after]) as readonly DefReference[];
  return [...new Set(checkList('after', all, connectedDefsMax, (one: DefReference) =>
    checkName('definition', typeof one === 'object' && one !== null ? one.name : one)))];
}

/** Refuses options that a definition that follows others cannot have. */
export function refuseBesideAfter(isFollower: boolean, { schedules, overlap }: BesideAfter): void {
  if (!isFollower) return;
  if (schedules !== undefined && [schedules].flat().length > 0) {
    const message = 'a definition that follows others has no schedules: leave out schedules or after';
    throw new Refusal('malformed.option', message);
  }
  if (overlap === 'skip' || overlap === 'replace') {
    const message = `runs of a definition that follows others are not ${overlap === 'skip' ? 'skipped' : 'replaced'}: ` +
      'leave out overlap, or let it be queue or allow';
    throw new Refusal('malformed.option', message, { overlap });
  }
}

interface BesideAfter {
  readonly schedules?: unknown;
  readonly overlap?: unknown;
}
