/**
 * The scheduler: lets definitions tick when they are due. The leader is first; the others look a little later and find
 * it done, or do it. Whoever comes second loses the guard and nothing else.
 */
import { followRuns, nextTickDue, tickBatch, tickDue } from '../../jobs/tick.ts';
import type { Jobs } from '../../jobs.ts';

export interface SchedulerParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly isLeader: () => boolean;
}

const schedulePollMs = 10_000;
/** How much later an instance that does not lead looks after a tick. */
const followerDelayMs = 2_000;
const followMs = 15_000;

export class Scheduler {
  readonly #parts: SchedulerParts;
  #followedAt = -Infinity;
  #followedTo: number | null = null;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  async turn(): Promise<number> {
    const { jobs, by, isLeader } = this.#parts;
    if ((await tickDue(jobs, { by })) === tickBatch) return 0;
    await this.#followLost();
    const next = await nextTickDue(jobs.store);
    return next === null
      ? schedulePollMs : Math.min(schedulePollMs, Math.max(1, next - jobs.store.now() + (isLeader() ? 0
      : followerDelayMs)));
  }

  /** A run of a definition has started or ended: schedules may count from it. */
  async follow(defs: readonly number[]): Promise<void> {
    await followRuns(this.#parts.jobs.store, defs, { by: this.#parts.by });
  }

  /** Runs whose end was not seen, since whoever ended them was lost. One page of definitions at a time, round and round. */
  async #followLost(): Promise<void> {
    const { jobs } = this.#parts;
    const now = jobs.store.now();
    if (now - this.#followedAt < followMs) return;
    this.#followedAt = now;
    const after = this.#followedTo === null ? {} : { after: this.#followedTo };
    const { jobs: defs, next } = await jobs.find({ kinds: ['def'], standings: ['pending'] }, { limit: 1000, ...after });
    this.#followedTo = next;
    await this.follow(defs.map(({ id }) => id));
  }
}
