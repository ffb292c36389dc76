/**
 * The scheduler: ticks definitions that are due. Every instance may tick them; the leader polls first, and the other
 * instances usually find no due definition left. If two instances tick the same definition, the second write is
 * refused, because the version of the definition has changed.
 */
import { followRuns, nextTickDue, tickBatch, tickDue } from '../../jobs/tick.ts';
import type { TickKnowledge } from '../../jobs/tick-knowledge.ts';
import type { Jobs } from '../../jobs.ts';

export interface SchedulerParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly knowledge: TickKnowledge;
  readonly isLeader: () => boolean;
}

const schedulePollMs = 10_000;
/** An instance that is not the leader polls this long after the due time of a tick, so that the leader polls first. */
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

  /** Plans the next ticks of definitions whose schedules count from the start or the end of a run. */
  async follow(defs: readonly number[]): Promise<void> {
    await followRuns(this.#parts.jobs.store, defs, { by: this.#parts.by });
  }

  /** Calls `follow` for one page of the definitions, in case an instance crashed before it called `follow` itself. */
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
