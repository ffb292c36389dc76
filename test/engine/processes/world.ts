// A world of its own for each test: a store, a ledger, and instances in processes that can be killed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Engine } from '../../../src/index.ts';
import { migratedDatabase } from '../../support/fresh-database.ts';
import { realLeaseMs, waitMs } from '../../support/patience.ts';
import { bySize, isOfRun } from '../../support/size.ts';
import type { InstanceOptions } from './children/instance.ts';
import type { Entry } from './children/ledger.ts';
import { Member } from './member.ts';

export interface StoreKind {
  readonly name: string;
  urlIn(folder: string): Promise<string>;
  /** The number of staged children. */
  staged(url: string): Promise<number>;
  /** Whether a process is in the middle of a write that keeps all others from writing. */
  isLocked(url: string): boolean;
}

export const storeKinds: readonly StoreKind[] = [
  {
    name: 'SQLite',
    urlIn: async (folder) => `sqlite:${join(folder, 'jobs.db')}`,
    staged: stagedInSqlite,
    isLocked: isSqliteLocked,
  },
  { name: 'PostgreSQL', urlIn: () => migratedDatabase(), staged: stagedInPostgres, isLocked: () => false },
];

/** For tests of the engine alone: in npm test PostgreSQL, where instances have most ways to meet; in the proof SQLite. */
export const storeKindsOfRun = storeKinds.filter(({ name }) => isOfRun(name === 'PostgreSQL'));

/** For those of them that are larger in the proof: there on both. */
export const storeKindsOfSize = storeKinds.filter(({ name }) => bySize({ small: name === 'PostgreSQL', ci: true }));

const sqliteBusy = 5;
const openSqlite = (url: string): DatabaseSync => new DatabaseSync(url.slice('sqlite:'.length));

async function stagedInSqlite(url: string): Promise<number> {
  const db = openSqlite(url);
  const row = db.prepare('SELECT coalesce(sum(count), 0) count FROM staged_piece').get() as { count: number };
  db.close();
  return row.count;
}

function isSqliteLocked(url: string): boolean {
  const db = openSqlite(url);
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw error;
    return true;
  } finally {
    db.close();
  }
}

async function stagedInPostgres(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>('select coalesce(sum(count), 0) as count from stint.staged');
  await client.end();
  return Number(rows[0]!.count);
}

export const leaseMs = realLeaseMs;

const lookMs = 20;
/** The signal reaches a thread when it leaves the kernel, where it may be writing to the disk. */
const untilStoppedMs = 100;

export class World implements AsyncDisposable {
  readonly url: string;
  /** Creates runs and asks about them; it runs none. */
  readonly engine: Engine;
  readonly #kind: StoreKind;
  readonly #folder: string;
  readonly #members: Member[] = [];

  private constructor(kind: StoreKind, folder: string, url: string) {
    this.#kind = kind;
    this.#folder = folder;
    this.url = url;
    this.engine = new Engine({ store: url, instance: 'tester' });
  }

  static async create(kind: StoreKind): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'stint-world-'));
    const world = new World(kind, folder, await kind.urlIn(folder));
    await world.engine.ready();
    return world;
  }

  /** Starts an instance and waits until it works. */
  async start(jobs: string, instance: string, options: Partial<InstanceOptions> = {}): Promise<Member> {
    const member = this.launch(jobs, instance, options);
    await this.until(`${instance} to be ready`, () => {
      const { hasExited } = member; // read first: it may write its entry and exit in between
      const ready = this.entries({ what: 'ready', pid: member.pid })[0];
      if (ready === undefined && hasExited) throw new Error(`${instance} exited before it was ready\n${this.#story()}`);
      return ready;
    });
    return member;
  }

  /** Starts an instance without waiting for it. */
  launch(jobs: string, instance: string, options: Partial<InstanceOptions> = {}): Member {
    const defaults = { lease: `${leaseMs}ms`, slots: 4 } as const;
    const member = new Member({ ...defaults, ...options, url: this.url, jobs, instance }, this.#ledger);
    this.#members.push(member);
    return member;
  }

  /** Starts several at the same time. */
  startAll(jobs: string, instances: readonly string[], options: Partial<InstanceOptions> = {}): Promise<Member[]> {
    return Promise.all(instances.map((instance) => this.start(jobs, instance, options)));
  }

  /** Stops a process where it stands, though not in the middle of a write: no other could write before it goes on. */
  async freeze(member: Member): Promise<void> {
    for (;;) {
      member.signal('SIGSTOP');
      await sleep(untilStoppedMs);
      if (!this.#kind.isLocked(this.url)) return;
      member.signal('SIGCONT');
      await sleep(lookMs);
    }
  }

  entries(match: Partial<Entry> = {}): Entry[] {
    const text = existsSync(this.#ledger) ? readFileSync(this.#ledger, 'utf8') : '';
    const whole = text.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Entry);
    return whole.filter((entry) => Object.entries(match).every(([name, value]) => entry[name] === value));
  }

  /** The first entry that matches, as soon as there is one. */
  entry(match: Partial<Entry>): Promise<Entry> {
    return this.until(`an entry like ${JSON.stringify(match)}`, () => this.entries(match)[0]);
  }

  /** Looks until there is something. */
  async until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
    for (const start = performance.now(); performance.now() - start < waitMs; await sleep(lookMs)) {
      const found = await look();
      if (found !== undefined && found !== null && found !== false) return found;
    }
    throw new Error(`waited in vain for ${what}\n${this.#story()}`);
  }

  /** Lets handlers through that wait at this gate. */
  open(gate: string): void {
    writeFileSync(`${this.#ledger}.${gate}`, '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((member) => member.end('SIGKILL')));
    await this.engine.jobs.store.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #ledger(): string {
    return join(this.#folder, 'ledger');
  }

  #story(): string {
    const said = this.#members.map(({ instance, output }) => `${instance} said: ${output.slice(-4_000)}`);
    return [...this.entries().map((entry) => JSON.stringify(entry)), ...said].join('\n').slice(-8_000);
  }
}
