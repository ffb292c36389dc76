/** Watchers: wakes whoever waits for a job when this instance changes it; changes made elsewhere are found by looking. */
import type { Clock } from '../../time/clock.ts';

export class Watchers {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isAnyone(): boolean {
    return this.#waiting.size > 0;
  }

  tell(ids: Iterable<number>): void {
    if (!this.isAnyone) return;
    for (const id of ids) for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Resolves when the job was changed here, or when the time has passed. */
  async until(id: number, withinMs: number): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort('woken');
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(wake));
    await this.#clock.sleep(withinMs, woken.signal);
    waiting.delete(wake);
    if (waiting.size === 0) this.#waiting.delete(id);
  }
}
