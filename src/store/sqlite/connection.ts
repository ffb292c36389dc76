/**
 * The connection to a SQLite file: settings, prepared statements, and write transactions, which block the event loop
 * only briefly while they wait for the lock of the file.
 */
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { isRefusal, Refusal } from '../../refusal.ts';
import { systemClock } from '../../time/clock.ts';
import { Batcher } from '../batcher.ts';
import { systemDriver, type SqliteDriver } from './driver.ts';
import { errorOf, isBusy, requireTransaction } from './errors.ts';
import { FileWatch } from './file-watch.ts';
import { hideParameters } from './hide-parameters.ts';
import { sqliteModule } from './module.ts';

export type Durability = 'full' | 'normal';

/**
 * How long SQLite waits for a lock. The wait blocks the process, so it is short. After it, `#begin` sleeps and retries.
 */
const busyWaitMs = 3;
/** How long opening a file waits in total for another process that switches the same file to WAL mode. */
const openWaitMaxMs = 10_000;
/** How long a write waits for the lock of the file in total; after that it is refused. */
const writeWaitMaxMs = 30_000;

/**
 * After this time without a commit of this process, or up to twice as long, the WAL is copied into the database file,
 * so that the file without its WAL is nearly up to date.
 */
const idleMs = 1_000;

