/**
 * Orders: what an operator asks of one instance, as runs of a type that only this instance takes. They are taken apart
 * from other work, so that an instance that is full, or drained, hears of them too.
 */
import type { Jobs } from '../../jobs.ts';
import type { Draft } from '../../jobs/draft.ts';
import type { RunningJob } from '../../model/job.ts';

/** `drain`: take no more work; `resume`: take some again. */
export type Order = 'drain' | 'resume';

export interface OrdersParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly obey: (order: Order) => Promise<void>;
}

const pollMs = 2_000;
const leaseMs = 30_000;
const atOnce = 10;

const typeOf = (instance: string): string => `stint.instance/${instance}`;

export const orderFor = (instance: string, order: Order): Draft => ({
  type: typeOf(instance), input: { order }, policy: { attemptsMax: 1 },
});

export class Orders {
  readonly #parts: OrdersParts;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
  }

  async turn(): Promise<number> {
    const { jobs, instance } = this.#parts;
    const types = [typeOf(instance)];
    // Most of the time there is none, and to look costs less than to take.
    const { jobs: waiting } = await jobs.find({ kinds: ['run'], types, standings: ['pending'] }, { limit: 1 });
    if (waiting.length === 0) return pollMs;
    const taken = await jobs.claim({ kinds: ['run'], names: { exact: types }, limit: atOnce, holder: instance, leaseMs });
    for (const job of taken.toSorted((a, b) => a.id - b.id)) await this.#follow(job);
    return pollMs;
  }

  async #follow(job: RunningJob): Promise<void> {
    const { jobs, instance, obey } = this.#parts;
    const { order } = JSON.parse(job.input) as { order: Order };
    await obey(order);
    await jobs.succeed(job, job.fence, { by: instance });
  }
}
