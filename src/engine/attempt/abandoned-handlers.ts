/**
 * Abandoned handlers: their attempt has ended, for example by a timeout or a lost lease, but their code still runs.
 * They occupy no slot, because a handler that never returns would occupy its slot forever. Instead, abandoned handlers
 * are counted and logged.
 */
import type { Job } from '../../model/job.ts';
import type { Clock } from '../../time/clock.ts';
import type { Logger } from '../../logger.ts';

/** How long an abandoned handler may take to return before a warning is logged. */
const graceMs = 1_000;

export class AbandonedHandlers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #count = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts the handler of a job as abandoned until `result`, its promise, settles. */
  add({ id, type }: Job, result: PromiseLike<unknown>): void {
    this.#count += 1;
    const stopTimer = this.#clock.after(graceMs, () => {
      const message = `the attempt of job ${id} has ended, but its handler ignores its signal and still runs`;
      this.#logger.warn(message, { id, type, abandoned: this.#count });
    });
    const returned = (): void => {
      this.#count -= 1;
      stopTimer();
    };
    result.then(returned, returned);
  }
}
