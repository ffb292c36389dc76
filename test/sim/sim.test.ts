// The simulator in every test run: a short campaign, and what its reports rest on. npm run prove has the long one.
import { expect, test } from 'vitest';
import { simulateAll } from './simulate-all.ts';
import { regressions } from './regressions.ts';
import { shrink } from './shrink.ts';
import { reportText } from './report.ts';
import { simulate } from './simulation.ts';

const minute = 60_000;

/** Seeds that have found something once; the same in each run. */
const seeds = regressions.map(({ seed }) => seed).filter((_, index) => index % 33 === 0);

test(`${seeds.length} known seeds keep every promise through ten minutes of faults`, async () => {
  const reports = await simulateAll({ seeds, processes: 1, options: { chaosMs: 10 * minute } });
  expect(reports).toHaveLength(seeds.length);
  for (const report of reports) expect(report.violations, reportText(report)).toEqual([]);
  expect(reports.flatMap(({ faults }) => faults).length).toBeGreaterThan(200);
});

test('only faults of the list are injected, and the whole list makes the same history', async () => {
  const { faults, trace } = await simulate(3, { chaosMs: 5 * minute });
  const replayed = await simulate(3, { chaosMs: 5 * minute, faults });
  expect(replayed).toMatchObject({ faults, trace });
  expect((await simulate(3, { chaosMs: 5 * minute, faults: [] })).faults).toEqual([]);
});

test('a list of faults shrinks to those that matter', async () => {
  const faults = Array.from({ length: 40 }, (_, index) => `fault ${index}`);
  const needed = ['fault 7', 'fault 31'];
  const isBroken = async (some: readonly string[]): Promise<boolean> => needed.every((name) => some.includes(name));
  expect(await shrink(faults, isBroken, 1000)).toEqual(needed);
});
