/** The goals of the engine against the best peer on the same database, and the verdict of the figures on each. */
import { median } from '../median.ts';
import type { Figure } from './comparison.ts';
import { flowShapes } from './flow.ts';
import type { PeerDatabaseName } from './peer.ts';
import { isHigherBetter, type FigureName, type Unit } from './reading.ts';

/** The figure of the best peer, another figure of our engine, or none: the goal is then a number. */
type Baseline = 'best peer' | FigureName | 'absolute';

interface Goal {
  readonly database: PeerDatabaseName;
  readonly figure: FigureName;
  readonly against: Baseline;
  /** A multiple of the baseline, or a number: at least for rates, at most for times and costs. */
  readonly want: number;
  readonly moonshot?: number;
  /** How the name of our peer begins. Default: the engine. */
  readonly ours?: string;
}

export interface Verdict {
  readonly database: PeerDatabaseName;
  readonly figure: FigureName;
  readonly unit: Unit;
  /** The figure of the Stint engine. */
  readonly ours: number;
  /** The figure of the Stint store without an engine; null if it was not measured. */
  readonly store: number | null;
  readonly against: string;
  /** The figure to compare with; null if the goal is a number. */
  readonly baseline: number | null;
  readonly want: number;
  readonly got: number;
  readonly isReached: boolean;
  readonly isMoonshot: boolean;
}

export const goals: readonly Goal[] = [
  { database: 'postgres', figure: 'create single', against: 'best peer', want: 2 },
  { database: 'postgres', figure: 'create in flight', against: 'best peer', want: 8, moonshot: 15 },
  { database: 'postgres', figure: 'create bulk', against: 'best peer', want: 1.5 },
  { database: 'postgres', figure: 'drain 1', against: 'best peer', want: 1.2 },
  { database: 'postgres', figure: 'drain 2', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'drain CPU', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'pick-up here p50', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'pick-up here p95', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'pick-up elsewhere p50', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'pick-up elsewhere p95', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'in a transaction p50', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'create in a transaction p50', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'commit to start p95', against: 'absolute', want: 100 },
  { database: 'postgres', figure: 'steps', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'steps of one run', against: 'best peer', want: 1 },
  { database: 'postgres', figure: 'bytes per step', against: 'best peer', want: 1 },
  ...flowShapes.map((shape): Goal => ({ database: 'postgres', figure: `flow ${shape}`, against: 'best peer', want: 1 })),
  { database: 'postgres', figure: 'batch drain', against: 'best peer', want: 0.9, ours: 'Stint batches' },
  { database: 'sqlite', figure: 'drain 1', against: 'best peer', want: 5 },
  { database: 'sqlite', figure: 'create in flight', against: 'best peer', want: 1, moonshot: 2 },
  { database: 'sqlite', figure: 'create bulk', against: 'best peer', want: 0.8, moonshot: 1 },
  { database: 'sqlite', figure: 'pick-up here p50', against: 'absolute', want: 1.5, moonshot: 1 },
  { database: 'sqlite', figure: 'pick-up elsewhere p50', against: 'absolute', want: 2, moonshot: 1 },
  ...(['postgres', 'sqlite'] as const).flatMap((database): Goal[] => [
    { database, figure: 'fan-out', against: 'drain 1', want: 0.8, moonshot: 0.95 },
    { database, figure: 'drain memory', against: 'absolute', want: 200, moonshot: 120 },
    { database, figure: 'idle queries', against: 'absolute', want: 2, moonshot: 0.5 },
    { database, figure: 'idle CPU', against: 'absolute', want: 1 },
  ]),
];

/** Returns a verdict for each goal that has figures. */
export const verdictsOn = (figures: readonly Figure[]): Verdict[] =>
  goals.flatMap((goal) => verdictOn(goal, figures.filter(({ database }) => database === goal.database)) ?? []);

function verdictOn(goal: Goal, figures: readonly Figure[]): Verdict | undefined {
  const { database, figure, against, want, moonshot, ours: prefix = 'Stint engine' } = goal;
  const ours = figureOf(figures, figure, prefix);
  const baseline = baselineOf(figures, figure, against);
  if (!ours || baseline === undefined) return undefined;
  const got = baseline === null ? ours.median : against === 'best peer' ? ratioOf(ours, baseline) : ours.median / baseline.median;
  const isAtLeastAsGood = (value: number): boolean => (isHigherBetter(ours.unit) ? got >= value : got <= value);
  return {
    database,
    figure,
    unit: ours.unit,
    ours: ours.median,
    store: figureOf(figures, figure, 'Stint store')?.median ?? null,
    against: baseline === null ? '' : against === 'best peer' ? baseline.peer : `own ${against}`,
    baseline: baseline?.median ?? null,
    want,
    got,
    isReached: isAtLeastAsGood(want),
    isMoonshot: moonshot !== undefined && isAtLeastAsGood(moonshot),
  };
}

/** Our engine / best peer, for the figures of one database; null if there is no peer. */
export function ratioToBest(figures: readonly Figure[], name: FigureName): number | null {
  const [ours, best] = [figureOf(figures, name, 'Stint engine'), baselineOf(figures, name, 'best peer')];
  return ours && best ? ratioOf(ours, best) : null;
}

/** The median of the ratios of the rounds: both were measured in the same minutes. */
const ratioOf = (ours: Figure, other: Figure): number =>
  median(ours.rounds.map((value, round) => value / (other.rounds[round] ?? other.median)));

/** Null: the goal is a number. Undefined: the figure to compare with was not measured. */
function baselineOf(figures: readonly Figure[], name: FigureName, against: Baseline): Figure | null | undefined {
  if (against === 'absolute') return null;
  if (against !== 'best peer') return figureOf(figures, against, 'Stint engine');
  const peers = figures.filter(({ figure, isOurs }) => figure === name && !isOurs);
  const best = (a: Figure, b: Figure): number => (isHigherBetter(a.unit) ? b.median - a.median : a.median - b.median);
  return peers.toSorted(best)[0];
}

const figureOf = (figures: readonly Figure[], name: FigureName, prefix: string): Figure | undefined =>
  figures.find(({ figure, peer }) => figure === name && peer.startsWith(prefix));
