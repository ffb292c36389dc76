/** The bell: wakes those who wait for work when there may be some; one ear at the store for all of them. */
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';

export class Bell {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  readonly #stopHearing: () => void;

  constructor(store: Pick<Store, 'onWake'>, clock: Clock) {
    this.#clock = clock;
    this.#stopHearing = store.onWake(() => this.ring());
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when it rings, the time has passed or the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#waiting.add(wake);
    await this.#clock.sleep(ms, AbortSignal.any([woken.signal, signal]));
    this.#waiting.delete(wake);
  }

  close(): void {
    this.#stopHearing();
    this.ring();
  }
}