/** What a connection needs of a driver: a part of `DatabaseSync`. A caller's transaction may be of another driver. */
export interface Handle {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

export interface Statement {
  setReturnArrays(isEnabled: boolean): void;
  all(...values: SQLInputValue[]): unknown[];
  get(...values: SQLInputValue[]): unknown;
  run(...values: SQLInputValue[]): { readonly changes: number | bigint };
}

export interface OpenFileOptions {
  readonly durability: Durability;
  /** Whether a file that does not exist is created. */
  readonly create: boolean;
}

export function openFile(
  path: string,
  { durability, create }: OpenFileOptions,
  driver: SqliteDriver = systemDriver,
): Connection<DatabaseSync> {
  const isNew = path !== ':memory:' && !existsSync(path);
  if (isNew && !create) {
    throw new Refusal('unavailable.store', `there is no database file ${path}: check the path, or run stint migrate`, {
      reason: 'the file does not exist',
    });
  }
  if (path !== ':memory:' && !isNew && statSync(path).isDirectory()) {
    const message = `${path} is a folder: name a file in it, such as ${join(path, 'jobs.db')}`;
    throw new Refusal('unavailable.store', message, { reason: 'the path is a folder' });
  }
  try {
    if (create && path !== ':memory:') makePrivate(path);
    return new Connection(openDatabase(path, { durability, create }, driver), new FileWatch(path), driver);
  } catch (error) {
    throw errorOf(error);
  }
}

/**
 * Opens the file. Switches it to WAL mode only with `create`. Without `create` the file may be a backup, which can have
 * another journal mode and must stay unchanged.
 */
function openDatabase(path: string, { durability, create }: OpenFileOptions, driver: SqliteDriver): DatabaseSync {
  const db = driver.open(path, { timeout: busyWaitMs });
  if (create) switchToWal(db);
  // temp_store stays at its default, so that the rollback data of a large commit goes to a file. In memory it would be
  // as large as the commit.
  db.exec(`PRAGMA synchronous=${durability}; PRAGMA cache_size=-16384`);
  // A checkpoint happens only every 64 MB of WAL, because the pages of a queue are rewritten often (bench/LEDGER.md:
  // a job takes a fifth less CPU time).
  db.exec('PRAGMA wal_autocheckpoint=16000');
  return db;
}

/**
 * Switches the file to WAL mode. Processes that open a new file at the same time lock each other out for a few
 * milliseconds. In some of these cases SQLite fails without waiting for the lock, whatever its `timeout`.
 */
function switchToWal(db: DatabaseSync): void {
  for (const start = systemClock.monotonic(); ; ) {
    try {
      return db.exec('PRAGMA journal_mode=WAL');
    } catch (error) {
      if (!isBusy(error) || systemClock.monotonic() - start > openWaitMaxMs) throw error;
    }
  }
}

/** Writes all given items in one transaction; returns one answer per item. */
export type WriteTogether<Item, Answer> = (items: readonly Item[]) => readonly Answer[];

interface QueuedWrite {
  readonly write: WriteTogether<unknown, unknown>;
  readonly item: unknown;
}

export class Connection<Db extends Handle = Handle> {
  readonly db: Db;
  readonly #statements = { objects: new Map<string, Statement>(), arrays: new Map<string, Statement>() };
  commits = 0;
  /** Called at the start of every write transaction; throws a refusal if nothing may be written. */
  checkBeforeWrite = (): void => {};
  readonly #watch: FileWatch | null;
  readonly #driver: SqliteDriver;
  readonly #batcher = new Batcher<QueuedWrite, unknown>((take) => this.#runInTransaction(take), {
    runningMax: 1,
    isBlocking: true,
    isForAll,
  });
  #cancelIdle: (() => void) | null = null;
  #commitsAtIdle = 0;

  /**
   * Without `watch`, `db` belongs to the caller, and nothing checks whether its path still leads to the open file.
   */
  constructor(db: Db, watch: FileWatch | null = null, driver: SqliteDriver = systemDriver) {
    this.db = db;
    this.#watch = watch;
    this.#driver = driver;
  }

  all<Row extends object>(sql: string, ...values: SQLInputValue[]): Row[] {
    try {
      return this.#prepared(sql).all(...values) as Row[];
    } catch (error) {
      throw errorOf(error);
    }
  }

  /**
   * Returns rows as arrays. Row objects take twice as long, because node:sqlite makes each of them an object in V8's
   * slow dictionary mode.
   */
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

  run(sql: string, ...values: SQLInputValue[]): number {
    try {
      return Number(this.#prepared(sql).run(...values).changes);
    } catch (error) {
      throw errorOf(error);
    }
  }

  /**
   * Runs `work` on one snapshot of the file. Outside of `read`, each statement has a snapshot of its own, and another
   * process can move a job from one table to the other between two statements.
   */
  read<T>(work: () => T): T {
    this.checkOpen();
    if (this.db.isTransaction) return work();
    this.#prepared('BEGIN').run();
    try {
      return work();
    } finally {
      if (this.db.isTransaction) this.#prepared('COMMIT').run();
    }
  }

  /**
   * Runs `work` in a write transaction. Other waiting writes run in the same transaction. All of them are synchronous,
   * so no other code of this process runs between the first of them and the commit.
   */
  write<T>(work: () => T): Promise<T> {
    return this.writeTogether(() => [work()], null);
  }

  /**
   * Writes one item in a write transaction. If several waiting items were passed with the same function `write`, one
   * call of that function writes all of them.
   */
  writeTogether<Item, Answer>(write: WriteTogether<Item, Answer>, item: Item): Promise<Answer> {
    return this.#batcher.add({ write: write as QueuedWrite['write'], item }) as Promise<Answer>;
  }

  /** Runs asynchronous work in a write transaction, on a connection that nothing else uses meanwhile. */
  async transact<T>(work: () => Promise<T>): Promise<T> {
    this.checkOpen();
    this.#watch?.check();
    await this.#begin();
    try {
      const answer = await work();
      requireTransaction(this.db);
      this.#prepared('COMMIT').run();
      return answer;
    } catch (error) {
      if (this.db.isOpen && this.db.isTransaction) this.db.exec('ROLLBACK');
      throw errorOf(error);
    }
  }

  /**
   * Runs `work` in a savepoint, and rolls back to the savepoint if `work` returns false or throws. Returns the result
   * of `work`. Requires an open transaction.
   */
  allOrNothing(work: () => boolean): boolean {
    this.db.exec('SAVEPOINT whole');
    let isComplete = false;
    try {
      isComplete = work();
      return isComplete;
    } finally {
      // After some errors of the disk, SQLite has rolled back the transaction, and the savepoint with it.
      if (this.db.isTransaction) this.db.exec(isComplete ? 'RELEASE whole' : 'ROLLBACK TO whole; RELEASE whole');
    }
  }

  close(): void {
    this.#cancelIdle?.();
    for (const statements of Object.values(this.#statements)) statements.clear();
    if (this.db.isOpen) this.db.close();
  }

  async #runInTransaction(take: () => readonly QueuedWrite[]): Promise<unknown[]> {
    this.checkOpen();
    this.#watch?.check();
    await this.#begin();
    try {
      this.checkBeforeWrite();
      const answers = runAll(take());
      this.#prepared('COMMIT').run();
      this.commits += 1;
      this.#cancelIdle ??= systemClock.after(idleMs, () => this.#checkpointIfIdle());
      return answers;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw errorOf(error);
    }
  }

  /**
   * Copies the WAL into the file if there was no commit since the last call. Pages that a reader still needs stay in
   * the WAL until a later checkpoint.
   */
  #checkpointIfIdle(): void {
    const isIdle = this.commits === this.#commitsAtIdle;
    this.#commitsAtIdle = this.commits;
    this.#cancelIdle = isIdle ? null : systemClock.after(idleMs, () => this.#checkpointIfIdle());
    if (!isIdle || this.db.isTransaction) return;
    try {
      this.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // If something is wrong with the file, the next commit reports it.
    }
  }

  async #begin(): Promise<void> {
    const { clock, random } = this.#driver;
    const start = clock.monotonic();
    for (;;) {
      try {
        this.#prepared('BEGIN IMMEDIATE').run();
        return;
      } catch (error) {
        if (!isBusy(error)) throw errorOf(error);
        if (clock.monotonic() - start > writeWaitMaxMs) throw stayedLocked();
        await clock.sleep(1 + random.next() * 6);
      }
    }
  }

  /** Throws a refusal if the connection is closed. */
  checkOpen(): void {
    if (this.db.isOpen) return;
    throw new Refusal('unavailable.store', 'the store is closed', { reason: 'the store is closed' });
  }

  #prepared(sql: string, form: 'objects' | 'arrays' = 'objects'): Statement {
    const known = this.#statements[form].get(sql);
    if (known) return known;
    this.checkOpen();
    const statement = this.db.prepare(hideParameters(sql));
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

