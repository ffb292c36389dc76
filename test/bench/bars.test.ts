// BARS.md: bars that were not measured again stay, with the machine on which they were measured.
import { expect, test } from 'vitest';
import { barsMarkdown, type Bar } from '../../bench/bars/bar.ts';

const bar = (title: string, value: number): Bar =>
  ({ database: 'sqlite', title, value, unit: '×', bar: { least: 1 }, from: '1 and 1' });

test('bars of a run replace those of former runs, and the others stay in their own table', () => {
  const first = barsMarkdown(['2026-01-01 small', 'SQLite 1'], [bar('keys', 1), bar('names', 2)]);
  const second = barsMarkdown(['2026-02-02 large', 'SQLite 2'], [bar('names', 3)], first);
  const rows = (page: string): string[] => page.split('\n').filter((line) => /^(\d{4}-|\| sqlite)/.test(line));
  expect(rows(second)).toEqual([
    '2026-02-02 large  ', '| sqlite | names | 3.00 × | ≥ 1 × | met | 1 and 1 |',
    '2026-01-01 small  ', '| sqlite | keys | 1.00 × | ≥ 1 × | met | 1 and 1 |',
  ]);
  expect(barsMarkdown(['2026-03-03 large'], [bar('names', 4), bar('keys', 5)], second)).not.toContain('small');
});
