// A folder that is given instead of a database file.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

test('a folder is refused as a database file, and its rights stay as they are', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const before = statSync(folder).mode;
  expect(() => new SqliteStore(folder)).toThrow(expect.objectContaining({ code: 'unavailable.store' }) as Error);
  expect(statSync(folder).mode).toBe(before);
});
