/**
 * Shares in use: how many jobs of each fairness key of a type have started and not ended, and which part of all of these
 * that is, beside the part that the weight of the key has among the same keys.
 */
import { parseGate } from '../../model/gate.ts';
import { taskGate } from '../declare/type-registry.ts';

export interface ShareInUse {
  readonly of: 'runs' | 'tasks';
  /** Empty: the jobs without a key. */
  readonly key: string;
  /** If running jobs of the key have different weights, the highest. */
  readonly weight: number;
  readonly running: number;
  /** The part of the key in all running jobs with shares, from 0 to 1. */
  readonly part: number;
  /** The part of its weight in the weights of the keys that have running jobs, from 0 to 1. */
  readonly fairPart: number;
}

export const sharesShownMax = 100;

/** Returns the shares of the keys with the most running jobs, runs before tasks. */
export function sharesInUse(type: string, admitted: ReadonlyMap<string, number>): readonly ShareInUse[] {
  const perKey = new Map<string, RunningKey>();
  for (const [text, running] of admitted) {
    const { type: gateType, share } = parseGate(text);
    if (share === undefined) continue;
    const of = gateType === taskGate(type) ? 'tasks' : 'runs';
    const name = JSON.stringify([of, share.key]);
    const { running: before = 0, weight = 1 } = perKey.get(name) ?? {};
    perKey.set(name, { of, key: share.key, weight: Math.max(weight, share.weight), running: before + running });
  }
  const groups = Map.groupBy(perKey.values(), ({ of }) => of);
  return (['runs', 'tasks'] as const).flatMap((of) => partsOf(groups.get(of) ?? []));
}

type RunningKey = Pick<ShareInUse, 'of' | 'key' | 'weight' | 'running'>;

function partsOf(keys: readonly RunningKey[]): readonly ShareInUse[] {
  const [running, weight] = [sum(keys.map((key) => key.running)), sum(keys.map((key) => key.weight))];
  return keys
    .map((key) => ({ ...key, part: key.running / running, fairPart: key.weight / weight }))
    .sort((a, b) => b.running - a.running || (a.key < b.key ? -1 : 1))
    .slice(0, sharesShownMax);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
