/**
 * The loop: calls a turn repeatedly, and sleeps in between for as many ms as the turn returned. `wake()` ends the sleep
 * early. After an error the loop continues with a back-off.
 */
import type { Random } from '../random.ts';
import type { Clock } from './clock.ts';
import type { Logger } from '../logger.ts';
import { WakeSignal } from './wake-signal.ts';

/** One round of work; returns after how many ms the next round should start. */
export type Turn = () => Promise<number>;

export interface LoopParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const backOffMinMs = 100;
const backOffMaxDefaultMs = 30_000;

export class Loop {
  readonly #name: string;
  readonly #parts: LoopParts;
  readonly #turn: Turn;
  readonly #backOffMaxMs: number;
  readonly #wakeSignal: WakeSignal;
  #running: Promise<void> | null = null;
  #isStopping = false;
  #isWoken = false;
  #failures = 0;
  #begun = 0;
  /** Each resolves after a turn that begins later and finds nothing more to do. */
  #waiting: { readonly from: number; readonly resolve: () => void }[] = [];

  constructor(name: string, parts: LoopParts, turn: Turn, backOffMaxMs = backOffMaxDefaultMs) {
    this.#name = name;
    this.#parts = parts;
    this.#turn = turn;
    this.#backOffMaxMs = backOffMaxMs;
    this.#wakeSignal = new WakeSignal(parts.clock);
  }

  start(): void {
    if (this.#running) return;
    this.#isStopping = false;
    this.#running = this.#go();
  }

  /** Starts the next turn at once. If a turn is running now, the next one follows it without a sleep. */
  wake(): void {
    this.#isWoken = true;
    this.#wakeSignal.notify();
  }

  /** Starts the next turn at once; resolves after a turn that began since this call and left nothing to do at once. */
  caughtUp(): Promise<void> {
    if (!this.#running || this.#isStopping) return Promise.resolve();
    const caughtUp = new Promise<void>((resolve) => this.#waiting.push({ from: this.#begun + 1, resolve }));
    if (this.#failures === 0) this.wake();
    return caughtUp;
  }

  /** Ends the loop; resolves when the running turn has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    await this.#running;
    this.#running = null;
    this.#resolve(Infinity);
  }

  async #go(): Promise<void> {
    while (!this.#isStopping) {
      this.#isWoken = false;
      this.#begun += 1;
      const sleepMs = await this.#oneTurn();
      if (sleepMs > 0 && this.#failures === 0) this.#resolve(this.#begun);
      if (this.#isWoken || this.#isStopping) continue;
      // Rounded up, because a sleep of less than 1 ms that is rounded to 0 would make this a busy loop.
      await this.#wakeSignal.wait(Math.ceil(sleepMs));
    }
  }

  #resolve(begun: number): void {
    for (const { from, resolve } of this.#waiting) if (from <= begun) resolve();
    this.#waiting = this.#waiting.filter(({ from }) => from > begun);
  }

  async #oneTurn(): Promise<number> {
    try {
      const sleepMs = await this.#turn();
      if (this.#failures > 0) this.#parts.logger.info(`${this.#name}: recovered`, { failures: this.#failures });
      this.#failures = 0;
      return sleepMs;
    } catch (error) {
      return this.#backOff(error);
    }
  }

  /**
   * Returns how many ms to sleep after a failure: twice as long with each further failure, up to the maximum, and with
   * jitter. Logs only the first failure of a series.
   */
  #backOff(error: unknown): number {
    if (this.#failures === 0) this.#parts.logger.error(`${this.#name}: failed, retrying`, { error });
    this.#failures += 1;
    const ceiling = Math.min(this.#backOffMaxMs, backOffMinMs * 2 ** Math.min(this.#failures, 10));
    return ceiling * (0.5 + this.#parts.random.next() / 2);
  }
}
