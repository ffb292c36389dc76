// Commits that meet in SQLite share a transaction and a statement, and each is answered as if it were alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { newJob } from '../../src/conformance/world.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

let folder: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  store = new SqliteStore(join(folder, 'jobs.db'));
  await store.migrate();
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const born = (id: number, key?: string): Change =>
  newJob({ id, created: 5, ...(key === undefined ? {} : { unique: { key, forMs: null } }) });

const ids = async (): Promise<number[]> => (await store.load([1, 2, 3, 4, 5])).map(({ id }) => id);

test('commits in one batch are one feed entry with all their jobs', async () => {
  await Promise.all([1, 2, 3].map((id) => store.commit({ changes: [born(id)] })));
  const { events, cursor } = await store.eventsAfter(null, 10);
  expect(events.map(({ job }) => job)).toEqual([1, 2, 3]);
  expect(cursor).toMatch(/^1\.0@\d+$/);
});

test('each commit of a batch learns which of its changes were written', async () => {
  const answers = await Promise.all([
    store.commit({ changes: [born(1), born(2, 'k')] }),
    store.commit({ changes: [born(1), born(3)] }),
    store.commit({ changes: [born(4), born(5, 'k')], whole: true }),
    store.commit({ changes: [] }),
    store.commit({ changes: [born(4)] }),
  ]);
  expect(answers).toEqual([[true, true], [false, true], [false, false], [], [true]]);
  expect(await ids()).toEqual([1, 2, 3, 4]);
});

test('a commit that throws does not touch those it meets', async () => {
  const broken = born(2);
  const answers = await Promise.allSettled([
    store.commit({ changes: [born(1)] }),
    store.commit({ changes: [{ ...broken, after: { ...broken.after!, type: Symbol('no text') as never } }] }),
    store.commit({ changes: [born(3)] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await ids()).toEqual([1, 3]);
});
