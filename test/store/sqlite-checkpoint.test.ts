// The checkpoint of SQLite: after a moment without commits, the file alone has all jobs.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

test('a file that is copied without its WAL has what was committed a moment ago', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  const [path, copy] = [join(folder, 'jobs.db'), join(folder, 'copy.db')];
  const store = new SqliteStore(path);
  await store.migrate();
  await new Jobs(store).createMany(Array.from({ length: 100 }, () => ({ type: 'plain' })), 'test');
  const jobsInCopy = (): number => {
    copyFileSync(path, copy);
    const db = new DatabaseSync(copy);
    try {
      return (db.prepare('SELECT count(*) count FROM job').get() as { count: number }).count;
    } catch {
      return 0; // the WAL still has the tables, or the copy was made during the checkpoint
    } finally {
      db.close();
    }
  };
  await expect.poll(jobsInCopy, { interval: 200 }).toBe(100);
  await store.close();
  rmSync(folder, { recursive: true });
});
