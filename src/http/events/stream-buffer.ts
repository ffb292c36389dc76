/** The reader: what one connection has still to be told, bounded; who is too slow is let go and may come back. */
import type { Clock } from '../../time/clock.ts';
import type { Entry } from './feed.ts';

export const waitingMax = 5_000;

export class Reader {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #waiting: Entry[] = [];
  #wake: AbortController | null = null;
  #isOverrun = false;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  push(entry: Entry): void {
    if (this.#waiting.length >= waitingMax) this.#isOverrun = true;
    if (!this.#isOverrun) this.#waiting.push(entry);
    this.#wake?.abort();
  }

  /** All that waits; empty if nothing came in time, or the connection has gone. */
  async take(withinMs: number): Promise<readonly Entry[]> {
    if (this.#waiting.length === 0 && !this.#isOverrun) {
      this.#wake = new AbortController();
      await this.#clock.sleep(withinMs, AbortSignal.any([this.#wake.signal, this.#signal]));
      this.#wake = null;
    }
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
