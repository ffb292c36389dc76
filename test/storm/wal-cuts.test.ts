// Power loss on SQLite, as cuts of its log at random bytes.
import { expect, test } from 'vitest';
import { walCuts } from './wal-cuts.ts';

test('wherever the log is cut, the file opens, is sound, and holds a prefix of what was done', async () => {
  const report = await walCuts({ cuts: 60 });
  console.log(JSON.stringify(report));
  expect(report.violations).toEqual([]);
  expect(report.torn).toBeGreaterThan(0);
}, 300_000);
