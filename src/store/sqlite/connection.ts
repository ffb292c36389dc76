/**
 * The connection to a SQLite file: settings, prepared statements, and write transactions that do not block the event
 * loop.
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { systemRandom } from '../../random.ts';
import { Refusal } from '../../refusal.ts';
import { systemClock } from '../../time/clock.ts';
import { Batcher } from '../batcher.ts';

export type Durability = 'full' | 'normal';

/** SQLite's busy timeout blocks the process, so it is short; after it, `#begin` sleeps and tries again. */
const busyWaitMs = 3;
const writeWaitMaxMs = 30_000;

export function openFile(path: string, durability: Durability): Connection {
  if (path !== ':memory:') makePrivate(path);
  const db = new DatabaseSync(path, { timeout: busyWaitMs });
  // The rollback data of a large commit goes to a file (temp_store is the default): in memory it would be as large as
  // the commit.
  db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${durability}; PRAGMA cache_size=-16384`);
  // Checkpoint every 64 MB of WAL: pages of a queue are rewritten often (LEDGER: CPU of a drained job × 0.8).
  db.exec('PRAGMA wal_autocheckpoint=16000');
  return new Connection(db);
}

/** Writes the items of one transaction together; answers for each. */
export type WriteTogether<Item, Answer> = (items: readonly Item[]) => readonly Answer[];

interface QueuedWrite {
  readonly write: WriteTogether<unknown, unknown>;
  readonly item: unknown;
}

export class Connection {
  readonly db: DatabaseSync;
  readonly #statements = { objects: new Map<string, StatementSync>(), arrays: new Map<string, StatementSync>() };
  /** The number of committed transactions. */
  commits = 0;
  readonly #batcher = new Batcher<QueuedWrite, unknown>((take) => this.#runInTransaction(take), {
    runningMax: 1,
    isBlocking: true,
  });

  constructor(db: DatabaseSync) {
    this.db = db;
  }

  all<Row extends object>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** Rows as arrays: node:sqlite makes each row object a dictionary, at twice the cost. */
  arrays(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][] {
    return this.#prepared(sql, 'arrays').all(...values) as unknown as SQLOutputValue[][];
  }

  get<Row extends object>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /**
   * Runs `work` in a write transaction, which it shares with other works that are waiting. It is synchronous, so
   * nothing else of this process runs in between.
   */
  write<T>(work: () => T): Promise<T> {
    return this.writeTogether(() => [work()], null);
  }

  /** The same for one item; `write` gets all waiting items for which the same function was passed. */
  writeTogether<Item, Answer>(write: WriteTogether<Item, Answer>, item: Item): Promise<Answer> {
    return this.#batcher.add({ write: write as QueuedWrite['write'], item }) as Promise<Answer>;
  }

  /** Runs `work` in a savepoint, and rolls back to it if `work` returns false or throws. Only inside a transaction. */
  allOrNothing(work: () => boolean): boolean {
    this.db.exec('SAVEPOINT whole');
    let isComplete = false;
    try {
      isComplete = work();
      return isComplete;
    } finally {
      this.db.exec(isComplete ? 'RELEASE whole' : 'ROLLBACK TO whole; RELEASE whole');
    }
  }

  close(): void {
    for (const statements of Object.values(this.#statements)) statements.clear();
    if (this.db.isOpen) this.db.close();
  }

  async #runInTransaction(take: () => readonly QueuedWrite[]): Promise<unknown[]> {
    await this.#begin();
    try {
      const answers = runAll(take());
      this.db.exec('COMMIT');
      this.commits += 1;
      return answers;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const start = systemClock.monotonic();
    for (;;) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || systemClock.monotonic() - start > writeWaitMaxMs) throw unavailable(error);
        await systemClock.sleep(1 + systemRandom.next() * 6);
      }
    }
  }

  #prepared(sql: string, form: 'objects' | 'arrays' = 'objects'): StatementSync {
    const known = this.#statements[form].get(sql);
    if (known) return known;
    const statement = this.db.prepare(sql);
    statement.setReturnArrays(form === 'arrays');
    this.#statements[form].set(sql, statement);
    return statement;
  }
}

function runAll(queued: readonly QueuedWrite[]): unknown[] {
  const answers: unknown[] = Array(queued.length);
  for (const [write, indexes] of Map.groupBy(queued.keys(), (index) => queued[index]!.write)) {
    const some = write(indexes.map((index) => queued[index]!.item));
    indexes.forEach((index, at) => (answers[index] = some[at]));
  }
  return answers;
}

/** Only the user can access the folder and the file: payloads may be secret. */
function makePrivate(path: string): void {
  const folder = dirname(path);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(path)) new DatabaseSync(path).close();
  try {
    chmodSync(path, 0o600);
  } catch {
    // The file belongs to another user, who may have given access.
  }
}

const busyCodes = new Set([5, 6]);

const isBusy = (error: unknown): boolean => {
  const code = (error as { errcode?: number }).errcode;
  return code !== undefined && busyCodes.has(code & 0xff);
};

const unavailable = (error: unknown): unknown =>
  isBusy(error)
    ? new Refusal('unavailable.store', `the database file stayed locked for ${writeWaitMaxMs / 1000} s: see which process holds it`)
    : error;
