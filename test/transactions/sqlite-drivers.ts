// The drivers of SQLite; bun:sqlite, which runs in Bun only, by a class with its methods.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Library, Tx } from './library.ts';

interface Driver {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: SQLInputValue[]): unknown };
  close(): void;
}

/** What of bun:sqlite Stint uses, with the answers that Bun 1.4 gives. */
class BunDatabase implements Driver {
  readonly filename: string;
  readonly #db: DatabaseSync;

  constructor(path: string) {
    this.filename = path;
    this.#db = new DatabaseSync(path, { timeout: 5_000 });
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  close(): void {
    this.#db.close();
  }

  prepare(sql: string) {
    const statement = this.#db.prepare(sql);
    const returning = (isArrays: boolean) => (...values: SQLInputValue[]) => {
      statement.setReturnArrays(isArrays);
      return statement.all(...values);
    };
    return {
      all: returning(false),
      values: returning(true),
      get: (...values: SQLInputValue[]) => returning(false)(...values)[0] ?? null,
      run: (...values: SQLInputValue[]) => statement.run(...values),
    };
  }
}

/** What a connection of better-sqlite3 looks like: refused before it is used, because it endangers the file. */
const better = { open: true, inTransaction: true, prepare: () => {} };

const driver = (name: string, open: (path: string) => Driver): Library => ({
  name,
  async connect(path) {
    const db = open(path);
    const idle = open(path);
    const elsewhere = open(':memory:');
    elsewhere.exec('BEGIN');
    const tx: Tx = {
      handle: db,
      write: async (text) => void db.prepare('INSERT INTO own VALUES(?)').run(text),
      nested: (work) => between(db, ['SAVEPOINT own', 'RELEASE own', 'ROLLBACK TO own'], () => work(tx)),
    };
    return {
      wrong: { 'a connection without one': idle, 'a database in memory': elsewhere, 'its own copy of SQLite': better },
      transaction: (work) => between(db, ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'], () => work(tx)),
      close: async () => [db, idle, elsewhere].forEach((one) => one.close()),
    };
  },
});

async function between(
  db: Driver,
  [begin, commit, rollback]: readonly [string, string, string],
  work: () => Promise<void>,
): Promise<void> {
  db.exec(begin);
  try {
    await work();
  } catch (error) {
    db.exec(rollback);
    throw error;
  }
  db.exec(commit);
}

export const sqliteDrivers: readonly Library[] = [
  driver('node:sqlite with 64-bit numbers', (path) => new DatabaseSync(path, { timeout: 5_000, readBigInts: true })),
  driver('the methods of bun:sqlite', (path) => new BunDatabase(path)),
];
