// The store of a storm, the URLs to reach it, and the faults that only the store can have.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { RandomStream } from '../sim/random-streams.ts';
import { TestPostgres } from '../support/postgres.ts';
import { openProxy } from '../support/proxy.ts';

export interface StoreFixture extends AsyncDisposable {
  readonly name: 'PostgreSQL' | 'SQLite';
  readonly folder: string;
  /** For instances and clients: their connections can be cut. */
  readonly url: string;
  /** For checks: bypasses the proxy. */
  readonly directUrl: string;
  readonly storeFaults: readonly StoreFault[];
  /** The result of the integrity check of the database. */
  damage(): Promise<string[]>;
}

/** `random` decides details of the faults. */
export type OpenFixture = (random: RandomStream) => Promise<StoreFixture>;

/** A repeatable fault of the store. */
export interface StoreFault {
  readonly name: 'crashes' | 'cuts';
  inject(): Promise<void> | void;
  count(): number;
}

export async function sqliteFixture(): Promise<StoreFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-storm-'));
  const path = join(folder, 'jobs.db');
  const url = `sqlite:${path}`;
  return {
    name: 'SQLite',
    folder,
    url,
    directUrl: url,
    storeFaults: [],
    damage: async () => damageOf(path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The errors of PRAGMA integrity_check. */
export function damageOf(path: string): string[] {
  const db = new DatabaseSync(path);
  try {
    const found = db.prepare('PRAGMA integrity_check').all().map((row) => String(Object.values(row)[0]));
    return found.filter((line) => line !== 'ok');
  } finally {
    db.close();
  }
}

export async function postgresFixture(random: RandomStream): Promise<StoreFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-storm-'));
  const postgres = await TestPostgres.create();
  await checkIsOwn(postgres);
  const proxy = await openProxy(postgres.url);
  let crashes = 0;
  const crash: StoreFault = {
    name: 'crashes',
    // SIGQUIT is an immediate shutdown; SIGKILL ends the postmaster between two instructions.
    inject: async () => {
      await postgres.kill(random.isTrue(0.5) ? 'SIGQUIT' : 'SIGKILL');
      crashes += 1;
      await postgres.start();
    },
    count: () => crashes,
  };
  const cut: StoreFault = {
    name: 'cuts',
    inject: () => (random.isTrue(0.5) ? proxy.loseAnswerTo('commit\0') : proxy.loseRequest('commit\0')),
    count: () => proxy.lost(),
  };
  return {
    name: 'PostgreSQL',
    folder,
    url: proxy.url,
    directUrl: postgres.url,
    storeFaults: [crash, cut],
    damage: async () => [],
    [Symbol.asyncDispose]: async () => {
      proxy.close();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Another server may have taken the free port meanwhile; it must not be killed. */
async function checkIsOwn({ url, folder }: TestPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  await client.end();
  const found = rows[0]?.data_directory;
  if (found === join(folder, 'data')) return;
  throw new Error(`cannot start the storm: the server has its data in ${found}, not in ${folder}`);
}
