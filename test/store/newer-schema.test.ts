// A process that goes on after a newer Stint has migrated the schema writes nothing more; verify reports odd rows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import { verify } from '../../src/verify.ts';
import { born, connect, freshStore, made } from './postgres/ground.ts';

const about = { host: 'here', pid: 1, version: '0', types: [], isolated: [], slots: 1, busy: 0, draining: false };
const beat = { id: 'old', leaseMs: 60_000, about, holds: [] };
const newer = { code: 'newer.schema' };

async function sqliteFile(): Promise<{ store: SqliteStore; change: (sql: string) => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path);
  await store.migrate();
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return {
    store,
    change: (sql) => {
      const db = new DatabaseSync(path);
      db.exec(sql);
      db.close();
    },
  };
}

test('on SQLite, every write after the migration is refused, and reading goes on', async () => {
  const { store, change } = await sqliteFile();
  const jobs = new Jobs(store);
  const { id } = await jobs.create({ type: 'plain' }, 'test');
  const next = await born(store, {});
  change('PRAGMA user_version = 999');
  await expect(store.commit({ changes: next })).rejects.toMatchObject(newer);
  await expect(store.beat(beat)).rejects.toMatchObject(newer);
  await expect(store.claim({ kinds: ['run'], names: { glob: '*' }, limit: 1 }, () => [])).rejects.toMatchObject(newer);
  expect(await store.load([id])).toHaveLength(1);
});

test('on PostgreSQL, every write after the next heartbeat is refused, and the lease is not extended again', async () => {
  const { url, store } = await freshStore();
  const [job] = await made(store, {});
  const next = await born(store, {});
  await store.beat(beat);
  const client = await connect(url);
  await client.query('update stint.meta set version = 999');
  await expect(store.beat(beat)).rejects.toMatchObject(newer);
  const { rows } = await client.query('select lease_until from stint.instance');
  await expect(store.beat(beat)).rejects.toMatchObject(newer);
  expect((await client.query('select lease_until from stint.instance')).rows).toEqual(rows);
  await expect(store.commit({ changes: next })).rejects.toMatchObject(newer);
  await expect(store.claim({ kinds: ['run'], names: { glob: '*' }, limit: 1 }, () => [])).rejects.toMatchObject(newer);
  expect(await store.load([job!.id])).toHaveLength(1);
});

test('on PostgreSQL, a producer without heartbeats finds out when it reserves ids', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query('update stint.meta set version = 999');
  await expect(store.reserveIds(10)).rejects.toMatchObject(newer);
});

test('verify reports a feed that another version has written, and does not crash', async () => {
  const { store, change } = await sqliteFile();
  await new Jobs(store).create({ type: 'plain' }, 'test');
  change(`INSERT INTO feed(at, events) VALUES(1, '[{"job":1,"event":{"n":1}}]')`);
  const found = await Array.fromAsync(verify(store, { patienceMs: 0 }));
  expect(found).toMatchObject([{ invariant: 'S36', sentence: expect.stringMatching(/feed cannot be read/) as string }]);
});

test('verify reports a row that no check understands, and checks the others', async () => {
  const { store, change } = await sqliteFile();
  const jobs = new Jobs(store);
  for (const type of ['one', 'two']) await jobs.create({ type }, 'test');
  change(`UPDATE job SET history = '[{"n":1,"at":1,"by":"x","kind":"from the future"}]' WHERE id = 1`);
  change(`UPDATE job SET priority = 7 WHERE id = 2`);
  const found = await Array.fromAsync(verify(store, { patienceMs: 0 }));
  expect(found.map(({ invariant, job }) => [invariant, job])).toEqual(expect.arrayContaining([['S26', 2]]));
  expect(found.some(({ job }) => job === 1)).toBe(true);
});
