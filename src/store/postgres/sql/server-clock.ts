/** Store time: the clock of the PostgreSQL server, estimated from the times in its answers; in tests, a substitute. */
import { systemClock, type Clock } from '../../../time/clock.ts';

/**
 * The maximum age of a sample. An older sample is replaced even by a less precise one, because clocks drift and may be
 * set back. A younger sample is replaced only by a more precise one, from an answer that took less time to arrive.
 */
const sampleMaxAgeMs = 10_000;

export class ServerClock {
  /** The clock of this process. */
  readonly host: Clock;
  readonly #testClock: Clock | undefined;
  /**
   * Store time minus the monotonic time of this process. The true difference is larger by the time that the answer took
   * to arrive.
   */
  #offset: number | undefined;
  #sampledAt = 0;

  constructor(testClock?: Clock, host = systemClock) {
    this.host = host;
    this.#testClock = testClock;
  }

  /** Whether `now` returns store time; before the server's first answer it returns the time of this host. */
  get isKnown(): boolean {
    return this.#testClock !== undefined || this.#offset !== undefined;
  }

  now(): number {
    if (this.#testClock) return this.#testClock.now();
    if (this.#offset === undefined) return this.host.now();
    return Math.floor(this.host.monotonic() + this.#offset);
  }

  /** Returns the time parameter of statements; null: the server reads its own clock. */
  parameter(): number | null {
    return this.#testClock ? this.#testClock.now() : null;
  }

  observe(serverNow: number): void {
    const arrived = this.host.monotonic();
    const offset = serverNow - arrived;
    if (this.#offset !== undefined && offset < this.#offset && arrived - this.#sampledAt < sampleMaxAgeMs) return;
    this.#offset = offset;
    this.#sampledAt = arrived;
  }
}

/**
 * The SQL of store time, in a statement whose first parameter is `parameter()`. As a sub-select, each occurrence is
 * evaluated once, not for every row.
 */
export const nowSql = `(select coalesce($1::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))`;

/** The statement that reads the server's clock; its only parameter is null. */
export const readClockSql = `select ${nowSql} as now`;
