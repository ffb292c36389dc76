// SQLite's wake between processes: each commit that makes a job claimable wakes others, even the last before a pause.
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

let folder: string;
let store: SqliteStore;
let other: ChildProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  store = new SqliteStore(join(folder, 'jobs.db'));
  await store.migrate();
  other = fork(join(import.meta.dirname, 'sqlite-writer.ts'), [join(folder, 'jobs.db')], { execArgv: [] });
  await answer();
});

afterEach(async () => {
  other.disconnect();
  await new Promise((resolve) => other.once('exit', resolve));
  await store.close();
  rmSync(folder, { recursive: true });
});

for (const way of ['by its store', 'in a transaction of its own']) {
  test(`a job that another process creates ${way} wakes this one every time`, async () => {
    for (let round = 1; round <= 20; round += 1) {
      const heard = new Promise<void>((resolve) => {
        const deafen = store.onWake(() => {
          deafen();
          resolve();
        });
      });
      other.send(way);
      await Promise.all([heard, answer()]);
      expect(await store.count({})).toEqual([{ kind: 'run', type: 'mail', standing: 'pending', count: round }]);
    }
  });
}

function answer(): Promise<unknown> {
  return new Promise((resolve) => other.once('message', resolve));
}
