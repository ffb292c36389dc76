/**
 * The type limit: a named limit that a job type lists, and where the input of a job has its key and its cost. It is
 * part of the type entry, so that programs without the code of the type apply the same limits.
 */
import type { LimitUse } from './limit.ts';
import { keyAt, valueAt } from './path.ts';

export interface TypeLimit {
  readonly name: string;
  /** The path in the input to the key; null: the limit has no keys; `code`: only the code of the type can compute it. */
  readonly key: readonly string[] | 'code' | null;
  /** The cost of each job, or the path in the input to it; `code`: only the code of the type can compute it. */
  readonly cost: number | readonly string[] | 'code';
  /** The burst of the limit, above which a cost is refused; null: the type lists the limit by its name only. */
  readonly burst: number | null;
}

export const needsCode = (limits: readonly TypeLimit[]): boolean =>
  limits.some(({ key, cost }) => key === 'code' || cost === 'code');

/** Returns the cost at a path of the input: 1 if the input has no value there. It may be no valid cost. */
export function costAt(input: unknown, path: readonly string[]): unknown {
  const value = valueAt(input, path);
  return value === undefined || value === null ? 1 : value;
}

/** Whether a limit can have this cost. */
export const isCost = (cost: unknown): cost is number => typeof cost === 'number' && Number.isFinite(cost) && cost > 0;

/**
 * Returns what a job with this input uses of the limits, which must not need code. A limit with keys does not apply to
 * an input without a key. A cost above the burst counts as the burst, and any other cost that is not valid as 1.
 */
export const usesAt = (limits: readonly TypeLimit[], input: unknown): readonly LimitUse[] =>
  limits.flatMap(({ name, key: path, cost, burst }) => {
    const key = Array.isArray(path) ? keyAt(input, path) : null;
    if (key === undefined) return [];
    const given = typeof cost === 'number' ? cost : costAt(input, cost as readonly string[]);
    return [{ name, key, cost: Math.min(isCost(given) ? given : 1, burst ?? Infinity) }];
  });
