/** The roster: remote workers, told to the store as instances so that others know which types have someone. */
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { version } from '../version.ts';

export interface RemoteWorker {
  readonly id: string;
  readonly address: string;
  readonly types: readonly string[];
  readonly slots: number;
}

/** A worker is held to be alive for so long after it was last told of. */
const aliveMs = 120_000;
const tellAgainMs = 30_000;
const rememberedMax = 10_000;

export class Roster {
  readonly #store: Pick<Store, 'beat'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #told = new Map<string, { readonly at: number; readonly what: string }>();

  constructor(store: Pick<Store, 'beat'>, clock: Pick<Clock, 'monotonic'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** It asked for work just now. */
  async saw({ id, address, types, slots }: RemoteWorker): Promise<void> {
    const at = this.#clock.monotonic();
    const what = JSON.stringify([types, slots]);
    const told = this.#told.get(id);
    if (told?.what === what && at - told.at < tellAgainMs) return;
    if (this.#told.size >= rememberedMax) this.#told.clear();
    this.#told.set(id, { at, what });
    const about = { host: address, pid: 0, version: `${version} over HTTP`, types, slots, busy: 0, draining: false };
    await this.#store.beat({ id, leaseMs: aliveMs, about, holds: [] });
  }
}
