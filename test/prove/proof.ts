// The proof of test: what was tried against Stint, how hard, and what came of it. Every number is of this run.
import type { Catch } from '../mutants/hunt.ts';
import { goalNames, type GoalName } from '../sim/goals.ts';
import type { SimReport } from '../sim/world.ts';
import type { StormFigures } from './storms.ts';

export interface Proof {
  readonly stint: string;
  readonly node: string;
  readonly commit: string | null;
  readonly at: string;
  readonly simulation: SimulationProof;
  readonly mutants: { readonly tried: number; readonly caught: number; readonly catches: readonly Catch[] };
  readonly storms: readonly StormFigures[];
  readonly isKept: boolean;
}

export interface SimulationProof {
  readonly firstFreshSeed: number;
  readonly seeds: number;
  readonly hours: number;
  readonly faults: number;
  readonly commits: number;
  readonly violations: readonly { readonly seed: number; readonly invariant: string; readonly sentence: string }[];
  readonly goals: Readonly<Record<GoalName, number>>;
  /** Seeds that were simulated twice, and of how many both histories were the same. */
  readonly twice: { readonly seeds: number; readonly same: number };
}

/** `again`: the same seeds a second time. */
export function simulationProof(
  firstFreshSeed: number,
  reports: readonly SimReport[],
  again: readonly SimReport[],
): SimulationProof {
  const sum = (of: (report: SimReport) => number): number => reports.reduce((all, report) => all + of(report), 0);
  const traces = new Map(reports.map(({ seed, trace }) => [seed, trace]));
  const times = (goal: GoalName): number => sum(({ goals }) => goals.get(goal) ?? 0);
  return {
    firstFreshSeed,
    seeds: reports.length,
    hours: Math.round(sum(({ simulatedMs }) => simulatedMs) / 360_000) / 10,
    faults: sum(({ faults }) => faults.length),
    commits: sum(({ commits }) => commits),
    violations: reports.flatMap(({ seed, violations }) =>
      violations.map(({ invariant, sentence }) => ({ seed, invariant, sentence }))),
    goals: Object.fromEntries(goalNames.map((goal) => [goal, times(goal)])) as Record<GoalName, number>,
    twice: { seeds: again.length, same: again.filter(({ seed, trace }) => traces.get(seed) === trace).length },
  };
}

/** Whether all that was tried held: nothing broken, nothing unseen, nobody got away. */
export const isKept = ({ simulation, mutants, storms }: Omit<Proof, 'isKept'>): boolean =>
  simulation.violations.length === 0 &&
  simulation.twice.same === simulation.twice.seeds &&
  Object.values(simulation.goals).every((times) => times > 0) &&
  mutants.caught === mutants.tried &&
  storms.every(({ violations }) => violations === 0);

export function tellProof({ simulation, mutants, storms, ...proof }: Proof): string {
  const unseen = goalNames.filter((goal) => simulation.goals[goal] === 0);
  const reached = `${goalNames.length - unseen.length} of ${goalNames.length}`;
  const { seeds, hours, faults, violations, twice } = simulation;
  const away = mutants.catches.filter(({ by }) => by === null).map(({ title }) => title);
  return [
    `Stint ${proof.stint} on Node ${proof.node}${proof.commit === null ? '' : `, commit ${proof.commit.slice(0, 12)}`}`,
    `simulation  ${seeds} seeds, ${hours} h, ${faults} faults: ${violations.length} violations`,
    ...violations.map(({ seed, invariant, sentence }) => `            seed ${seed}: ${invariant}: ${sentence}`),
    `            ${twice.same} of ${twice.seeds} seeds gave the same history twice`,
    `goals       ${reached} reached${unseen.map((goal) => `; not: ${goal}`).join('')}`,
    `mutants     ${mutants.caught} of ${mutants.tried} caught${away.map((title) => `; got away: ${title}`).join('')}`,
    ...storms.map(tellStorm),
    proof.isKept ? 'every promise was kept' : 'NOT every promise was kept',
  ].join('\n');
}

function tellStorm({ name, violations, ...figures }: StormFigures): string {
  const told = Object.entries(figures).map(([what, count]) => `${what} ${count}`);
  return `storm       ${name}: ${told.join(', ')}: ${violations} violations`;
}
