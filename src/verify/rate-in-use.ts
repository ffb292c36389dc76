/**
 * How much of a rate is in use, computed from starts alone: of all periods that end with the last start, the largest sum
 * of costs above what the rate lets start in that period. More than the burst: the limit was exceeded in that period.
 */
import { intervalOf, type Rate } from '../model/limit.ts';

export class RateInUse {
  #cost = 0;
  #at = 0;

  /**
   * Adds a start and returns what is in use then. `rates` were in force at some time since the last start, null: not
   * limited. After a change, the use shrinks as under the former rate until a claim reads it: the fastest one counts.
   */
  start(cost: number, at: number, rates: readonly (Rate | null)[]): number {
    const free = rates.includes(null) ? Infinity : (at - this.#at) * fastest(rates as readonly Rate[]);
    this.#cost = Math.max(0, this.#cost - free) + cost;
    this.#at = at;
    return this.#cost;
  }
}

/** Returns the cost per millisecond of the fastest rate. */
export const fastest = (rates: readonly Rate[]): number =>
  rates.reduce((most, rate) => Math.max(most, 1 / intervalOf(rate)), 0);
