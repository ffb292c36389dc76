/**
 * Jobs that were claimed ahead and get no slot, because long handlers occupy all slots. The claimer releases them:
 * held here, they would wait for those handlers while other instances are idle.
 */
import type { Slots } from './slots.ts';

/**
 * How long a queued job waits for a slot before it counts as stuck; the claimer then notices it within as long again.
 */
export const queuedMaxMs = 500;

export class StuckJobs<T> {
  readonly #slots: Slots<T>;
  #checkedAt = -Infinity;
  /** The last job of the queue at the previous check; jobs before it have waited at least as long. */
  #newest: T | undefined;

  constructor(slots: Slots<T>) {
    this.#slots = slots;
  }

  /**
   * If a job of the previous check, `queuedMaxMs` ago or more, is still queued and no slot is free, takes all jobs from
   * the queue. A job that stayed would start before the released jobs, which were claimed before it.
   */
  take(now: number): readonly T[] {
    if (now - this.#checkedAt < queuedMaxMs) return [];
    const isStuck = this.#slots.free === 0 && this.#slots.queue.some((job) => job === this.#newest);
    const stuck = isStuck ? this.#slots.takeQueued() : [];
    this.#newest = this.#slots.queue.at(-1);
    this.#checkedAt = now;
    return stuck;
  }
}
