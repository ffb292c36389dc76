/** The work signal: wakes waiters when there may be work; one subscription at the store for all of them. */
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';

export class WorkSignal {
  readonly #clock: Clock;
  readonly #waiters = new Set<() => void>();
  readonly #unsubscribe: () => void;

  constructor(store: Pick<Store, 'onWake'>, clock: Clock) {
    this.#clock = clock;
    this.#unsubscribe = store.onWake(() => this.notify());
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  notify(): void {
    for (const wake of this.#waiters) wake();
  }

  /** Resolves when it is notified, the time has passed or the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#waiters.add(wake);
    await this.#clock.sleep(ms, AbortSignal.any([woken.signal, signal]));
    this.#waiters.delete(wake);
  }

  close(): void {
    this.#unsubscribe();
    this.notify();
  }
}
