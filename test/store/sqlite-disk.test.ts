// Errors of the disk in a statement or a commit on SQLite: a refusal that says what to do, and nothing written.
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newJob } from '../../src/conformance/world.ts';
import { step } from '../../src/model/machine.ts';
import type { Change } from '../../src/model/change.ts';
import { systemDriver } from '../../src/store/sqlite/driver.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

interface Failure {
  readonly pattern: RegExp;
  readonly errcode: number;
  /** Whether SQLite rolls back the transaction by itself. */
  readonly rollsBack?: boolean;
}

/** A store on a file, and how to let its statements fail. */
async function scene() {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  let failure: Failure | null = null;
  class FailingDatabase extends DatabaseSync {
    override prepare(sql: string): StatementSync {
      const statement = super.prepare(sql);
      for (const name of ['all', 'get', 'run'] as const) {
        const execute = statement[name].bind(statement) as (...values: never[]) => never;
        statement[name] = (...values: never[]) => {
          if (!failure?.pattern.test(sql)) return execute(...values);
          if (failure.rollsBack && this.isTransaction) this.exec('ROLLBACK');
          throw Object.assign(new Error('SQLite failed'), { code: 'ERR_SQLITE_ERROR', errcode: failure.errcode });
        };
      }
      return statement;
    }
  }
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path, {}, { ...systemDriver, open: (file, options) => new FailingDatabase(file, options) });
  await store.migrate();
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { store, path, fail: (next: Failure | null) => void (failure = next) };
}

const created = newJob({ id: 1, type: 'mail', created: 5 });
const other = newJob({ id: 2, type: 'mail', created: 5 });
const ended = step(created.after, { do: 'stop', code: 'user' }, { now: 10, by: 'test' }) as Change;

const full = { errcode: 13, sentence: /the disk is full; free space on it/ };
const broken = { errcode: 1034, sentence: /the disk failed to read or write; check the disk/ };
const locked = { errcode: 517, sentence: /the file is locked; see which process holds it/ };

test.each([
  { ...full, pattern: /^INSERT/ }, { ...full, pattern: /^COMMIT/ },
  { ...broken, pattern: /^INSERT/ }, { ...broken, pattern: /^COMMIT/ }, { ...broken, pattern: /^BEGIN/ },
  { ...locked, pattern: /^INSERT/ }, { ...locked, pattern: /^COMMIT/ },
])('error $errcode in $pattern is refused with a sentence, leaves nothing, and passes', async ({ errcode, sentence, pattern }) => {
  const { store, fail } = await scene();
  for (const rollsBack of [false, true]) {
    fail({ pattern, errcode, rollsBack });
    await expect(store.commit({ changes: [created] })).rejects.toMatchObject({
      code: 'unavailable.store', message: expect.stringMatching(sentence) as string,
    });
    fail(null);
    expect(await store.load([1])).toEqual([]);
  }
  expect(await store.commit({ changes: [created] })).toEqual([true]);
});

test.each([broken, locked])('a read that fails with error $errcode is refused with a sentence', async ({ errcode, sentence }) => {
  const { store, fail } = await scene();
  fail({ pattern: /^SELECT/, errcode });
  await expect(store.load([1])).rejects.toMatchObject({
    code: 'unavailable.store', message: expect.stringMatching(sentence) as string,
  });
});

test('a batch that is written as a whole is refused with the error of its statement, also if SQLite has rolled back', async () => {
  const { store, fail } = await scene();
  fail({ pattern: /^INSERT/, errcode: 13, rollsBack: true });
  await expect(store.commit({ changes: [created, other], whole: true })).rejects.toMatchObject({
    code: 'unavailable.store', detail: { reason: 'the disk is full' },
  });
});

test('a handler that ignores the error of its statement writes nothing after SQLite has rolled back', async () => {
  const { store, path, fail } = await scene();
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  db.exec('CREATE TABLE effects(name TEXT)');
  const ignoring = store.transact(async (tx) => {
    await tx.query(`INSERT INTO effects VALUES('first')`);
    fail({ pattern: /'second'/, errcode: 13, rollsBack: true });
    await tx.query(`INSERT INTO effects VALUES('second')`).catch(() => {});
    await tx.query(`INSERT INTO effects VALUES('third')`).catch(() => {});
  });
  await expect(ignoring).rejects.toMatchObject({
    code: 'unavailable.store', detail: { reason: 'the transaction was rolled back after an error' },
  });
  expect(db.prepare('SELECT name FROM effects').all()).toEqual([]);
});

test('a commit is acknowledged although the search for awaited ends fails, and the end is found later', async () => {
  const { store, fail } = await scene();
  await store.commit({ changes: [created] });
  const found = new Promise<void>((resolve) => void store.onEnd(2, resolve));
  fail({ pattern: /FROM ended WHERE id IN \(SELECT value/, errcode: 10 });
  expect(await store.commit({ changes: [other] })).toEqual([true]);
  const stopped = step(other.after, { do: 'stop', code: 'user' }, { now: 10, by: 'test' }) as Change;
  // Another process ends the job.
  const elsewhere = new SqliteStore((store as unknown as { address: { url: string } }).address.url.slice('sqlite:'.length));
  expect(await elsewhere.commit({ changes: [stopped] })).toEqual([true]);
  await elsewhere.close();
  fail(null);
  await found;
});

test('listeners are woken by the commit of another process while the file cannot be read', async () => {
  const { store, path, fail } = await scene();
  fail({ pattern: /^PRAGMA data_version|inbox/, errcode: 10 });
  const woken = new Promise<void>((resolve) => void store.onWake(resolve));
  const asked = new Promise<void>((resolve) => void store.onInbox(resolve));
  const elsewhere = new SqliteStore(path);
  onTestFinished(() => elsewhere.close());
  await elsewhere.commit({ changes: [created] });
  await elsewhere.commit({ changes: [ended] });
  await Promise.all([woken, asked]);
});
