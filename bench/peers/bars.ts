/** The bars: what we want to reach beside the best peer on the same ground, and what the figures say to it. */
import type { Figure } from './contest.ts';
import type { GroundName } from './entrant.ts';
import { isMoreBetter, type FigureName, type Unit } from './reading.ts';

/** The best peer's figure, one of our own, or a plain number. */
type Yardstick = 'best peer' | FigureName | 'absolute';

interface Bar {
  readonly ground: GroundName;
  readonly figure: FigureName;
  readonly against: Yardstick;
  /** How often the yardstick, at least or at most, whichever is better; or the number itself. */
  readonly want: number;
  readonly moonshot?: number;
}

export interface Verdict {
  readonly ground: GroundName;
  readonly figure: FigureName;
  readonly unit: Unit;
  /** The engine's, as a user has it. */
  readonly ours: number;
  /** The store's alone, where it was measured. */
  readonly store: number | null;
  readonly against: string;
  /** What is compared with; null: a plain number. */
  readonly yardstick: number | null;
  readonly want: number;
  readonly got: number;
  readonly isReached: boolean;
  readonly isMoonshot: boolean;
}

export const bars: readonly Bar[] = [
  { ground: 'postgres', figure: 'create single', against: 'best peer', want: 2 },
  { ground: 'postgres', figure: 'create in flight', against: 'best peer', want: 8, moonshot: 15 },
  { ground: 'postgres', figure: 'create bulk', against: 'best peer', want: 1.5 },
  { ground: 'postgres', figure: 'drain 1', against: 'best peer', want: 1.2 },
  { ground: 'postgres', figure: 'drain 2', against: 'best peer', want: 1 },
  { ground: 'postgres', figure: 'drain CPU', against: 'best peer', want: 1 },
  { ground: 'postgres', figure: 'pick-up here p50', against: 'best peer', want: 1 },
  { ground: 'postgres', figure: 'pick-up here p95', against: 'best peer', want: 1 },
  { ground: 'postgres', figure: 'pick-up elsewhere p50', against: 'best peer', want: 1 },
  { ground: 'postgres', figure: 'pick-up elsewhere p95', against: 'best peer', want: 1 },
  { ground: 'sqlite', figure: 'drain 1', against: 'best peer', want: 5 },
  { ground: 'sqlite', figure: 'create in flight', against: 'best peer', want: 1, moonshot: 2 },
  { ground: 'sqlite', figure: 'create bulk', against: 'best peer', want: 0.8, moonshot: 1 },
  { ground: 'sqlite', figure: 'pick-up here p50', against: 'absolute', want: 1.5, moonshot: 1 },
  { ground: 'sqlite', figure: 'pick-up elsewhere p50', against: 'absolute', want: 2, moonshot: 1 },
  ...(['postgres', 'sqlite'] as const).flatMap((ground): Bar[] => [
    { ground, figure: 'fan-out', against: 'drain 1', want: 0.8, moonshot: 0.95 },
    { ground, figure: 'drain memory', against: 'absolute', want: 200, moonshot: 120 },
    { ground, figure: 'idle queries', against: 'absolute', want: 2, moonshot: 0.5 },
    { ground, figure: 'idle CPU', against: 'absolute', want: 1 },
  ]),
];

/** Of the bars for which there are figures. */
export const verdictsOn = (figures: readonly Figure[]): Verdict[] =>
  bars.flatMap((bar) => verdictOn(bar, figures.filter(({ ground }) => ground === bar.ground)) ?? []);

function verdictOn({ ground, figure, against, want, moonshot }: Bar, figures: readonly Figure[]): Verdict | undefined {
  const ours = figureOf(figures, figure, 'Stint engine');
  const yardstick = yardstickOf(figures, figure, against);
  if (!ours || yardstick === undefined) return undefined;
  const got = yardstick === null ? ours.median : ours.median / yardstick.median;
  const isAtLeastAsGood = (bar: number): boolean => (isMoreBetter(ours.unit) ? got >= bar : got <= bar);
  return {
    ground,
    figure,
    unit: ours.unit,
    ours: ours.median,
    store: figureOf(figures, figure, 'Stint store')?.median ?? null,
    against: yardstick === null ? '' : against === 'best peer' ? yardstick.entrant : `own ${against}`,
    yardstick: yardstick?.median ?? null,
    want,
    got,
    isReached: isAtLeastAsGood(want),
    isMoonshot: moonshot !== undefined && isAtLeastAsGood(moonshot),
  };
}

/** How our engine stands to the best peer among these figures, which are of one ground; null: nobody to compare with. */
export function ratioToBest(figures: readonly Figure[], name: FigureName): number | null {
  const [ours, best] = [figureOf(figures, name, 'Stint engine'), yardstickOf(figures, name, 'best peer')];
  return ours && best ? ours.median / best.median : null;
}

/** Undefined: there is nothing to compare with. */
function yardstickOf(figures: readonly Figure[], name: FigureName, against: Yardstick): Figure | null | undefined {
  if (against === 'absolute') return null;
  if (against !== 'best peer') return figureOf(figures, against, 'Stint engine');
  const peers = figures.filter(({ figure, isOurs }) => figure === name && !isOurs);
  const best = (a: Figure, b: Figure): number => (isMoreBetter(a.unit) ? b.median - a.median : a.median - b.median);
  return peers.toSorted(best)[0];
}

const figureOf = (figures: readonly Figure[], name: FigureName, who: string): Figure | undefined =>
  figures.find(({ figure, entrant }) => figure === name && entrant.startsWith(who));
