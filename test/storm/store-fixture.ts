// The ground of a storm: a store of its own, the ways to reach it, and the troubles that only it can have.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Stream } from '../sim/draws.ts';
import { TestPostgres } from '../support/postgres.ts';
import { openProxy } from '../support/proxy.ts';

export interface Ground extends AsyncDisposable {
  readonly name: 'PostgreSQL' | 'SQLite';
  readonly folder: string;
  /** How members and clients reach the store: they may be cut off. */
  readonly url: string;
  /** How the judge does. */
  readonly directUrl: string;
  readonly troubles: readonly Trouble[];
  /** What the store itself finds wrong with its files. */
  damage(): Promise<string[]>;
}

/** `dice`: for what chance decides. */
export type GroundOf = (dice: Stream) => Promise<Ground>;

/** Something that can be done to the store again and again. */
export interface Trouble {
  readonly name: 'crashes' | 'cuts';
  happen(): Promise<void> | void;
  count(): number;
}

export async function sqliteGround(): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-storm-'));
  const path = join(folder, 'jobs.db');
  const url = `sqlite:${path}`;
  return {
    name: 'SQLite',
    folder,
    url,
    directUrl: url,
    troubles: [],
    damage: async () => damageOf(path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What SQLite finds wrong with a file. */
export function damageOf(path: string): string[] {
  const db = new DatabaseSync(path);
  try {
    const found = db.prepare('PRAGMA integrity_check').all().map((row) => String(Object.values(row)[0]));
    return found.filter((line) => line !== 'ok');
  } finally {
    db.close();
  }
}

export async function postgresGround(dice: Stream): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-storm-'));
  const postgres = await TestPostgres.create();
  await checkIsOwn(postgres);
  const proxy = await openProxy(postgres.url);
  let crashes = 0;
  const crash: Trouble = {
    name: 'crashes',
    // An immediate shutdown, or the postmaster is gone between two instructions.
    happen: async () => {
      await postgres.kill(dice.isTrue(0.5) ? 'SIGQUIT' : 'SIGKILL');
      crashes += 1;
      await postgres.start();
    },
    count: () => crashes,
  };
  const cut: Trouble = {
    name: 'cuts',
    happen: () => (dice.isTrue(0.5) ? proxy.loseAnswerTo('commit\0') : proxy.loseRequest('commit\0')),
    count: () => proxy.lost(),
  };
  return {
    name: 'PostgreSQL',
    folder,
    url: proxy.url,
    directUrl: postgres.url,
    troubles: [crash, cut],
    damage: async () => [],
    [Symbol.asyncDispose]: async () => {
      proxy.close();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A free port may have been taken by another server meanwhile, and that one is not ours to kill. */
async function checkIsOwn({ url, folder }: TestPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  await client.end();
  const found = rows[0]?.data_directory;
  if (found === join(folder, 'data')) return;
  throw new Error(`cannot begin: the server has its data in ${found}, not in ${folder}`);
}
