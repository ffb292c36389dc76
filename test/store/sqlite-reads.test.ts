// Reads of SQLite, while another process commits between two of their statements, and among many types.
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import type { Command } from '../../src/model/command.ts';
import type { Job } from '../../src/model/job.ts';
import { step } from '../../src/model/machine.ts';
import { newJob } from '../../src/conformance/world.ts';
import { Connection } from '../../src/store/sqlite/connection.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import { writeBatch } from '../../src/store/sqlite/write/commit.ts';

let folder: string;
let store: SqliteStore;
let other: DatabaseSync;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  store = new SqliteStore(join(folder, 'jobs.db'));
  await store.migrate();
  other = new DatabaseSync(join(folder, 'jobs.db'));
});

afterEach(async () => {
  vi.restoreAllMocks();
  other.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

const created = newJob({ id: 1, type: 'mail', created: 5 });

function decided(job: Job, command: Command): Change & { readonly after: Job } {
  const change = step(job, command, { now: 10, by: 'test' });
  if ('code' in change || change.after === null) throw new Error('refused');
  return change as Change & { readonly after: Job };
}

const ended = decided(created.after, { do: 'stop', code: 'user' });
const reopened = decided(ended.after, { do: 'retry', reopens: 0 });

/** Commits a change over another connection, as another process would. */
function commitElsewhere(change: Change): void {
  other.exec('BEGIN IMMEDIATE');
  writeBatch(new Connection(other), { changes: [change] }, 10);
  other.exec('COMMIT');
}

/** Commits a change over another connection after each statement of the store that reads table `job`. */
function commitAfterFirstRead(change: Change): void {
  const isRead = (sql: string): boolean => /^SELECT\b.*\bFROM job\b/s.test(sql);
  let isDone = false;
  for (const method of ['all', 'arrays'] as const) {
    const real = Connection.prototype[method] as (sql: string, ...values: unknown[]) => unknown[];
    vi.spyOn(Connection.prototype, method).mockImplementation(function (this: Connection, sql, ...values) {
      const rows = real.call(this, sql, ...values);
      if (this.db !== other && isRead(sql) && !isDone) {
        isDone = true;
        commitElsewhere(change);
      }
      return rows as never;
    });
  }
}

const reads: Record<string, () => Promise<number>> = {
  load: async () => (await store.load([1])).length,
  find: async () => (await store.find({ types: ['mail'] })).jobs.length,
  count: async () => (await store.count({ types: ['mail'] })).reduce((sum, { count }) => sum + count, 0),
};

for (const [name, read] of Object.entries(reads)) {
  test(`${name} does not miss a job that another process reopens meanwhile`, async () => {
    await store.commit({ changes: [created] });
    await store.commit({ changes: [ended] });
    commitAfterFirstRead(reopened);
    expect(await read()).toBe(1);
  });

  test(`${name} does not return a job twice that another process ends meanwhile`, async () => {
    await store.commit({ changes: [created] });
    commitAfterFirstRead(ended);
    expect(await read()).toBe(1);
  });
}

test('a pattern that few of many types match takes a bounded number of seeks', async () => {
  const types = Array.from({ length: 3000 }, (_, n) => `type ${n}`);
  const changes = types.map((type, n) => newJob({ id: n + 1, type, created: 5 }));
  await store.commit({ changes });
  await store.commit({ changes: changes.map(({ after }) => decided(after, { do: 'stop', code: 'user' })) });
  const get = vi.spyOn(Connection.prototype, 'get');
  for (const standings of [['failed', 'cancelled'], ['succeeded', 'cancelled']] as const) {
    const { jobs } = await store.find({ kinds: ['run'], glob: '*e 2999', standings });
    expect(jobs.map(({ type }) => type)).toEqual(['type 2999']);
  }
  expect(get.mock.calls.length).toBeLessThan(types.length);
});
