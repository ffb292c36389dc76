/** Remote workers: registered at the store as instances, so that others know which types have a worker. */
import type { Store } from '../store/store.ts';
import { BoundedMap } from '../time/bounded-map.ts';
import type { Clock } from '../time/clock.ts';
import { version } from '../version.ts';

export interface RemoteWorker {
  readonly id: string;
  readonly address: string;
  readonly types: readonly string[];
  readonly slots: number;
}

/** The lease of a worker after it was last reported. */
const aliveMs = 120_000;
const reportAgainMs = 30_000;
const workersMax = 10_000;

export class RemoteWorkers {
  readonly #store: Pick<Store, 'beat'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reported = new BoundedMap<string, { readonly at: number; readonly what: string }>(workersMax);

  constructor(store: Pick<Store, 'beat'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** It asked for work just now. */
  async saw({ id, address, types, slots }: RemoteWorker): Promise<void> {
    const at = this.#clock.monotonic();
    const what = JSON.stringify([types, slots]);
    const reported = this.#reported.get(id);
    if (reported?.what === what && at - reported.at < reportAgainMs) return;
    this.#reported.set(id, { at, what });
    const about = { host: address, pid: 0, version: `${version} over HTTP`, types, slots, busy: 0, draining: false };
    await this.#store.beat({ id, leaseMs: aliveMs, about, holds: [] });
  }
}
