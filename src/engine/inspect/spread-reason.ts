/** Explains that the spread of a resume holds back a due job. */
import { isHeldAt, letOutAt, passageAt, type Position, type Spread } from '../../model/spread.ts';
import type { Reason } from './reason.ts';

/** `what` was resumed; null: the spread does not hold back the job. */
export function spreadReason(job: Position, what: string, spread: Spread, now: number): Reason | null {
  if (!isHeldAt(passageAt(spread, now), job)) return null;
  const { by, why, from, until } = spread;
  const opensAt = letOutAt(spread, job);
  const says = `it is held until ${new Date(opensAt).toISOString()} by the spread of the resume: ${what} was resumed by ${by}` +
    `${why === null ? '' : ` (${why})`}, and what waited starts evenly until ${new Date(until).toISOString()}`;
  return { code: 'spread', says, detail: { opensAt, by, why, from, until } };
}
