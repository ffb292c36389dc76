// Opening a SQLite file: while another process has locked it, and where the path leads to a folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

/** A process that locks a new file for half a second, as long as a slow disk takes to switch it to WAL mode. */
const locker = `const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(process.argv[1]);
  db.exec('BEGIN EXCLUSIVE; CREATE TABLE a (b)');
  process.stdout.write('locked');
  setTimeout(() => db.exec('COMMIT'), 500);`;

test('a store opens a new file that another process has locked for a moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  const path = join(folder, 'jobs.db');
  const child = spawn(process.execPath, ['-e', locker, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    await exited;
    rmSync(folder, { recursive: true });
  });
  await once(child.stdout, 'data');
  const store = new SqliteStore(path);
  await store.migrate();
  expect(await store.count({})).toEqual([]);
  await store.close();
});

test('a path that leads to a folder is refused, and the folder keeps its mode', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const before = statSync(folder).mode;
  expect(() => new SqliteStore(folder)).toThrow(expect.objectContaining({ code: 'unavailable.store' }));
  expect(statSync(folder).mode).toBe(before);
});
