/** Goals without a peer: our figures against the raw limit, an empty store, and the original Bedrock server. */
import type { Row } from '../rounds.ts';
import type { BedrockData } from './data.ts';

export interface GoalLine {
  readonly title: string;
  readonly got: number;
  readonly want: { readonly atLeast: number } | { readonly atMost: number };
}

/** The best rates of the original server: eight connections, no sync to disk. */
const originalPerSecond = { create: 2_690, get: 1_210, finish: 2_300, cycles: 560 };

export const isReached = ({ got, want }: GoalLine): boolean =>
  'atLeast' in want ? got >= want.atLeast : got <= want.atMost;

export const limitGoals = (rows: readonly Row[]): GoalLine[] => [
  ...toLimit(rows, 'postgres', 'create single', 0.8),
  ...toLimit(rows, 'postgres', 'create bulk', 0.8),
  ...toLimit(rows, 'postgres', 'drain', 0.8),
  ...toLimit(rows, 'sqlite', 'drain', 0.7),
  ...withBacklog(rows, 'postgres'),
  ...withBacklog(rows, 'sqlite'),
];

export const bedrockGoals = ({ perSecond, getMs }: BedrockData): GoalLine[] => [
  ...Object.entries(originalPerSecond).map(([what, original]): GoalLine => ({
    title: `Bedrock, 8 connections: ${what}, to the original's best`,
    got: perSecond[what]! / original,
    want: { atLeast: 2 },
  })),
  {
    title: `Bedrock: GetJob behind ${getMs.backlog.toLocaleString('en')} jobs of other names, to an empty store`,
    got: getMs.withBacklog / getMs.empty,
    want: { atMost: 2 },
  },
];

/** Compares the fastest batch size of one process with the fastest limit. */
function toLimit(rows: readonly Row[], database: Row['database'], workload: string, atLeast: number): GoalLine[] {
  const isComparable = ({ params: { processes = 1 }, ...row }: Row): boolean =>
    row.database === database && row.workload === workload && processes === 1;
  const own = rows.filter(isComparable);
  const best = own.toSorted((a, b) => b.ours.median - a.ours.median)[0];
  if (!best?.limit) return [];
  const fastest = Math.max(...own.flatMap(({ limit }) => limit?.median ?? []));
  const title = `${database}: ${workload}, to the limit with history`;
  return [{ title, got: best.ours.median / fastest, want: { atLeast } }];
}

/** Time of a claim with the largest backlog against an empty store. */
function withBacklog(rows: readonly Row[], database: Row['database']): GoalLine[] {
  const last = rows.findLast((row) => row.database === database && row.workload === 'backlog');
  if (!last?.versusBase) return [];
  return [{ title: `${database}: ${last.title}, to an empty store`, got: 1 / last.versusBase, want: { atMost: 1.5 } }];
}
