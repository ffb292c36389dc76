/** The sequence: definitions under one schedule, each of which follows the one before. */
import type { Spec } from '../../model/definition.ts';
import type { AfterFailure } from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';
import { isPromiseLike } from '../../time/maybe-promise.ts';
import { checkSchedule, type Schedule } from '../../time/schedule.ts';
import { checkFields } from '../../jobs/checks/values.ts';
import { followingFields } from './def-following.ts';
import { linksOf } from './def-links.ts';
import { checkParams, frozenDef, type AnyJobDef } from './job-def.ts';
import { rulesOfType } from './type-rules.ts';

export interface SequenceOptions {
  /** When the first definition runs. */
  readonly schedules: readonly Schedule[] | Schedule;
  /**
   * What happens to the rest if a run fails or is cancelled. `cancel` (default): the rest is cancelled. `run`: the next
   * one starts nevertheless. `wait`: the rest waits until the run is retried and succeeds.
   */
  readonly afterFailure?: AfterFailure;
}

/**
 * Returns the definitions so that the first has the schedules, and each of the others follows the one before. Pass them
 * to the engine instead of the given ones.
 */
export function jobSequence<const D extends readonly AnyJobDef[]>(defs: D, options: SequenceOptions): D {
  checkFields('a sequence', options, ['schedules', 'afterFailure']);
  const { schedules, afterFailure } = options;
  if (defs.length < 2) throw new Refusal('malformed.option', 'a sequence has at least two definitions');
  const [twice] = defs.filter((def, index) => defs.some((other, at) => at < index && other.name === def.name));
  if (twice) throw new Refusal('malformed.option', `definition ${twice.name} is twice in the sequence`, { name: twice.name });
  return defs.map((def, index) => {
    refuseOwnStart(def, defs.slice(0, index));
    const { params, after = [] } = def.spec;
    const start: Partial<Spec> = index === 0
      ? { schedules: [schedules].flat().map(checkSchedule) }
      : followingFields({ after: [defs[index - 1]!, ...after], ...(afterFailure === undefined ? {} : { afterFailure }) });
    linksOf(params, start);
    checkInput(def);
    return frozenDef({ ...def, spec: { ...def.spec, ...start } });
  }) as readonly AnyJobDef[] as D;
}

/** Refuses what a sequence decides itself. A definition may follow earlier ones, too, if it has their results. */
function refuseOwnStart({ name, spec }: AnyJobDef, earlier: readonly AnyJobDef[]): void {
  const { schedules, after = [], on, afterFailure, links = [] } = spec;
  const isOfResult = (followed: string): boolean =>
    links.some(({ def }) => def === followed) && earlier.some((def) => def.name === followed);
  if (schedules.length === 0 && after.every(isOfResult) && on === undefined && afterFailure === undefined) return;
  const message = `definition ${name} is started by its sequence: leave out its schedules and its after`;
  throw new Refusal('malformed.option', message, { name });
}

/** Throws if the parameters are invalid. The engine awaits an asynchronous schema when it declares the definition. */
function checkInput({ type, spec: { params, schedules, links } }: AnyJobDef): void {
  if (links !== undefined) return;
  const output = checkParams(rulesOfType(type), { ...(params === null ? {} : { params }), schedules, after: 'the sequence' });
  if (isPromiseLike(output)) output.then(undefined, () => {});
}
