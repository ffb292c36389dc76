/** The wake signal: waiters sleep until it is notified, their time has passed or their own abort signal fires. */
import type { Clock } from './clock.ts';

export class WakeSignal {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #waiters = new Set<() => void>();
  #notified = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** The number of waiters. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** How often it was notified: whoever reads it before some work knows afterwards whether it missed a call. */
  get notified(): number {
    return this.#notified;
  }

  /** Wakes all waiters. A `wait` that begins later does not see this call. */
  notify(): void {
    this.#notified += 1;
    for (const wake of this.#waiters) wake();
  }

  /** Never rejects. The waiter is registered before this call returns. */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      // Plain callbacks: aborting an AbortController costs more than a short turn of a loop.
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
