/** Store time: the server's clock, estimated from its answers, or a substitute in tests. */
import { systemClock, type Clock } from '../../../time/clock.ts';

/** After this time a sample is replaced even by a less precise one: clocks drift and may be set back. */
const sampleMaxAgeMs = 10_000;

export class ServerClock {
  readonly #testClock: Clock | undefined;
  /** Store time minus our monotonic time. It is a lower bound, since an answer takes time to arrive. */
  #offset: number | undefined;
  #sampledAt = 0;

  constructor(testClock?: Clock) {
    this.#testClock = testClock;
  }

  /** Whether `now` is store time; before the first answer of the server it is the time of this host. */
  get isKnown(): boolean {
    return this.#testClock !== undefined || this.#offset !== undefined;
  }

  now(): number {
    if (this.#testClock) return this.#testClock.now();
    if (this.#offset === undefined) return systemClock.now();
    return Math.floor(systemClock.monotonic() + this.#offset);
  }

  /** The time parameter of statements; null: the server reads its own clock. */
  parameter(): number | null {
    return this.#testClock ? this.#testClock.now() : null;
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

/** Store time in a statement whose first parameter is `parameter()`; evaluated once per statement. */
export const nowText = `(select coalesce($1::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))`;

/** Reads the server's clock; its parameter is null. */
export const clockText = `select ${nowText} as now`;
