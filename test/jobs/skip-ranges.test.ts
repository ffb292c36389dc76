// Ranges of skipped ticks: the same answers as a scan of all of them, at the cost of a bisection.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SkipRanges } from '../../src/jobs/skip-ranges.ts';

const someRanges = fc.array(fc.tuple(fc.nat(60), fc.nat(12)).map(([from, length]) => ({ from, to: from + length })), { maxLength: 30 });

const rangesOf = <R extends { from: number; to: number }>(all: readonly R[]): SkipRanges<R> => {
  const ranges = new SkipRanges<R>();
  for (const each of all) ranges.add(each);
  return ranges;
};

test('the ranges at a time are those that a scan of all finds, in the order in which they were added', () => {
  fc.assert(fc.property(someRanges, fc.boolean(), (drawn, isOrdered) => {
    const all = isOrdered ? drawn.toSorted((a, b) => a.from - b.from) : drawn;
    const ranges = rangesOf(all);
    for (let time = -1; time <= 75; time++) {
      const scanned = all.filter(({ from, to }) => from <= time && time <= to);
      const found = ranges.at(time);
      expect(found).toHaveLength(scanned.length);
      found.forEach((range, index) => expect(range).toBe(scanned[index]));
    }
    expect(new Set(ranges)).toEqual(new Set(all));
  }));
});

test('a search among many ranges reads few of them', () => {
  let reads = 0;
  const range = (at: number) => ({
    to: at * 10 + 5,
    get from() {
      reads += 1;
      return at * 10;
    },
  });
  const ranges = rangesOf(Array.from({ length: 10_000 }, (_, at) => range(at)));
  reads = 0;
  expect(ranges.at(77_773)).toHaveLength(1);
  expect(ranges.at(77_777)).toHaveLength(0);
  expect(reads).toBeLessThan(40);
});
