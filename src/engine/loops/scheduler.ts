/**
 * The scheduler: ticks definitions that are due. Every instance may do so; the others poll later than the leader and
 * usually find nothing left. Of two that tick the same definition, the version guard refuses the second.
 */
import { followRuns, nextTickDue, tickBatch, tickDue, type TickKnowledge } from '../../jobs/tick.ts';
import type { Jobs } from '../../jobs.ts';

export interface SchedulerParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly knowledge: TickKnowledge;
  readonly isLeader: () => boolean;
}

const schedulePollMs = 10_000;
/** How long after a tick is due an instance that is not the leader polls. */
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
    const { jobs, by, knowledge, isLeader } = this.#parts;
    const { count, searchedAt } = await tickDue(jobs, { by }, knowledge);
    if (count === tickBatch) return 0;
    await this.#followLost();
    const next = await nextTickDue(jobs.store, searchedAt);
    if (next === null) return schedulePollMs;
    const delayMs = isLeader() ? 0 : followerDelayMs;
    return Math.min(schedulePollMs, Math.max(1, next - jobs.store.now() + delayMs));
  }

  /** Adjusts schedules that count from the start or the end of a run. */
  async follow(defs: readonly number[]): Promise<void> {
    await followRuns(this.#parts.jobs.store, defs, { by: this.#parts.by });
  }

  /** Catches runs whose instance crashed before it called `follow`. Each turn handles one page of the definitions. */
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
