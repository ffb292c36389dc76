/** The bars that need no peer: our own figures beside the raw limit, an empty store, and the original Bedrock server. */
import type { Row } from '../rounds.ts';
import type { BedrockData } from './data.ts';

export interface BarLine {
  readonly title: string;
  readonly got: number;
  /** At least, or at most. */
  readonly want: { readonly atLeast: number } | { readonly atMost: number };
}

/** What the original reaches on eight connections, at its best, without waiting for the disk. */
const originalPerSecond = { create: 2_690, get: 1_210, finish: 2_300, cycles: 560 };

export const isReached = ({ got, want }: BarLine): boolean => ('atLeast' in want ? got >= want.atLeast : got <= want.atMost);

export const limitBars = (rows: readonly Row[]): BarLine[] => [
  ...toLimit(rows, 'postgres', 'create single', 0.8),
  ...toLimit(rows, 'postgres', 'create bulk', 0.8),
  ...toLimit(rows, 'postgres', 'drain', 0.8),
  ...toLimit(rows, 'sqlite', 'drain', 0.7),
  ...behindBacklog(rows, 'postgres'),
  ...behindBacklog(rows, 'sqlite'),
];

export const bedrockBars = ({ perSecond, getMs }: BedrockData): BarLine[] => [
  ...Object.entries(originalPerSecond).map(([what, original]): BarLine => ({
    title: `Bedrock, 8 connections: ${what}, to the original's best`,
    got: perSecond[what]! / original,
    want: { atLeast: 2 },
  })),
  {
    title: `Bedrock: GetJob behind ${getMs.backlog.toLocaleString('en')} jobs of other names, to an empty store`,
    got: getMs.behind / getMs.empty,
    want: { atMost: 2 },
  },
];

/** By one process, with the batch that does best. */
function toLimit(rows: readonly Row[], engine: Row['engine'], workload: string, atLeast: number): BarLine[] {
  const isMeant = ({ params: { processes = 1 }, ...row }: Row): boolean =>
    row.engine === engine && row.workload === workload && processes === 1;
  const own = rows.filter(isMeant);
  const best = own.toSorted((a, b) => b.ours.median - a.ours.median)[0];
  if (!best?.limit) return [];
  const fastest = Math.max(...own.flatMap(({ limit }) => limit?.median ?? []));
  const title = `${engine}: ${workload}, to the limit with history`;
  return [{ title, got: best.ours.median / fastest, want: { atLeast } }];
}

/** How much longer a claim takes behind all there was. */
function behindBacklog(rows: readonly Row[], engine: Row['engine']): BarLine[] {
  const last = rows.findLast((row) => row.engine === engine && row.workload === 'backlog');
  if (!last?.versusBase) return [];
  return [{ title: `${engine}: ${last.title}, to an empty store`, got: 1 / last.versusBase, want: { atMost: 1.5 } }];
}
