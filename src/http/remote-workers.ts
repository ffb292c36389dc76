/**
 * Remote workers. They are registered in the store as instances, so that all servers know which types have a worker.
 */
import type { TypeVersions } from '../model/type-version.ts';
import type { Store } from '../store/store.ts';
import { BoundedMap } from '../time/bounded-map.ts';
import type { Clock } from '../time/clock.ts';
import { version } from '../version.ts';

export interface RemoteWorker {
  readonly id: string;
  readonly address: string;
  readonly types: readonly string[];
  readonly versions: readonly TypeVersions[];
  readonly slots: number;
}

/** How long a remote worker counts as a live instance after its last report. */
const aliveMs = 120_000;
const reportAgainMs = 30_000;
const workersMax = 10_000;

export class RemoteWorkers {
  readonly #store: Pick<Store, 'beat'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reported = new BoundedMap<string, { readonly at: number; readonly summary: string }>(workersMax);

  constructor(store: Pick<Store, 'beat'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Registers a worker that asks for work. Writes nothing if the worker has reported the same types and slots within
   * `reportAgainMs`.
   */
  async report({ id, address, types, versions, slots }: RemoteWorker): Promise<void> {
    const at = this.#clock.monotonic();
    const summary = JSON.stringify([types, versions, slots]);
    const reported = this.#reported.get(id);
    if (reported?.summary === summary && at - reported.at < reportAgainMs) return;
    const known = versions.length === 0 ? {} : { versions };
    const about =
      { host: address, pid: 0, version: `${version} over HTTP`, types, ...known, slots, busy: 0, draining: false };
    await this.#store.beat({ id, leaseMs: aliveMs, about, holds: [] });
    this.#reported.set(id, { at, summary });
  }
}
