// PostgreSQL as the backing of a simulation: each process has the adapter itself, with a simulated driver, and all of them
// reach one simulated server.
import pg from 'pg';
import { PostgresStore } from '../../../src/store/postgres/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { Availability } from '../availability.ts';
import type { Backing, BackingFault } from '../backing.ts';
import { countEffects, createEffects, type Effects } from '../completing.ts';
import { StoreMonitor } from '../monitor.ts';
import type { SimProcess } from '../process.ts';
import type { RandomStream, RandomStreams } from '../random-streams.ts';
import { Setbacks } from '../setbacks.ts';
import { StoreClock, type BackingParts } from '../sqlite-backing.ts';
import type { Backend } from './backend.ts';
import { clientClassOf, type Lines, type SimulatedClient } from './client.ts';
import { CommitReader } from './commit-reader.ts';
import { LineFaults } from './line-faults.ts';
import { poolClassOf } from './pool.ts';
import { SimulatedServer } from './server.ts';

export interface PostgresBackingParts extends BackingParts {
  readonly url: string;
  readonly streams: RandomStreams;
  /** Whether a standby takes over, again and again. */
  readonly hasFailovers: boolean;
}

/** Few connections, so that calls wait for one. */
const connectionsMax = 4;
/** The adapter retries for 15 s. Its last try begins within this time, and may take a while. */
const refusedAfterMs = 25_000;
/** What the disk refuses is not tried again by the adapter. The answer may take a while. */
const diskAfterMs = 5_000;

export class PostgresBacking implements Backing {
  readonly store: Store;
  readonly monitor: StoreMonitor;
  readonly #parts: PostgresBackingParts;
  readonly #server: SimulatedServer;
  readonly #reader: CommitReader;
  readonly #lines = new Map<SimProcess, Lines>();
  readonly #availability: Availability;
  readonly #setbacks: Setbacks;
  readonly faults: readonly BackingFault[];
  #endJam: () => void = () => {};

