/**
 * Orders: what an operator asks of one instance, as runs of a type that only this instance takes. It takes them with
 * its other work; while it is full or drained, and takes none, it looks for them apart.
 */
import type { Jobs } from '../../jobs.ts';
import type { Draft } from '../../jobs/draft.ts';
import type { RunningJob } from '../../model/job.ts';
import type { Logger } from '../../logger.ts';

/** `drain`: take no more work; `resume`: take some again. */
export type Order = 'drain' | 'resume';

export interface OrdersParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly logger: Logger;
  /** Whether it takes no work now, and so no orders either. */
  readonly isDeaf: () => boolean;
  readonly obey: (order: Order) => Promise<void>;
}

const pollMs = 2_000;
const leaseMs = 30_000;
const atOnce = 10;

export const orderTypeOf = (instance: string): string => `stint.instance/${instance}`;

export const orderFor = (instance: string, order: Order): Draft => ({
  type: orderTypeOf(instance), input: { order }, policy: { attemptsMax: 1 },
});

export class Orders {
  readonly #parts: OrdersParts;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
  }

  get type(): string {
    return orderTypeOf(this.#parts.instance);
  }

  async turn(): Promise<number> {
    const { jobs, instance, isDeaf } = this.#parts;
    if (!isDeaf()) return pollMs;
    const names = { exact: [this.type] };
    const taken = await jobs.claim({ kinds: ['run'], names, limit: atOnce, holder: instance, leaseMs });
    for (const job of taken.toSorted((a, b) => a.id - b.id)) await this.follow(job);
    return pollMs;
  }

  /** Does not reject. */
  async follow(job: RunningJob): Promise<void> {
    const { jobs, instance, logger, obey } = this.#parts;
    const { order } = JSON.parse(job.input) as { order: Order };
    try {
      await obey(order);
      await jobs.succeed(job, job.fence, { by: instance });
    } catch (error) {
      logger.error(`the order to ${order} could not be followed`, { error, id: job.id });
    }
  }
}
