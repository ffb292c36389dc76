/** The finisher: gathers what became of jobs while a write is under way, and writes it in as few commits as possible. */
import type { Answer, Ask } from '../apply.ts';
import type { Jobs } from '../jobs.ts';
import { isRefusal } from '../refusal.ts';
import { turn } from '../time/clock.ts';
import type { LoopParts } from './loop.ts';
import type { Watchers } from './watchers.ts';

export interface FinisherParts extends LoopParts {
  readonly watchers: Watchers;
}

interface Waiting {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
}

const batchMax = 1000;
const patienceMaxMs = 5_000;

export class Finisher {
  readonly #jobs: Jobs;
  readonly #by: string;
  readonly #parts: FinisherParts;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;

  constructor(jobs: Jobs, by: string, parts: FinisherParts) {
    this.#jobs = jobs;
    this.#by = by;
    this.#parts = parts;
  }

  /** Resolves when it is stored, with the change or the refusal. An outage of the store is waited out. */
  finish(ask: Ask): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push({ ask, resolve });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      // What ends in the same turn of the event loop shares a commit; a lone outcome waits for nobody.
      await turn();
      await this.#write(this.#waiting.splice(0, batchMax));
    }
    this.#flushing = null;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        const answers = await this.#jobs.conclude(batch.map(({ ask }) => ask), { by: this.#by });
        batch.forEach(({ resolve }, index) => resolve(answers[index]!));
        this.#parts.watchers.tell(answers.flatMap(concerned));
        return;
      } catch (error) {
        if (tries === 0) this.#parts.logger.error('outcomes cannot be stored and will be tried again', { error, count: batch.length });
        await this.#parts.clock.sleep(Math.min(patienceMaxMs, 50 * 2 ** tries) * (0.5 + this.#parts.random.next() / 2));
      }
    }
  }
}

/** The job that changed, and its parent. */
const concerned = (answer: Answer): number[] =>
  isRefusal(answer) || answer.after === null ? [] : [answer.after.id, ...(answer.after.parent === null ? [] : [answer.after.parent])];
