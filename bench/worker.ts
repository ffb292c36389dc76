/** A bare worker: woken when there may be jobs, it claims, starts and finishes them until there are none. */
import { setInterval } from 'node:timers';
import type { Contender } from './contender.ts';
import { ageMs, ownName } from './payload.ts';

/** A wake is a hint that may be lost; what is lost shows in the figures as a pick-up of about this long. */
const lookAnywayMs = 250;
const claimLimit = 10;

export class Worker {
  readonly #contender: Contender;
  readonly #deaf: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #agesMs: number[] = [];
  #working: Promise<void> | undefined;
  #isWoken = false;
  #onStart = (): void => {};

  constructor(contender: Contender) {
    this.#contender = contender;
    this.#deaf = contender.onWake(() => this.#wake());
    this.#timer = setInterval(() => this.#wake(), lookAnywayMs);
  }

  /** How old jobs were when their handlers started, once there were so many. */
  agesMs(count: number): Promise<readonly number[]> {
    return new Promise((resolve) => {
      this.#onStart = () => {
        if (this.#agesMs.length >= count) resolve(this.#agesMs);
      };
      this.#onStart();
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#deaf();
    await this.#working;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async #work(): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false;
      const jobs = await this.#contender.claim(ownName, claimLimit);
      if (jobs.length === 0) continue;
      this.#agesMs.push(...jobs.map(({ input }) => ageMs(input)));
      this.#onStart();
      this.#isWoken = true;
      await this.#contender.finish(jobs);
    }
  }
}
