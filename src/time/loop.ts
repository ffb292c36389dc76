/** The loop: calls a turn again and again, sleeps as long as the turn answers, wakes early when told, outlives errors. */
import type { Random } from '../random.ts';
import type { Clock } from './clock.ts';
import type { Logger } from '../logger.ts';

/** One round of work; answers how many ms may pass until the next. */
export type Turn = () => Promise<number>;

export interface LoopParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const woken = 'woken';
const backOffMinMs = 100;
const backOffMaxDefaultMs = 30_000;

export class Loop {
  readonly #name: string;
  readonly #parts: LoopParts;
  readonly #turn: Turn;
  readonly #backOffMaxMs: number;
  #running: Promise<void> | null = null;
  #isStopping = false;
  #isWoken = false;
  #wake: AbortController = new AbortController();
  #failures = 0;

  constructor(name: string, parts: LoopParts, turn: Turn, backOffMaxMs = backOffMaxDefaultMs) {
    this.#name = name;
    this.#parts = parts;
    this.#turn = turn;
    this.#backOffMaxMs = backOffMaxMs;
  }

  start(): void {
    if (this.#running) return;
    this.#isStopping = false;
    this.#running = this.#go();
  }

  /** The next turn comes at once; a turn under way is followed by another. */
  wake(): void {
    this.#isWoken = true;
    // A reason of our own: making the default one costs more than the turn it starts.
    this.#wake.abort(woken);
  }

  /** Resolves when the turn under way has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    await this.#running;
    this.#running = null;
  }

  async #go(): Promise<void> {
    while (!this.#isStopping) {
      this.#isWoken = false;
      const sleepMs = await this.#oneTurn();
      if (this.#isWoken || this.#isStopping) continue;
      this.#wake = new AbortController();
      // A fraction that is lost in rounding would be no time at all, again and again.
      await this.#parts.clock.sleep(Math.ceil(sleepMs), this.#wake.signal);
    }
  }

  async #oneTurn(): Promise<number> {
    try {
      const sleepMs = await this.#turn();
      if (this.#failures > 0) this.#parts.logger.info(`${this.#name} goes on`, { failures: this.#failures });
      this.#failures = 0;
      return sleepMs;
    } catch (error) {
      return this.#backOff(error);
    }
  }

  /** An outage is told once, then waited out with growing patience. */
  #backOff(error: unknown): number {
    if (this.#failures === 0) this.#parts.logger.error(`${this.#name} failed and will be tried again`, { error });
    this.#failures += 1;
    const ceiling = Math.min(this.#backOffMaxMs, backOffMinMs * 2 ** Math.min(this.#failures, 10));
    return ceiling * (0.5 + this.#parts.random.next() / 2);
  }
}
