// SQLite as the backing of a simulation: one store, with faults between it and the processes.
import { DatabaseSync } from 'node:sqlite';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { Availability } from './availability.ts';
import type { Backing, BackingFault } from './backing.ts';
import { countEffects, createEffects, type Effects } from './completing.ts';
import type { Faults, SimSettings } from './faults.ts';
import { openFileStore, type FileStore } from './file-store.ts';
import { StoreMonitor, type MonitorParts } from './monitor.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { SimProcess } from './process.ts';
import type { RandomStream } from './random-streams.ts';
import { Setbacks } from './setbacks.ts';
import { SqliteDisk } from './sqlite-disk.ts';
import type { Timeline } from './timeline.ts';
import { Transactions } from './transactions.ts';
import { unreliableStore } from './unreliable-store.ts';

export interface BackingParts extends Omit<MonitorParts, 'store' | 'onCommit' | 'isReading'> {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly settings: SimSettings;
  /** Whether the disk of the store is full or fails, again and again. */
  readonly hasDiskTrouble: boolean;
  readonly crash: (process: SimProcess) => void;
}

export interface SqliteBackingParts extends BackingParts {
  /** Whether runs end with `complete`; the store is on a file then. */
  readonly isOnFile: boolean;
  readonly random: RandomStream;
  /** What the driver of the store draws. */
  readonly diskRandom: RandomStream;
}

const minute = 60_000;
/** How long a write waits for the lock of the file: a shorter lock is no reason to refuse it. */
const lockWaitMs = 30_000;
/** A refusal is judged when the store gives it. */
const refusedAfterMs = 1;

export class SqliteBacking implements Backing {
  readonly store: Store;
  readonly monitor: StoreMonitor;
  readonly faults: readonly BackingFault[];
  /** Null: the store is in memory. */
  readonly file: FileStore | null;
  readonly #parts: SqliteBackingParts;
  readonly #transactions: Transactions;
  readonly #availability: Availability;
  readonly #setbacks: Setbacks;
  readonly #disk: SqliteDisk;
  #offsetMs = 0;
  #downUntil = 0;

  constructor(parts: SqliteBackingParts) {
    this.#parts = parts;
    const { timeline, isOnFile, random, limits, goals, batches, onViolation, onClaimed } = parts;
    const options = { clock: new StoreClock(() => timeline.now + this.#offsetMs), random };
    const { clock } = new SimProcess('store', timeline, { offsetMs: 0, rate: 1 });
    this.#disk = new SqliteDisk(clock, parts.diskRandom, (ms) => this.#noteWait(ms));
    this.#setbacks = new Setbacks(goals);
    this.#availability = new Availability(timeline, onViolation, refusedAfterMs);
    const driver = parts.hasDiskTrouble ? this.#disk.driver : undefined;
    this.faults = parts.hasDiskTrouble ? [{ kind: 'disk', everyMs: 4 * minute, inject: (drawn) => this.#failDisk(drawn) }] : [];
    this.file = isOnFile ? openFileStore(options, driver) : null;
    this.store = this.file?.store ?? new SqliteStore(':memory:', options, driver);
    const onCommit = this.file && { onCommit: this.file.onCommit };
    const judged = this.#availability.judged(parts.hasDiskTrouble ? oneAtATime(this.store) : this.store, null);
    this.monitor = new StoreMonitor({ store: judged, limits, goals, batches, onViolation, onClaimed, ...onCommit });
    this.#transactions = new Transactions(this.monitor.store, timeline);
  }

  storeOf(process: SimProcess, random: RandomStream): Store {
    const { timeline, faults, settings, goals, crash } = this.#parts;
    return unreliableStore({
      store: this.monitor.store, timeline, faults, settings, process, random, transactions: this.#transactions,
      isStoreDown: () => this.#downUntil > timeline.now,
      onDeadlyReply: crash,
      onUnknownOutcome: () => goals.reach('commit unknown, then tried again'),
      mayWait: this.#parts.hasDiskTrouble,
      onUnavailable: ({ detail }) => {
        if (detail['reason'] !== 'the file is locked') this.#setbacks.meet(process, 'refused by the disk, then written');
      },
      onWritten: () => this.#setbacks.overcome(process),
    });
  }

  goDown(ms: number): void {
    this.#downUntil = this.#parts.timeline.now + ms;
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  notePause(): void {}

  /** How many calls were refused as unavailable, each with a fault as its reason. */
  get refusals(): number {
    return this.#availability.refusals;
  }

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
    this.#disk.recover();
  }

  #failDisk(random: RandomStream): void {
    const { timeline } = this.#parts;
    const kind = random.pick(['full', 'failing', 'locked', 'locked'] as const);
    const ms = random.pick([500, 5_000, 20_000, 40_000]);
    if (kind !== 'locked' || ms > lockWaitMs) this.#availability.disturb(ms);
    this.#disk.fail(kind, random);
    timeline.after(ms, () => this.#disk.recover());
  }

  #noteWait(ms: number): void {
    const { goals, settings } = this.#parts;
    if (ms > settings.leaseMs) goals.reach('written after the file was locked for longer than a lease');
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