/**
 * Creates the folder and the file if they are missing. Only the user of this process may access the file and a new
 * folder, because inputs and results of jobs may be secret. Leaves a file that is no database as it is: the path is
 * wrong, and SQLite will refuse it.
 */
function makePrivate(path: string): void {
  const folder = dirname(path);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  if (isNew) new (sqliteModule().DatabaseSync)(path).close();
  if (isPrivate(path) || (!isNew && !isDatabase(path))) return;
  try {
    // The path may name a folder by mistake. Opening it is refused, and must not change its mode.
    if (statSync(path).isFile()) chmodSync(path, 0o600);
  } catch {
    // `chmod` fails if the file belongs to another user. That user may have granted this process access to the file.
  }
}

const isPrivate = (path: string): boolean => (statSync(path).mode & 0o077) === 0;

/**
 * Whether the path is a file that SQLite can read; a device such as /dev/null is none. SQLite itself must open it:
 * closing a descriptor of our own would drop the locks that other connections of this process have on the file.
 */
function isDatabase(path: string): boolean {
  if (!statSync(path).isFile()) return false;
  try {
    const db = new (sqliteModule().DatabaseSync)(path, { timeout: busyWaitMs });
    try {
      return db.prepare('PRAGMA schema_version').get() !== undefined;
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
}

const stayedLocked = (): Refusal => {
  const message = `the database file stayed locked for ${writeWaitMaxMs / 1000} s: see which process holds it`;
  return new Refusal('unavailable.store', message, { reason: 'the file is locked' });
};

/** Whether an error is about the file or its schema, so that it concerns all writes of the transaction. */
const isForAll = (error: unknown): boolean =>
  isRefusal(error) && (error.code === 'unavailable.store' || error.code === 'newer.schema');
