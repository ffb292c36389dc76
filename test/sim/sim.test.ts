// The simulator in every test run: fixed seeds and fresh ones, some of them twice, and what must be seen on the way.
import { expect, test } from 'vitest';
import { busy, campaign, quiet } from './campaign.ts';
import { goalNames, type GoalName } from './goals.ts';
import { regressions } from './regressions.ts';
import { shrink } from './shrink.ts';
import { replayCommand, tellReport } from './tell.ts';
import { simulate, type SimReport } from './world.ts';

const seedsCount = 100;
const patienceMs = 900_000;
const shrinkTrials = 12;

/** Fresh for each release, and the same in each run of it; the proof draws its own. */
const releaseSeed = 0x3d4164a;
const first = Number(process.env['STINT_SIM_SEED'] ?? releaseSeed);

test(`${seedsCount} seeds, fresh ones from ${first} on, keep every promise`, { timeout: patienceMs }, async () => {
  const isSound = ({ violations }: SimReport): boolean => violations.length === 0;
  const ask = { first, fresh: seedsCount - regressions.length, quiet: 10, twice: 5, onReport: isSound };
  const { reports, again } = await campaign(ask);
  const broken = reports.find((report) => !isSound(report));
  if (broken) throw new Error(await explained(broken));

  const hours = sum(reports, ({ simulatedMs }) => simulatedMs) / 3_600_000;
  const faults = sum(reports, ({ faults: struck }) => struck.length);
  const goals = reached(reports);
  console.log(`simulated ${hours.toFixed(0)} h with ${faults} faults; ${JSON.stringify(Object.fromEntries(goals))}`);
  expect(reports).toHaveLength(seedsCount);
  expect(hours).toBeGreaterThanOrEqual(150);
  expect(faults).toBeGreaterThanOrEqual(60_000);
  expect(goalNames.filter((goal) => !goals.has(goal))).toEqual([]);
  expect(again.map(({ trace }) => trace)).toEqual(reports.slice(0, again.length).map(({ trace }) => trace));
});

test('only faults of the list strike, and the whole list makes the same history', { timeout: patienceMs }, async () => {
  const { faults, trace } = await simulate(3, { chaosMs: 600_000 });
  const replayed = await simulate(3, { chaosMs: 600_000, faults });
  expect(replayed).toMatchObject({ faults, trace });
  expect((await simulate(3, { chaosMs: 600_000, faults: [] })).faults).toEqual([]);
});

test('a list of faults shrinks to those that matter', async () => {
  const faults = Array.from({ length: 40 }, (_, index) => `fault ${index}`);
  const needed = ['fault 7', 'fault 31'];
  const isBroken = async (some: readonly string[]): Promise<boolean> => needed.every((name) => some.includes(name));
  expect(await shrink(faults, isBroken, 1000)).toEqual(needed);
});

/** The story, the few faults that it takes, and the command that shows it again. */
async function explained(report: SimReport): Promise<string> {
  const { seed, violations: [found], isQuiet } = report;
  const options = isQuiet ? quiet : busy;
  const isSame = async (faults: readonly string[]): Promise<boolean> =>
    (await simulate(seed, { ...options, faults })).violations.some(({ invariant }) => invariant === found!.invariant);
  const faults = await shrink(report.faults, isSame, shrinkTrials);
  const command = replayCommand(seed, options, faults);
  return `${tellReport(report)}\nit takes ${faults.length} faults; to see it again:\n${command}`;
}

const sum = (reports: readonly SimReport[], of: (report: SimReport) => number): number =>
  reports.reduce((all, report) => all + of(report), 0);

function reached(reports: readonly SimReport[]): Map<GoalName, number> {
  const all = new Map<GoalName, number>();
  for (const [goal, times] of reports.flatMap(({ goals }) => [...goals])) all.set(goal, times + (all.get(goal) ?? 0));
  return all;
}
