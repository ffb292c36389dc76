// SQLite as the backing of a simulation: one store, with faults between it and the processes.
import { DatabaseSync } from 'node:sqlite';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import type { Backing } from './backing.ts';
import { countEffects, createEffects, type Effects } from './completing.ts';
import type { Faults, SimSettings } from './faults.ts';
import { openFileStore, type FileStore } from './file-store.ts';
import { StoreMonitor, type MonitorParts } from './monitor.ts';
import type { SimProcess } from './process.ts';
import type { RandomStream } from './random-streams.ts';
import type { Timeline } from './timeline.ts';
import { Transactions } from './transactions.ts';
import { unreliableStore } from './unreliable-store.ts';

export interface BackingParts extends Omit<MonitorParts, 'store' | 'onCommit' | 'isReading'> {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly settings: SimSettings;
  readonly crash: (process: SimProcess) => void;
}

export interface SqliteBackingParts extends BackingParts {
  /** Whether runs end with `complete`; the store is on a file then. */
  readonly isOnFile: boolean;
  readonly random: RandomStream;
}

export class SqliteBacking implements Backing {
  readonly store: Store;
  readonly monitor: StoreMonitor;
  readonly faults = [];
  /** Null: the store is in memory. */
  readonly file: FileStore | null;
  readonly #parts: SqliteBackingParts;
  readonly #transactions: Transactions;
  #offsetMs = 0;
  #downUntil = 0;

  constructor(parts: SqliteBackingParts) {
    this.#parts = parts;
    const { timeline, isOnFile, random, limits, goals, batches, onViolation, onClaimed } = parts;
    const options = { clock: new StoreClock(() => timeline.now + this.#offsetMs), random };
    this.file = isOnFile ? openFileStore(options) : null;
    this.store = this.file?.store ?? new SqliteStore(':memory:', options);
    const onCommit = this.file && { onCommit: this.file.onCommit };
    this.monitor = new StoreMonitor({ store: this.store, limits, goals, batches, onViolation, onClaimed, ...onCommit });
    this.#transactions = new Transactions(this.monitor.store, timeline);
  }

  storeOf(process: SimProcess, random: RandomStream): Store {
    const { timeline, faults, settings, goals, crash } = this.#parts;
    return unreliableStore({
      store: this.monitor.store, timeline, faults, settings, process, random, transactions: this.#transactions,
      isStoreDown: () => this.#downUntil > timeline.now,
      onDeadlyReply: crash,
      onUnknownOutcome: () => goals.reach('commit unknown, then tried again'),
    });
  }

  goDown(ms: number): void {
    this.#downUntil = this.#parts.timeline.now + ms;
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  notePause(): void {}

  async createEffects(): Promise<void> {
    using db = new DatabaseSync(this.file!.path);
    db.exec(createEffects);
  }

  async readEffects(): Promise<readonly Effects[]> {
    using db = new DatabaseSync(this.file!.path, { readOnly: true });
    return db.prepare(countEffects).all() as unknown as readonly Effects[];
  }

  heal(): void {
    this.#downUntil = 0;
  }

  async close(): Promise<void> {
    await this.store.close();
    this.file?.remove();
  }
}

/** The clock of the store. It sets no timers. */
export class StoreClock extends VirtualClock {
  readonly #read: () => number;

  constructor(read: () => number) {
    super(0);
    this.#read = read;
  }

  override now(): number {
    return this.#read();
  }
}
