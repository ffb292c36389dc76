// The databases of the transaction tests: a store, and a table of the caller's own beside it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { PostgresStore } from '../../src/store/postgres/store.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { librariesOfRun } from './library.ts';
import { postgresLibraries } from './postgres-libraries.ts';
import { sqliteDrivers } from './sqlite-drivers.ts';

export interface Place {
  /** What a library connects to. */
  readonly address: string;
  open(): Store;
  /** The rows of the caller's own table. */
  written(): Promise<string[]>;
  close(): Promise<void>;
}

async function onPostgres(): Promise<Place> {
  const address = await migratedDatabase();
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query('create table own(text text)');
  return {
    address,
    open: () => new PostgresStore(address),
    written: async () => (await client.query<{ text: string }>('select text from own')).rows.map(({ text }) => text),
    close: () => client.end(),
  };
}

async function onSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-transactions-'));
  const address = join(folder, 'app.db');
  const db = new DatabaseSync(address);
  db.exec('CREATE TABLE own(text TEXT)');
  return {
    address,
    open: () => new SqliteStore(address),
    written: async () => db.prepare('SELECT text FROM own').all().map(({ text }) => String(text)),
    close: async () => {
      db.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Each database, with the libraries that this run tries on it. */
export const databases = [
  { database: 'PostgreSQL', place: onPostgres, libraries: librariesOfRun(postgresLibraries) },
  { database: 'SQLite', place: onSqlite, libraries: librariesOfRun(sqliteDrivers) },
];
