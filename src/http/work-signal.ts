/**
 * The work signal: wakes all waiters when the store reports a claimable job. All waiters share one subscription to the
 * store.
 */
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { WakeSignal } from '../time/wake-signal.ts';

export class WorkSignal extends WakeSignal {
  readonly #unsubscribe: () => void;

  constructor(store: Pick<Store, 'onWake'>, clock: Clock) {
    super(clock);
    this.#unsubscribe = store.onWake(() => this.notify());
  }

  close(): void {
    this.#unsubscribe();
    this.notify();
  }
}
