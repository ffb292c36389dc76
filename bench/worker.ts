/** A bare worker: woken when there may be jobs, it claims, starts and finishes them until there are none. */
import { setInterval } from 'node:timers';
import type { Contender } from './contender.ts';
import { ownName, type Input } from './payload.ts';

/** A wake is a hint that may be lost; what is lost shows in the figures as a pick-up of about this long. */
const lookAnywayMs = 250;
const claimLimit = 10;

export type Start = (input: Input) => void;

export class Worker {
  readonly #contender: Contender;
  readonly #deaf: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #start: Start;
  readonly #limit: number;
  #working: Promise<void> | undefined;
  #isWoken = false;

  /** Calls `start` where the handler of a job would be called. */
  constructor(contender: Contender, start: Start, limit = claimLimit) {
    this.#contender = contender;
    this.#start = start;
    this.#limit = limit;
    this.#deaf = contender.onWake(() => this.wake());
    this.#timer = setInterval(() => this.wake(), lookAnywayMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#deaf();
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
      const jobs = await this.#contender.claim(ownName, this.#limit);
      if (jobs.length === 0) continue;
      for (const { input } of jobs) this.#start(JSON.parse(input) as Input);
      this.#isWoken = true;
      await this.#contender.finish(jobs);
    }
  }
}
