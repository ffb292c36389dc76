// Statements of SQLite are prepared once: a statement that SQLite prepares again at each execution costs tenfold.
import { constants, DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { newJob } from '../../src/conformance/world.ts';
import { hideParameters } from '../../src/store/sqlite/hide-parameters.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

afterEach(() => void vi.restoreAllMocks());

test('claims, lists and searches for lapsed leases do not prepare their statements again', async () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const store = new SqliteStore(':memory:');
  await store.migrate();
  await store.commit({ changes: [1, 2, 3].map((id) => newJob({ id, created: 1, due: 1, type: 'mail' })) });
  const claim = { kinds: ['run'], names: { exact: ['mail'] }, limit: 1 } as const;
  const readAll = async (): Promise<void> => {
    await store.claim(claim, () => []);
    await store.nextDue(claim);
    await store.find({ kinds: ['run'], standings: ['pending'] }, { limit: 2 });
    await store.lapsed(10);
    await store.settleable(10);
  };
  // SQLite calls the authorizer while it prepares a statement. Setting it makes SQLite prepare each statement once more.
  const authorizer = vi.fn(() => constants.SQLITE_OK);
  (prepare.mock.contexts[0] as DatabaseSync).setAuthorizer(authorizer);
  await readAll();
  expect(authorizer).toHaveBeenCalled();
  authorizer.mockClear();
  await readAll();
  expect(authorizer).not.toHaveBeenCalled();
  await store.close();
});

test('parameters are hidden from the planner, except patterns and question marks in texts', () => {
  expect(hideParameters(`SELECT '?' FROM job WHERE kind = ?1 AND type GLOB ? LIMIT ?`)).toBe(
    `SELECT '?' FROM job WHERE kind = +?1 AND type GLOB ? LIMIT +?`,
  );
});
