// Every store there is, to run one example on all of them: each world has a store of its own and a clock that we move.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { PostgresStore } from '../../src/store/postgres/store.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { systemClock, type Clock } from '../../src/time/clock.ts';
import { migratedDatabase } from './fresh-database.ts';
import { nothingOpen } from './nothing-open.ts';
import { bySize } from './size.ts';

/** A way to an empty, migrated store. */
export interface StoreKind {
  readonly name: string;
  open(clock: Clock): Promise<OpenStore>;
}

export interface OpenStore {
  readonly store: Store;
  /** A second connection to the same data. */
  again(): Promise<Store>;
  /** Begins a transaction of the caller's own on the same data; left out: the store takes part in none. */
  begin?(): Promise<CallersTransaction>;
  close(): Promise<void>;
}

export interface CallersTransaction {
  /** What `within` takes. */
  readonly transaction: unknown;
  /** Something of the caller's own, to see that it shares the fate of the jobs. */
  write(text: string): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

const memory: StoreKind = {
  name: 'memory',
  async open(clock) {
    const store = new MemoryStore(clock);
    return { store, again: async () => store, close: () => store.close() };
  },
};

const sqlite: StoreKind = {
  name: 'SQLite',
  async open(clock) {
    const folder = await mkdtemp(join(tmpdir(), 'stint-test-'));
    const path = join(folder, 'jobs.db');
    await writeFile(path, await migratedFile());
    const opened: Store[] = [];
    const again = async (): Promise<Store> => {
      const store = new SqliteStore(path, { clock, durability: 'normal' });
      opened.push(store);
      return store;
    };
    return {
      store: await again(),
      again,
      begin: async () => beginSqlite(path),
      close: async () => {
        for (const each of opened) await each.close();
        await rm(folder, { recursive: true });
      },
    };
  },
};

let migrated: Promise<Buffer> | undefined;

/** The bytes of an empty store: a copy takes 1 ms of CPU, a migration 5 ms. */
const migratedFile = (): Promise<Buffer> => (migrated ??= makeMigratedFile());

async function makeMigratedFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-test-'));
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path, { durability: 'normal' });
  await store.migrate();
  await store.close();
  const bytes = await readFile(path);
  await rm(folder, { recursive: true });
  return bytes;
}

function beginSqlite(path: string): CallersTransaction {
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE IF NOT EXISTS own(text TEXT)');
  db.exec('BEGIN');
  const end = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    db.exec(how);
    db.close();
  };
  return {
    transaction: db,
    write: async (text) => void db.prepare('INSERT INTO own(text) VALUES(?)').run(text),
    commit: () => end('COMMIT'),
    rollback: () => end('ROLLBACK'),
  };
}

const postgres: StoreKind = {
  name: 'PostgreSQL',
  async open(clock) {
    const database = emptied.pop() ?? (await newDatabase());
    const { url, client } = database;
    const opened: PostgresStore[] = [];
    let transactions = 0;
    const again = async (): Promise<Store> => {
      // Real time is the server's own: one that is read here grows old on its way there.
      const standIn = clock === systemClock ? {} : { clock };
      const store = new PostgresStore(url, { ...standIn, schema, max: connectionsMax });
      opened.push(store);
      return withPromptFeed(store, async () => {
        if (transactions === 0) await nothingOpen(client);
      });
    };
    return {
      store: await again(),
      again,
      begin: async () => {
        transactions += 1;
        return beginPostgres(url, () => (transactions -= 1));
      },
      close: async () => {
        for (const each of opened) await each.close();
        await empty(database);
        emptied.push(database);
      },
    };
  },
};

/** Few, because each plans its statements anew: of four, planning took a fifth of the CPU of the conformance suite. */
const connectionsMax = 2;

/** Not the default: a statement that names the default schema would fail. */
const schema = 'world';

/** A database for one world at a time; quicker emptied than made. */
interface WorldDatabase {
  readonly url: string;
  /** Stays open: a connection that is used again has read the catalog already. */
  readonly client: pg.Client;
}

const emptied: WorldDatabase[] = [];

async function newDatabase(): Promise<WorldDatabase> {
  const url = await migratedDatabase();
  const client = await connect(url);
  await client.query(`alter schema stint rename to ${schema}`);
  return { url, client };
}

async function empty({ client }: WorldDatabase): Promise<void> {
  const question = `select tablename as name from pg_tables
    where schemaname = $1 and tablename not in ('meta', 'counter')`;
  const { rows } = await client.query<{ name: string }>(question, [schema]);
  const deletions = rows.map(({ name }) => `delete from ${schema}.${name}`);
  await client.query([...deletions, `update ${schema}.counter set value = 0`].join(';'));
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // without a listener, a connection lost would end the process
  await client.connect();
  return client;
}

/**
 * The feed has no events of a transaction while an older one is open, even one of another test on the same server. This
 * waits for those, so that the commits of an example are in the feed immediately.
 */
function withPromptFeed(store: PostgresStore, othersEnd: () => Promise<void>): Store {
  const eventsAfter = store.eventsAfter.bind(store);
  const feedEnd = store.feedEnd.bind(store);
  store.eventsAfter = async (cursor, limit) => {
    await othersEnd();
    return eventsAfter(cursor, limit);
  };
  store.feedEnd = async () => {
    await othersEnd();
    return feedEnd();
  };
  return store;
}

async function beginPostgres(url: string, ended: () => void): Promise<CallersTransaction> {
  const client = await connect(url);
  await client.query(`create table if not exists ${schema}.own (text text)`);
  await client.query('begin');
  const end = async (how: 'commit' | 'rollback'): Promise<void> => {
    await client.query(how);
    await client.end();
    ended();
  };
  return {
    transaction: client,
    write: async (text) => void (await client.query(`insert into ${schema}.own values ($1)`, [text])),
    commit: () => end('commit'),
    rollback: () => end('rollback'),
  };
}

export const stores: readonly StoreKind[] = [memory, sqlite, postgres];

/** For rules above the stores, which the conformance suite checks one by one: in npm test SQLite, in the proof all. */
export const storesOfRun = bySize({ small: [sqlite], ci: stores });
