// The simulation on PostgreSQL as a part of the proof: the adapter itself in each process, its faults and its availability.
import { startSimulationServer } from '../sim/postgres/database.ts';
import { goalNamesOnPostgres, type GoalName } from '../sim/goals.ts';
import { replayCommand, reportText } from '../sim/report.ts';
import { simulateEach } from '../sim/simulate-all.ts';
import type { SimReport } from '../sim/simulation.ts';
import { shortfalls, type Part, type PartOutcome, type PartRequest, type Size } from './part.ts';

const minute = 60_000;
const ofTen = { seeds: 10, twice: 1, hours: 0.8, faults: 200 };
const sizes: Readonly<Record<Size, typeof ofTen>> = {
  ci: ofTen,
  full: ofTen,
  long: { seeds: 240, twice: 6, hours: 16, faults: 4_000 },
};
const chaosMs = 4 * minute;

/** Rare events that the seeds must have reached. */
const goals: readonly GoalName[] = [
  'commit unknown, then tried again', 'takeover', 'restart under the same name', 'run retried by hand', 'handed off and lapsed',
  'poison budget reached', 'claim answered after a pause longer than the lease', 'child run succeeded',
  'payload of an older version upgraded', 'run of a follower succeeded', 'refused by the disk, then written',
  'request of the inbox taken', 'request of the inbox refused', 'question answered',
  'run of a remote worker succeeded', 'remote claim answered after a pause longer than the lease',
  ...goalNamesOnPostgres,
];

export const postgresSimulation: Part = { name: 'simulation-postgres', cpuSeconds: 200, runsBehind: true, run };

async function run({ size, seed, progress }: PartRequest): Promise<PartOutcome> {
  const { seeds, twice, hours, faults } = sizes[size];
  const numbers = Array.from({ length: seeds }, (_, index) => seed + index);
  const server = await startSimulationServer();
  let done = 0;
  try {
    const options = { chaosMs, postgresServer: server.url };
    const all = await simulateEach([...numbers, ...numbers.slice(0, twice)].map((each) => ({ seed: each, options })), {
      isLowPriority: true,
      onReport: (report) => {
        done += 1;
        progress(done / (seeds + twice), `${done} of ${seeds + twice} seeds`);
        return report.violations.length === 0;
      },
    });
    const started = all.filter((report) => report !== undefined);
    return outcome(started.slice(0, seeds), started.slice(seeds), seed, { seeds, hours, faults, goals: goals.length, twiceTheSame: twice });
  } finally {
    await server.stop();
  }
}

function outcome(
  reports: readonly SimReport[], again: readonly SimReport[], firstSeed: number, needed: Readonly<Record<string, number>>,
): PartOutcome {
  const reached = {
    seeds: reports.length,
    hours: Math.round(sum(reports, ({ simulatedMs }) => simulatedMs) / 36_000) / 100,
    faults: sum(reports, (report) => report.faults.length),
    goals: goals.filter((goal) => reports.some((report) => report.goals.has(goal))).length,
    twiceTheSame: again.filter(({ trace }, index) => trace === reports[index]!.trace).length,
  };
  const figures = {
    ...reached,
    firstSeed,
    statements: sum(reports, ({ statements }) => statements),
    commits: sum(reports, ({ commits }) => commits),
    faultsByKind: faultsByKind(reports),
    justifiedRefusals: sum(reports, ({ refusals }) => refusals),
    /** How long it took at most until a run started after the faults. */
    secondsUntilProgress: Math.max(0, ...reports.map(({ recoveryMs }) => recoveryMs ?? 0)) / 1000,
    violations: sum(reports, ({ violations }) => violations.length),
  };
  const broken = reports.find(({ violations }) => violations.length > 0);
  return { figures, findings: broken ? [explained(broken)] : [...shortfalls(reached, needed), ...unseen(reports)] };
}

const explained = (report: SimReport): string =>
  `${reportText(report)}\nto see it again:\n${replayCommand(report.seed, { chaosMs }, report.faults)} --postgres`;

const unseen = (reports: readonly SimReport[]): string[] =>
  goals.filter((goal) => !reports.some((report) => report.goals.has(goal))).map((goal) => `the goal was not reached: ${goal}`);

/** The name of a fault begins with its kind; a number, or the name of a process and a number, follow. */
function faultsByKind(reports: readonly SimReport[]): string {
  const kinds = reports.flatMap(({ faults }) => faults.map((name) => /^(?:[a-z]+ )+?(?=\S*\d)/i.exec(name)?.[0].trim() ?? name));
  const counts = [...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => `${kind}: ${length}`);
  return counts.toSorted().join(', ');
}

const sum = (reports: readonly SimReport[], of: (report: SimReport) => number): number =>
  reports.reduce((all, report) => all + of(report), 0);
