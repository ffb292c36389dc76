/**
 * Job watchers: wake callers that wait for a job when this instance changes the job. Callers find changes by other
 * instances by polling.
 */
import type { Clock } from '../../time/clock.ts';
import { WakeSignal } from '../../time/wake-signal.ts';

export class JobWatchers {
  readonly #clock: Clock;
  readonly #signals = new Map<number, WakeSignal>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get hasWaiters(): boolean {
    return this.#signals.size > 0;
  }

  notify(ids: Iterable<number>): void {
    if (!this.hasWaiters) return;
    for (const id of ids) this.#signals.get(id)?.notify();
  }

  /** Resolves when this instance has changed the job, or after `withinMs`. */
  async until(id: number, withinMs: number): Promise<void> {
    const signal = this.#signals.get(id) ?? new WakeSignal(this.#clock);
    this.#signals.set(id, signal);
    await signal.wait(withinMs);
    if (signal.waiting === 0) this.#signals.delete(id);
  }
}
