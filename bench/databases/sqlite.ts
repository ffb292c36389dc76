/** SQLite: a temporary folder with one file for each scratch database. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Side } from '../target.ts';
import type { Database, RowCopies, ScratchDatabase } from '../database.ts';

export class SqliteDatabase implements Database {
  readonly name = 'sqlite';
  readonly about = `SQLite ${process.versions['sqlite']}, WAL, synchronous=FULL`;
  readonly #folder = mkdtempSync(join(tmpdir(), 'stint-bench-'));
  #scratches = 0;

  async createScratch(side: Side, wakesOtherProcesses: boolean): Promise<ScratchDatabase> {
    this.#scratches += 1;
    const idle: DatabaseSync[] = [];
    const path = join(this.#folder, `${this.#scratches}-${side}.db`);
    return {
      address: { database: 'sqlite', side, location: path, wakesOtherProcesses },
      serverCpuUs: () => null,
      copyRows: async (copies) => withFile(path, (db) => copyRows(db, copies)),
      openIdleTransaction: async () => void idle.push(openIdle(path)),
      bytes: async () => statSync(path).size,
      compact: async () => withFile(path, (db) => db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')),
      cleanUp: async () => withFile(path, (db) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
      remove: async () => {
        for (const db of idle) db.close();
        for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
      },
    };
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function withFile(path: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path, { timeout: 30_000 });
  try {
    work(db);
  } finally {
    db.close();
  }
}

function openIdle(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec('BEGIN');
  db.prepare('SELECT count(*) FROM sqlite_schema').get();
  return db;
}

/** Small enough for a WAL checkpoint between two statements. */
const rowsAtOnce = 50_000;

function copyRows(db: DatabaseSync, { table, sample, count, first, types }: RowCopies): void {
  // Copying is not measured. The next commit with synchronous=FULL also syncs these rows.
  db.exec('PRAGMA synchronous=OFF');
  const others = columnsOf(db, table).filter((name) => name !== 'id' && name !== 'type').join(', ');
  const copy = db.prepare(`
    WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n + 1 < ?1)
    INSERT INTO ${table}(id, type, ${others})
    SELECT ?2 + n, ?4 ->> (n % json_array_length(?4)), ${others}
    FROM series, (SELECT ${others} FROM ${table} WHERE type = ?3 LIMIT 1)`);
  for (let done = 0; done < count; done += rowsAtOnce) {
    copy.run(Math.min(rowsAtOnce, count - done), first + done, sample, JSON.stringify(types));
  }
}

const columnsOf = (db: DatabaseSync, table: string): string[] =>
  db.prepare(`SELECT name FROM pragma_table_info(?)`).all(table).map(({ name }) => String(name));
