/** The throttle: limits how often an address, or another key, may do something per minute. */
import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

const windowMs = 60_000;
const addressesMax = 10_000;

export class Throttle {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #countMax: number;
  readonly #counts = new BoundedMap<string, { count: number; since: number }>(addressesMax);

  constructor(clock: Pick<Clock, 'monotonic'>, countMax: number) {
    this.#clock = clock;
    this.#countMax = countMax;
  }

  /** Returns how many seconds the address must wait; 0: the address may act now. */
  waitFor(address: string): number {
    const seen = this.#seen(address);
    if (seen === undefined || seen.count < this.#countMax) return 0;
    return Math.max(1, Math.ceil((seen.since + windowMs - this.#clock.monotonic()) / 1000));
  }

  count(address: string): void {
    const seen = this.#seen(address);
    if (seen) seen.count += 1;
    else this.#counts.set(address, { count: 1, since: this.#clock.monotonic() });
  }

  #seen(address: string): { count: number; since: number } | undefined {
    const seen = this.#counts.get(address);
    if (seen === undefined || this.#clock.monotonic() - seen.since < windowMs) return seen;
    this.#counts.delete(address);
    return undefined;
  }
}
