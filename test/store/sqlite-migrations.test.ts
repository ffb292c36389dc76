// SQLite's migrations: what an older version has written is read by this one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a feed that told of each job by itself tells the same after the migration', async () => {
  const path = join(folder, 'jobs.db');
  const event = { n: 1, at: 1_800_000_000_000, by: 'a "b"\n☃', kind: 'created', due: 5, priority: -1 };
  const told = [
    { job: 1, kind: 'run', type: 'mail "x"', parent: null, event },
    { job: 9_007_199_254_740_991, kind: 'task', type: 'mail', parent: 1, event: { ...event, n: 2 } },
  ];
  const store = new SqliteStore(path);
  const { statements, to } = await store.migrate({ dryRun: true });
  const conversions = statements.findIndex((statement) => statement.startsWith('UPDATE feed'));
  const db = new DatabaseSync(path);
  for (const statement of statements.slice(0, conversions)) db.exec(statement);
  db.prepare('INSERT INTO feed(at, events) VALUES(?, ?)').run(event.at, JSON.stringify(told));
  for (const statement of statements.slice(conversions)) db.exec(statement);
  db.exec(`PRAGMA user_version = ${to}`);
  db.close();
  expect((await store.eventsAfter(null, 10)).events).toEqual(told);
  await store.close();
});
