// The scan by ids: every id is passed once, in order, in short steps; others get their turn.
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scanIds, type IdRange } from '../../src/store/id-scan.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import { Jobs } from '../../src/jobs.ts';
import { systemClock } from '../../src/time/clock.ts';

/** A scan over these ids, which records what it has seen. */
function scanOver(ids: readonly number[], order: 'newest' | 'oldest', enough = Infinity) {
  const rising = [...new Set(ids)].sort((a, b) => a - b);
  const seen: number[] = [];
  const within = ({ low, high }: IdRange): number[] => rising.filter((id) => id >= low && id <= high);
  return {
    seen,
    stepEnd: (span: IdRange, rows: number) =>
      (order === 'newest' ? within(span).at(-rows) : within(span)[rows - 1]) ?? null,
    scan: (span: IdRange) => {
      const found = within(span);
      seen.push(...(order === 'newest' ? found.reverse() : found));
      return seen.length >= enough;
    },
  };
}

const orders = ['newest', 'oldest'] as const;
const idLists = fc.array(fc.integer({ min: 1, max: 2 ** 40 }), { maxLength: 4000 });

test('every id is scanned once and in order, however the ids are distributed', async () => {
  await fc.assert(
    fc.asyncProperty(idLists, fc.constantFrom(...orders), async (ids, order) => {
      const scan = scanOver(ids, order);
      expect(await scanIds({ order, stepMs: 1, clock: systemClock }, scan)).toBeNull();
      const rising = [...new Set(ids)].sort((a, b) => a - b);
      expect(scan.seen).toEqual(order === 'newest' ? rising.reverse() : rising);
    }),
    { numRuns: 100 },
  );
});

test('without patience it returns where to continue, and continuing misses and repeats nothing', async () => {
  await fc.assert(
    fc.asyncProperty(idLists, fc.constantFrom(...orders), async (ids, order) => {
      const scan = scanOver(ids, order);
      for (let after: number | null | undefined; after !== null;) {
        after = await scanIds({ order, after, stepMs: 1, patienceMs: -1, clock: systemClock }, scan);
      }
      const rising = [...new Set(ids)].sort((a, b) => a - b);
      expect(scan.seen).toEqual(order === 'newest' ? rising.reverse() : rising);
    }),
    { numRuns: 100 },
  );
});

test('a scan ends when enough ids are found', async () => {
  const scan = scanOver(
    Array.from({ length: 100_000 }, (_, id) => id),
    'oldest',
    10,
  );
  expect(await scanIds({ order: 'oldest', stepMs: 1, clock: systemClock }, scan)).toBeNull();
  expect(scan.seen.length).toBeLessThan(5_000);
});

test('while SQLite searches and counts many jobs, other requests are served', async () => {
  const store = new SqliteStore(':memory:');
  await store.migrate();
  const jobs = new Jobs(store);
  await jobs.createMany(
    Array.from({ length: 30_000 }, () => ({ type: 'a', input: { text: 'x'.repeat(200) } })),
    'test',
  );
  for (const read of [() => jobs.find({ input: { path: ['no'], equals: 1 } }), () => jobs.count({ text: 'zebra' })]) {
    let isOver = false;
    let turns = 0;
    const reading = read().finally(() => (isOver = true));
    while (!isOver) {
      await turn();
      turns += 1;
    }
    await reading;
    expect(turns).toBeGreaterThan(2);
  }
  const { jobs: none, next } = await jobs.find({ text: 'zebra' }, { patienceMs: 0 });
  expect([none.length, next !== null]).toEqual([0, true]);
  await store.close();
});
