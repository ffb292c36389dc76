// The simulation as a part of the proof: known and fresh seeds, some of them twice, and what must be seen on the way.
import { campaign, halfChaos, wholeChaos, type Chaos } from '../sim/campaign.ts';
import { goalNames, type GoalName } from '../sim/goals.ts';
import { regressions } from '../sim/regressions.ts';
import { shrink } from '../sim/shrink.ts';
import { replayCommand, reportText } from '../sim/report.ts';
import { simulate, type SimReport } from '../sim/simulation.ts';
import { shortfalls, type Part, type PartOutcome, type PartRequest, type Size } from './part.ts';

interface Extent {
  readonly seeds: number;
  readonly quiet: number;
  readonly twice: number;
  readonly chaos: Chaos;
  readonly hours: number;
  readonly faults: number;
}

const sizes: Readonly<Record<Size, Extent>> = {
  ci: { seeds: 100, quiet: 10, twice: 5, chaos: halfChaos, hours: 75, faults: 30_000 },
  full: { seeds: 100, quiet: 10, twice: 5, chaos: wholeChaos, hours: 150, faults: 60_000 },
  long: { seeds: 3_000, quiet: 300, twice: 50, chaos: wholeChaos, hours: 4_500, faults: 1_800_000 },
};
const shrinkTrials = 12;

export const simulation: Part = { name: 'simulation', cpuSeconds: { ci: 750, full: 1_400 }, runsBehind: true, run };

async function run({ size, seed, progress }: PartRequest): Promise<PartOutcome> {
  const { seeds, quiet, twice, chaos, hours, faults } = sizes[size];
  let done = 0;
  const { reports, again } = await campaign({
    first: seed, fresh: seeds - regressions.length, quiet, twice, chaos, isLowPriority: true,
    onReport: (report) => {
      done += 1;
      progress(done / (seeds + twice), `${done} of ${seeds + twice} seeds`);
      return report.violations.length === 0;
    },
  });
  const figures = {
    firstFreshSeed: seed,
    seeds: reports.length,
    hours: Math.round(sum(reports, ({ simulatedMs }) => simulatedMs) / 360_000) / 10,
    faults: sum(reports, (report) => report.faults.length),
    commits: sum(reports, ({ commits }) => commits),
    goals: goalNames.filter((goal) => timesOf(reports, goal) > 0).length,
    justifiedRefusals: sum(reports, ({ refusals }) => refusals),
    /** How long it took at most until a run started after the faults. */
    secondsUntilProgress: Math.max(0, ...reports.map(({ recoveryMs }) => recoveryMs ?? 0)) / 1000,
    twiceTheSame: again.filter(({ trace }, index) => trace === reports[index]!.trace).length,
  };
  const broken = reports.find(({ violations }) => violations.length > 0);
  const needed = { seeds, hours, faults, goals: goalNames.length, twiceTheSame: twice };
  return {
    figures, findings: broken ? [await explained(broken, chaos)] : [...shortfalls(figures, needed), ...unseen(reports)],
  };
}

/** The history, the few faults that it takes, and the command that shows it again. */
async function explained(report: SimReport, { busy, quiet }: Chaos): Promise<string> {
  const { seed, violations: [found], isQuiet } = report;
  const options = isQuiet ? quiet : busy;
  const isSame = async (faults: readonly string[]): Promise<boolean> =>
    (await simulate(seed, { ...options, faults })).violations.some(({ invariant }) => invariant === found!.invariant);
  const faults = await shrink(report.faults, isSame, shrinkTrials);
  const command = replayCommand(seed, options, faults);
  return `${reportText(report)}\nit takes ${faults.length} faults; to see it again:\n${command}`;
}

const unseen = (reports: readonly SimReport[]): string[] =>
  goalNames.filter((goal) => timesOf(reports, goal) === 0).map((goal) => `the goal was not reached: ${goal}`);

const timesOf = (reports: readonly SimReport[], goal: GoalName): number =>
  sum(reports, ({ goals }) => goals.get(goal) ?? 0);

const sum = (reports: readonly SimReport[], of: (report: SimReport) => number): number =>
  reports.reduce((all, report) => all + of(report), 0);
