/** A minimal worker: on each wake it claims, starts and finishes jobs until none is left. */
import { setInterval } from 'node:timers';
import { ownName, type Input } from './payload.ts';
import type { Target } from './target.ts';

/** A wake can be lost. A lost wake shows in the figures as a pick-up of about this long. */
const pollMs = 250;
const claimLimit = 10;

export type OnStart = (input: Input) => void;

export class Worker {
  readonly #target: Target;
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onStart: OnStart;
  readonly #limit: number;
  #working: Promise<void> | undefined;
  #isWoken = false;

  /** Calls `onStart` where a worker would call the handler of a job. */
  constructor(target: Target, onStart: OnStart, limit = claimLimit) {
    this.#target = target;
    this.#onStart = onStart;
    this.#limit = limit;
    this.#stopListening = target.onWake(() => this.wake());
    this.#timer = setInterval(() => this.wake(), pollMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopListening();
    await this.#working;
  }

  wake(): void {
    this.#isWoken = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async #work(): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false;
      const jobs = await this.#target.claim(ownName, this.#limit);
      if (jobs.length === 0) continue;
      for (const { input } of jobs) this.#onStart(JSON.parse(input) as Input);
      this.#isWoken = true;
      await this.#target.finish(jobs);
    }
  }
}
