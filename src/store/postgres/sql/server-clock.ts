/** Store time: the server's clock as well as it is known here without asking, or a clock that stands in for it. */
import { systemClock, type Clock } from '../../../time/clock.ts';

/** A sample made long ago gives way to a worse one: clocks drift, and may be set back. */
const sampleMaxAgeMs = 10_000;

export class ServerClock {
  readonly #standIn: Clock | undefined;
  /** Store time minus our monotonic time, as it must at least be: an answer is always older than its arrival. */
  #offset: number | undefined;
  #sampledAt = 0;

  constructor(standIn?: Clock) {
    this.#standIn = standIn;
  }

  now(): number {
    if (this.#standIn) return this.#standIn.now();
    if (this.#offset === undefined) return systemClock.now();
    return Math.floor(systemClock.monotonic() + this.#offset);
  }

  /** For statements: null lets the server read its own clock. */
  parameter(): number | null {
    return this.#standIn ? this.#standIn.now() : null;
  }

  /** Records the server time of an answer. */
  observe(serverNow: number): void {
    const arrived = systemClock.monotonic();
    const offset = serverNow - arrived;
    if (this.#offset !== undefined && offset < this.#offset && arrived - this.#sampledAt < sampleMaxAgeMs) return;
    this.#offset = offset;
    this.#sampledAt = arrived;
  }
}

/** Store time in a statement whose first parameter is `parameter()`: read once, though it stands in many places. */
export const nowText = `(select coalesce($1::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))`;
