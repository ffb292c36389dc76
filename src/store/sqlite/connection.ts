/**
 * The connection to a SQLite file: settings, prepared statements, and write transactions that do not block the event
 * loop.
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { systemRandom } from '../../random.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import { systemClock } from '../../time/clock.ts';
import { Batcher } from '../batcher.ts';
import { errorOf, isBusy } from './errors.ts';
import { FileWatch } from './file-watch.ts';
import { sqliteModule } from './module.ts';

export type Durability = 'full' | 'normal';

/** SQLite's busy timeout blocks the process, so it is short; after it, `#begin` sleeps and tries again. */
const busyWaitMs = 3;
const writeWaitMaxMs = 30_000;

/** After this time without a commit the WAL is copied into the file, so that the file alone is nearly complete. */
const idleMs = 1_000;

export interface OpenFileOptions {
  readonly durability: Durability;
  /** Whether a file that does not exist is created. */
  readonly create: boolean;
}

export function openFile(path: string, { durability, create }: OpenFileOptions): Connection {
  const isNew = path !== ':memory:' && !existsSync(path);
  if (isNew && !create) {
    throw new Refusal('unavailable.store', `there is no database file ${path}: check the path, or run stint migrate`, {
      reason: 'the file does not exist',
    });
  }
  try {
    if (create && path !== ':memory:') makePrivate(path);
    return new Connection(openDatabase(path, durability, create), new FileWatch(path));
  } catch (error) {
    throw errorOf(error);
  }
}

/** Without `create` the file keeps its journal mode, which a backup does not share with its original. */
function openDatabase(path: string, durability: Durability, create: boolean): DatabaseSync {
  const db = new (sqliteModule().DatabaseSync)(path, { timeout: busyWaitMs });
  if (create) db.exec('PRAGMA journal_mode=WAL');
  // The rollback data of a large commit goes to a file (temp_store is the default): in memory it would be as large as
  // the commit.
  db.exec(`PRAGMA synchronous=${durability}; PRAGMA cache_size=-16384`);
  // Checkpoint every 64 MB of WAL: pages of a queue are rewritten often (LEDGER: CPU of a drained job × 0.8).
  db.exec('PRAGMA wal_autocheckpoint=16000');
  return db;
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
  /** Called at the start of every write transaction; throws a refusal if nothing may be written. */
  checkBeforeWrite = (): void => {};
  readonly #watch: FileWatch | null;
  readonly #batcher = new Batcher<QueuedWrite, unknown>((take) => this.#runInTransaction(take), {
    runningMax: 1,
    isBlocking: true,
    isForAll,
  });
  #cancelIdle: (() => void) | null = null;
  #commitsAtIdle = 0;

  /** Without a watch, the connection belongs to the caller. */
  constructor(db: DatabaseSync, watch: FileWatch | null = null) {
    this.db = db;
    this.#watch = watch;
  }

  all<Row extends object>(sql: string, ...values: SQLInputValue[]): Row[] {
    try {
      return this.#prepared(sql).all(...values) as Row[];
    } catch (error) {
      throw errorOf(error);
    }
  }

  /** Rows as arrays: node:sqlite makes each row object a dictionary, at twice the cost. */
  arrays(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][] {
    try {
      return this.#prepared(sql, 'arrays').all(...values) as unknown as SQLOutputValue[][];
    } catch (error) {
      throw errorOf(error);
    }
  }

  get<Row extends object>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    try {
      return this.#prepared(sql).get(...values) as Row | undefined;
    } catch (error) {
      throw errorOf(error);
    }
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
    this.#cancelIdle?.();
    for (const statements of Object.values(this.#statements)) statements.clear();
    if (this.db.isOpen) this.db.close();
  }

  async #runInTransaction(take: () => readonly QueuedWrite[]): Promise<unknown[]> {
    if (!this.db.isOpen) throw new Refusal('unavailable.store', 'the store is closed', { reason: 'the store is closed' });
    this.#watch?.check();
    await this.#begin();
    try {
      this.checkBeforeWrite();
      const answers = runAll(take());
      this.db.exec('COMMIT');
      this.commits += 1;
      this.#cancelIdle ??= systemClock.after(idleMs, () => this.#checkpointIfIdle());
      return answers;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw errorOf(error);
    }
  }

  /** Readers keep pages of the WAL: they are copied another time. */
  #checkpointIfIdle(): void {
    const isIdle = this.commits === this.#commitsAtIdle;
    this.#commitsAtIdle = this.commits;
    this.#cancelIdle = isIdle ? null : systemClock.after(idleMs, () => this.#checkpointIfIdle());
    if (!isIdle || this.db.isTransaction) return;
    try {
      this.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The next commit reports what is wrong with the file.
    }
  }

  async #begin(): Promise<void> {
    const start = systemClock.monotonic();
    for (;;) {
      try {
        this.db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error)) throw errorOf(error);
        if (systemClock.monotonic() - start > writeWaitMaxMs) throw stayedLocked();
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
  if (!existsSync(path)) new (sqliteModule().DatabaseSync)(path).close();
  try {
    chmodSync(path, 0o600);
  } catch {
    // The file belongs to another user, who may have given access.
  }
}

const stayedLocked = (): Refusal => {
  const message = `the database file stayed locked for ${writeWaitMaxMs / 1000} s: see which process holds it`;
  return new Refusal('unavailable.store', message, { reason: 'the file is locked' });
};

/** About the file or its schema, not about one of the writes. */
const isForAll = (error: unknown): boolean =>
  isRefusal(error) && (error.code === 'unavailable.store' || error.code === 'newer.schema');
