// The disk of a simulated SQLite file: full, failing, or another process has locked the file. It is below the store: the
// driver whose statements fail.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqliteDriver } from '../../src/store/sqlite/driver.ts';
import type { Clock } from '../../src/time/clock.ts';
import type { Random } from '../../src/random.ts';
import type { RandomStream } from './random-streams.ts';

/** `full`: writing statements fail. `failing`: statements fail. `locked`: another process has the lock for writing. */
export type FileTrouble = 'full' | 'failing' | 'locked';

interface Failure {
  /** The extended result code of SQLite. */
  readonly errcode: number;
  /** Whether SQLite rolls back the transaction by itself. */
  readonly rollsBack: boolean;
}

const writes = /^\s*(with\b[^]*\b)?(insert into|update|delete from)\b/i;
const begins = /^BEGIN IMMEDIATE/;
const failsSeldom = 0.1;
const fullChance = 0.3;
const [busy, full, readError, writeError, syncError] = [5, 13, 266, 778, 1034];

export class SqliteDisk {
  readonly driver: SqliteDriver;
  readonly #clock: Clock;
  /** Called when a write begins for which the file was locked for so long. */
  readonly #onWaited: (ms: number) => void;
  #trouble: { readonly kind: FileTrouble; readonly random: RandomStream } | null = null;
  /** Since when a write waits for the lock; null: none does. */
  #waitsSince: number | null = null;

  constructor(clock: Clock, random: Random, onWaited: (ms: number) => void) {
    this.#clock = clock;
    this.#onWaited = onWaited;
    const failureOf = (sql: string, isWriting: boolean): Failure | null => this.#failureOf(sql, isWriting);
    this.driver = { open: (path, options) => new FailingDatabase(failureOf, path, options), clock, random };
  }

  fail(kind: FileTrouble, random: RandomStream): void {
    this.#trouble = { kind, random };
  }

  recover(): void {
    this.#trouble = null;
  }

  /** `isWriting`: whether the open transaction has written something. */
  #failureOf(sql: string, isWriting: boolean): Failure | null {
    if (begins.test(sql)) return this.#begin();
    if (this.#trouble === null || this.#trouble.kind === 'locked' || sql === 'BEGIN') return null;
    const { kind, random } = this.#trouble;
    const isCommit = sql === 'COMMIT';
    const isWrite = isCommit ? isWriting : writes.test(sql);
    if (isCommit && !isWriting) return null;
    if (kind === 'full' && !isWrite) return null;
    const [fails, rollsBack] = [random.isTrue(kind === 'full' ? fullChance : failsSeldom), random.isTrue(0.5)];
    if (!fails) return null;
    return { errcode: kind === 'full' ? full : errorOfDisk(isCommit, isWrite), rollsBack: isWrite && rollsBack };
  }

  #begin(): Failure | null {
    if (this.#trouble?.kind === 'locked') {
      this.#waitsSince ??= this.#clock.monotonic();
      return { errcode: busy, rollsBack: false };
    }
    if (this.#waitsSince !== null) this.#onWaited(this.#clock.monotonic() - this.#waitsSince);
    this.#waitsSince = null;
    return null;
  }
}

function errorOfDisk(isCommit: boolean, isWrite: boolean): number {
  if (isCommit) return syncError;
  return isWrite ? writeError : readError;
}

type FailureOf = (sql: string, isWriting: boolean) => Failure | null;

class FailingDatabase extends DatabaseSync {
  readonly #failureOf: FailureOf;
  #isWriting = false;

  constructor(failureOf: FailureOf, path: string, options: { readonly timeout: number }) {
    super(path, options);
    this.#failureOf = failureOf;
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    for (const name of ['all', 'get', 'run'] as const) {
      const execute = statement[name].bind(statement) as (...values: never[]) => never;
      statement[name] = (...values: never[]) => {
        this.#check(sql);
        return execute(...values);
      };
    }
    return statement;
  }

  #check(sql: string): void {
    if (!this.isTransaction) this.#isWriting = false;
    const failure = this.#failureOf(sql, this.#isWriting);
    if (writes.test(sql)) this.#isWriting = true;
    if (failure === null) return;
    if (failure.rollsBack && this.isTransaction) this.exec('ROLLBACK');
    throw Object.assign(new Error('SQLite failed'), { code: 'ERR_SQLITE_ERROR', errcode: failure.errcode });
  }
}
