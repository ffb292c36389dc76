// The module node:sqlite: one that is too old is refused when a file is opened, not at the first statement that fails.
import { expect, onTestFinished, test, vi } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

/** What Node 22.19 does with a numbered parameter that is used twice. */
class OldDatabase {
  prepare(): object {
    return {
      get: () => {
        throw new Error('column index out of range');
      },
    };
  }

  close(): void {}
}

test('a node:sqlite that cannot execute the statements of the store is refused with advice', () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue({ DatabaseSync: OldDatabase });
  onTestFinished(() => void vi.restoreAllMocks());
  const refused = /^the node:sqlite of this runtime is too old: use Node 22\.23, 24\.15 or newer/;
  expect(() => new SqliteStore(':memory:')).toThrow(refused);
});
