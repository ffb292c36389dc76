// Tables of the application in the database of the jobs. A row that is written together with a run exists if and only
// if
// the run does, and a row that a handler writes under the key of its job exists once.
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { isRefusal } from '../../src/refusal.ts';

export interface OwnRow {
  readonly key: string;
  readonly job: number;
  readonly fence: number;
}

/** Works in the transaction, and returns the row to write. */
export type Work = (transaction: unknown) => Promise<OwnRow>;

export interface OwnTables {
  create(): Promise<void>;
  /** Executes `work` and inserts its row in one transaction. Rolls back if the key exists. */
  write(table: OwnTable, work: Work, how?: 'commit' | 'rollback'): Promise<void>;
  rows(table: OwnTable): Promise<OwnRow[]>;
  close(): Promise<void>;
}

/** The server or the connection was down: the outcome of the transaction is unknown. */
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
    // A connection has only one transaction at a time.
    write: (...args) => {
      const written = last.then(() => write(...args));
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
  // A running query fails with its own rejection.
  pool.on('error', () => {}).on('connect', (client) => void client.on('error', () => {}));
  return {
    create: async () => void (await pool.query(`create table orders(${columns}); create table effects(${columns})`)),
    write: async (table, work, how = 'commit') => {
      const client = await pool.connect().catch(outage);
      let isDone = false;
      try {
        await client.query('begin');
        const { key, job, fence } = await work(client);
        const insert = `insert into ${table} values ($1, $2, $3) on conflict do nothing`;
        const { rowCount } = await client.query(insert, [key, job, fence]);
        await client.query(rowCount === 1 ? how : 'rollback');
        isDone = true;
      } catch (error) {
        outage(error);
      } finally {
        client.release(!isDone); // destroys a connection in an unknown state
      }
    },
    rows: async (table) => {
      const { rows } = await pool.query<{ key: string; job: string; fence: string }>(`select * from ${table}`);
      return rows.map(({ key, job, fence }) => ({ key, job: Number(job), fence: Number(fence) }));
    },
    close: () => pool.end(),
  };
}

/** Everything except refusals and SQL errors (SQLSTATE 22, 23, 42) is an outage. */
function outage(error: unknown): never {
  const isMistake = /^(22|23|42)/.test(String((error as { readonly code?: unknown }).code));
  throw isRefusal(error) || isMistake ? error : new Outage('the connection to the database was lost', { cause: error });
}
