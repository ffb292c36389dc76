/** SQLite: a folder of its own below the temporary one, and a file in it for each ground. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Side } from '../contender.ts';
import type { Engine, Filling, Ground } from '../engine.ts';

export class SqliteEngine implements Engine {
  readonly name = 'sqlite';
  readonly about = `SQLite ${process.versions['sqlite']}, WAL, synchronous=FULL`;
  readonly #folder = mkdtempSync(join(tmpdir(), 'stint-bench-'));
  #grounds = 0;

  async ground(side: Side, isHeard: boolean): Promise<Ground> {
    this.#grounds += 1;
    const occupants: DatabaseSync[] = [];
    const path = join(this.#folder, `${this.#grounds}-${side}.db`);
    return {
      place: { engine: 'sqlite', side, at: path, isHeard },
      serverCpuUs: () => null,
      fill: async (filling) => withFile(path, (db) => fill(db, filling)),
      occupy: async () => void occupants.push(occupantOf(path)),
      rest: async () => withFile(path, (db) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
      remove: async () => {
        for (const db of occupants) db.close();
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

function occupantOf(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec('BEGIN');
  db.prepare('SELECT count(*) FROM sqlite_schema').get();
  return db;
}

/** Small enough for the log to be emptied in between. */
const rowsAtOnce = 50_000;

function fill(db: DatabaseSync, { table, sample, count, first, types }: Filling): void {
  // Nothing here is measured, and the next commit that waits for the disk takes this along.
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
