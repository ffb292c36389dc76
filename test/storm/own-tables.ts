// The application's own tables, in the database that also holds the jobs: what is written there together with a run is
// there if and only if the run is, and what a handler writes under its job's key is there once.
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { isRefusal } from '../../src/refusal.ts';

export interface OwnRow {
  readonly key: string;
  readonly job: number;
  readonly fence: number;
}

/** Does its part in the transaction, and says which row is to be written. */
export type Work = (transaction: unknown) => Promise<OwnRow>;

export interface OwnTables {
  create(): Promise<void>;
  /** One transaction: what `work` does with it, and one row. A row whose key is there already takes it all back. */
  write(table: OwnTable, work: Work, how?: 'commit' | 'rollback'): Promise<void>;
  rows(table: OwnTable): Promise<OwnRow[]>;
  close(): Promise<void>;
}

/** The server was away, or the line to it was cut: nobody knows whether it was written. */
export class Outage extends Error {}

export type OwnTable = 'orders' | 'effects';

export const openOwnTables = (url: string): OwnTables => (url.startsWith('sqlite:') ? inSqlite(url) : inPostgres(url));

const columns = 'key text primary key, job bigint not null, fence bigint not null';

function inSqlite(url: string): OwnTables {
  const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 10_000 });
  const write: OwnTables['write'] = async (table, work, how = 'commit') => {
    db.exec('begin immediate');
    let end: string = 'rollback';
    try {
      const { key, job, fence } = await work(db);
      const insert = db.prepare(`insert into ${table} values (?, ?, ?) on conflict do nothing`);
      const { changes } = insert.run(key, job, fence);
      if (changes === 1) end = how;
    } finally {
      db.exec(end);
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    create: async () => db.exec(`create table orders(${columns}); create table effects(${columns})`),
    // A connection has one transaction at a time.
    write: (...said) => {
      const written = last.then(() => write(...said));
      last = written.catch(() => {});
      return written;
    },
    rows: async (table) =>
      db.prepare(`select key, job, fence from ${table}`).all().map(({ key, job, fence }) =>
        ({ key: String(key), job: Number(job), fence: Number(fence) })),
    close: async () => db.close(),
  };
}

function inPostgres(url: string): OwnTables {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 10_000, query_timeout: 20_000 });
  // A query under way is told by its own rejection.
  pool.on('error', () => {}).on('connect', (client) => void client.on('error', () => {}));
  return {
    create: async () => void (await pool.query(`create table orders(${columns}); create table effects(${columns})`)),
    write: async (table, work, how = 'commit') => {
      const client = await pool.connect().catch(outage);
      let isOver = false;
      try {
        await client.query('begin');
        const { key, job, fence } = await work(client);
        const insert = `insert into ${table} values ($1, $2, $3) on conflict do nothing`;
        const { rowCount } = await client.query(insert, [key, job, fence]);
        await client.query(rowCount === 1 ? how : 'rollback');
        isOver = true;
      } catch (error) {
        outage(error);
      } finally {
        client.release(!isOver); // a connection of which nobody knows where it stands is not used again
      }
    },
    rows: async (table) => {
      const { rows } = await pool.query<{ key: string; job: string; fence: string }>(`select * from ${table}`);
      return rows.map(({ key, job, fence }) => ({ key, job: Number(job), fence: Number(fence) }));
    },
    close: () => pool.end(),
  };
}

/** Anything but a refusal or a mistake in a statement. */
function outage(error: unknown): never {
  const isMistake = /^(22|23|42)/.test(String((error as { readonly code?: unknown }).code));
  throw isRefusal(error) || isMistake ? error : new Outage('the line to the database was lost', { cause: error });
}
