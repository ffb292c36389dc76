/** The wake signal: a waiter sleeps until `notify()` is called, its time has passed, or its own abort signal fires. */
import type { Clock } from './clock.ts';

export class WakeSignal {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waiters = new Set<() => void>();
  #notified = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** How many times `notify` was called. Two equal values show that it was not called in between. */
  get notified(): number {
    return this.#notified;
  }

  /** Wakes all waiters. A `wait` that begins later does not see this call. */
  notify(): void {
    this.#notified += 1;
    for (const wake of this.#waiters) wake();
  }

  /**
   * Resolves after `notify()`, after `ms` or on abort; never rejects. The wait begins at once: a `notify()` right after
   * this call is not missed.
   */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      // Uses callbacks, not `Clock.sleep` with an AbortController: an abort takes longer than a short turn of a loop.
      const wake = (): void => {
        cancelTimer();
        signal?.removeEventListener('abort', wake);
        this.#waiters.delete(wake);
        resolve();
      };
      const cancelTimer = this.#clock.after(ms, wake);
      signal?.addEventListener('abort', wake, { once: true });
      this.#waiters.add(wake);
    });
  }
}