  private constructor(
    parts: PostgresBackingParts, server: SimulatedServer, store: Store, monitor: StoreMonitor, reader: CommitReader,
  ) {
    this.#parts = parts;
    this.#server = server;
    this.store = store;
    this.monitor = monitor;
    this.#reader = reader;
    this.#availability = new Availability(parts.timeline, parts.onViolation, refusedAfterMs);
    this.#setbacks = new Setbacks(parts.goals);
    this.faults = [
      { kind: 'break', everyMs: 2 * minute, inject: (random) => this.#eachLineOf(random, (line) => line.break()) },
      { kind: 'silence', everyMs: 3 * minute, inject: (random) => this.#eachLineOf(random, (line) => line.fallSilent()) },
      { kind: 'jam', everyMs: 8 * minute, inject: (random) => this.#jam(random.pick([1_000, 10_000, 40_000, 90_000])) },
      ...(parts.hasDiskTrouble ? [{ kind: 'disk', everyMs: 40_000, inject: (random: RandomStream) => this.#failDisk(random) }] : []),
      ...(parts.hasFailovers ? [{ kind: 'failover', everyMs: 30_000, inject: (random: RandomStream) => this.#failOver(random) }] : []),
    ];
    server.onCommit = (texts, since) => reader.read(texts, since);
  }

  /** The database has Stint's schema and no jobs. */
  static async on(parts: PostgresBackingParts): Promise<PostgresBacking> {
    const { url, timeline, limits, goals, batches, onViolation, onClaimed } = parts;
    const server = await SimulatedServer.on(url, timeline);
    const store = new PostgresStore(url, { clock: new StoreClock(() => server.now()), notify: false });
    const monitor = new StoreMonitor({ store, limits, goals, batches, onViolation, onClaimed, isReading: true });
    return new PostgresBacking(parts, server, store, monitor, await CommitReader.on(url, store, monitor, server));
  }

  storeOf(process: SimProcess): Store {
    const { url, streams, faults, settings, goals, crash } = this.#parts;
    const lines: Lines = new Set();
    this.#lines.set(process, lines);
    process.onDeath(() => this.#lines.delete(process));
    const lineFaults = new LineFaults(faults, settings, process.name, streams.stream(`line of ${process.name}`),
      () => this.#availability.recordLineFault(process));
    const Client = clientClassOf({
      server: this.#server, process, faults: lineFaults, onDeadlyReply: crash,
      onUnknownOutcome: () => goals.reach('commit unknown, then tried again'),
      onDiskRefusal: () => this.#setbacks.meet(process, 'refused by the disk, then written'),
      onWritten: () => this.#setbacks.overcome(process),
    }, lines);
    const random: RandomStream = streams.stream(`driver of ${process.name}`);
    const driver = { Client, Pool: poolClassOf(process.clock), hasSockets: false, clock: process.clock, random };
    return this.#availability.judged(new PostgresStore(url, { max: connectionsMax }, driver), process);
  }

  goDown(ms: number): void {
    const { timeline } = this.#parts;
    this.#availability.disturb(ms);
    timeline.after(0, () => this.#server.goDown());
    timeline.after(ms, () => {
      this.#server.isDown = false;
    });
  }

  jump(ms: number): void {
    this.#server.offsetMs += ms;
  }

  notePause(process: SimProcess, ms: number): void {
    this.#availability.disturb(ms, process);
  }

  async createEffects(): Promise<void> {
    await this.#reader.query(createEffects);
  }

  readEffects(): Promise<readonly Effects[]> {
    return this.#reader.query<Effects>(countEffects);
  }

  /** The lines of about half of the processes carry nothing any more, and nobody tells them. */
  silenceSome(random: RandomStream): void {
    for (const lines of this.#lines.values()) if (random.isTrue(0.5)) for (const line of lines) line.fallSilent();
  }

  /** Store time. */
  now(): number {
    return this.#server.now();
  }

  heal(): void {
    this.#server.isDown = false;
    this.#server.disk.recover();
    if (this.#server.awaitsStandby) this.#parts.timeline.after(0, () => this.#takeOver(this.#parts.streams.stream('last failover'), 0));
    this.#endJam();
  }

  /** Opens a transaction in another database of the same server; returns the function that ends it. */
  async beginElsewhere(): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: new URL('/postgres', this.#parts.url).href });
    await client.connect();
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    return () => client.end();
  }

  /** How many calls were refused as unavailable, each with a fault as its reason. */
  get refusals(): number {
    return this.#availability.refusals;
  }

  get statements(): number {
    return this.#server.statements;
  }

  async close(): Promise<void> {
    try {
      await this.#server.close();
    } finally {
      await this.#reader.close();
      await this.store.close();
    }
  }

  /** All lines of a process, or one of them. */
  #eachLineOf(random: RandomStream, disturb: (line: SimulatedClient) => void): void {
    const process = random.pick([...this.#lines.keys()]);
    const open = [...this.#lines.get(process)!].filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    this.#availability.recordLineFault(process);
    for (const line of random.isTrue(0.5) ? open : [random.pick(open)]) disturb(line);
  }

  #failDisk(random: RandomStream): void {
    const [kind, ms] = [random.pick(['full', 'full', 'failing'] as const), random.pick([1_000, 5_000, 20_000, 45_000])];
    this.#availability.disturb(ms, null, diskAfterMs);
    this.#server.disk.fail(kind, random);
    this.#parts.timeline.after(ms, () => this.#server.disk.recover());
  }

  /** For a moment the standby gets nothing any more. Then it takes over, without the commits that wait for it. */
  #failOver(random: RandomStream): void {
    const { timeline } = this.#parts;
    const [cutMs, downMs] = [random.between(20, 1_500), random.pick([100, 2_000, 10_000, 25_000])];
    this.#availability.disturb(cutMs + downMs);
    this.#server.awaitsStandby = true;
    timeline.after(cutMs, async () => {
      if (this.#server.awaitsStandby) await this.#takeOver(random, downMs);
    });
  }

  /** Some processes learn that their lines are broken; the other lines carry nothing any more. */
  async #takeOver(random: RandomStream, downMs: number): Promise<void> {
    for (const [process, lines] of this.#lines) {
      for (const line of lines) {
        if (line.hasHeldCommit) this.#setbacks.meet(process, 'commit lost in a failover, then made again');
        if (random.isTrue(0.5)) line.break();
        else line.fallSilent();
      }
      this.#availability.recordLineFault(process);
    }
    await this.#server.failOver();
    this.#server.offsetMs += this.#clockDifferenceMs(random, downMs);
    this.#parts.timeline.after(downMs, () => {
      this.#server.isDown = false;
    });
  }

  /** How far the clock of the standby is ahead. Store time decreases only where it jumps anyway. */
  #clockDifferenceMs(random: RandomStream, downMs: number): number {
    const jumps = this.#parts.settings.storeJumpEveryMs !== Infinity;
    return jumps ? random.pick([-minute, -2_000, 2_000, minute]) : random.integer(-Math.min(downMs, 200), 200);
  }

  /** Somebody else holds a lock of the jobs: statements hang, longer than a lease or than the adapter allows. */
  #jam(ms: number): void {
    const { timeline } = this.#parts;
    this.#availability.disturb(ms);
    let other: Backend | null = null;
    timeline.after(0, async () => {
      if (this.#server.isDown) return;
      other = await this.#server.connect({});
      await this.#server.execute(other, { text: 'begin' }, () => {});
      await this.#server.execute(other, { text: 'lock table stint.job in exclusive mode' }, () => {});
    });
    const end = (): void => void timeline.after(1, async () => {
      if (other) await this.#server.terminate(other);
    });
    this.#endJam = end;
    timeline.after(ms, end);
  }
}

const minute = 60_000;
