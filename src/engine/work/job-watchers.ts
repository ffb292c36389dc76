/**
 * Job watchers: wake callers that wait for a job when this instance changes it. Changes of others are found by polling.
 */
import type { Clock } from '../../time/clock.ts';

export class JobWatchers {
  readonly #clock: Clock;
  readonly #waiters = new Map<number, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get hasWaiters(): boolean {
    return this.#waiters.size > 0;
  }

  notify(ids: Iterable<number>): void {
    if (!this.hasWaiters) return;
    for (const id of ids) for (const wake of this.#waiters.get(id) ?? []) wake();
  }

  /** Resolves when this instance has changed the job, or when the time has passed. */
  async until(id: number, withinMs: number): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort('woken');
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(wake));
    await this.#clock.sleep(withinMs, woken.signal);
    waiters.delete(wake);
    if (waiters.size === 0) this.#waiters.delete(id);
  }
}
