/**
 * The type limit: a named limit that a job type lists, and where the input of a job has its key and its cost. It is
 * part of the type entry, so that programs without the code of the type apply the same limits.
 */
import type { LimitUse } from './limit.ts';
import { keyAt, valueAt } from './path.ts';
import { isWeight, shareUse } from './share.ts';

export interface TypeLimit {
  readonly name: string;
  /** The path in the input to the key; null: the limit has no keys; `code`: only the code of the type can compute it. */
  readonly key: readonly string[] | 'code' | null;
  /** The cost of each job, or the path in the input to it; `code`: only the code of the type can compute it. */
  readonly cost: number | readonly string[] | 'code';
  /** The burst of the limit, above which a cost is refused; null: the type lists the limit by its name only. */
  readonly burst: number | null;
}

/** The fairness of a job type: where the input of a run has the key and the weight of its share. */
export interface TypeFairness {
  /** The path in the input to the key; `code`: only the code of the type can compute it. */
  readonly key: readonly string[] | 'code';
  /** The weight of every key, or the path in the input to it; `code`: only the code of the type can compute it. */
  readonly weight: number | readonly string[] | 'code';
}

/** Returns the limits that a type lists, and its fairness as one of them: see `shareUse`. */
export const limitsWithFairness = (
  { limits = [], fairness }: { readonly limits?: readonly TypeLimit[]; readonly fairness?: TypeFairness },
): readonly TypeLimit[] =>
  fairness === undefined ? limits : [...limits, { name: shareUse, key: fairness.key, cost: fairness.weight, burst: null }];

export const needsCode = (limits: readonly TypeLimit[]): boolean =>
  limits.some(({ key, cost }) => key === 'code' || cost === 'code');

/** Returns the cost at a path of the input: 1 if the input has no value there. It may be no valid cost. */
export function costAt(input: unknown, path: readonly string[]): unknown {
  const value = valueAt(input, path);
  return value === undefined || value === null ? 1 : value;
}

export const costMax = 1_000_000_000;

/** Whether a limit can have this cost. */
export const isCost = (cost: unknown): cost is number => typeof cost === 'number' && cost > 0 && cost <= costMax;

/**
 * Returns what a job with this input uses of the limits, which must not need code. A limit with keys does not apply to
 * an input without a key; a share has no key then. A cost above the burst counts as the burst, and any other cost or
 * weight that is not valid as 1.
 */
export const usesAt = (limits: readonly TypeLimit[], input: unknown): readonly LimitUse[] =>
  limits.flatMap(({ name, key: path, cost, burst }) => {
    const key = Array.isArray(path) ? keyAt(input, path) : null;
    const given = typeof cost === 'number' ? cost : costAt(input, cost as readonly string[]);
    if (name === shareUse) return [{ name, key: key || null, cost: isWeight(given) ? given : 1 }];
    if (key === undefined) return [];
    return [{ name, key, cost: Math.min(isCost(given) ? given : 1, burst ?? Infinity) }];
  });

/**
 * As `usesAt`, for an input of another version of the type, in which the paths may lead to something else: uses that
 * depend on the input are the stored ones, as far as there are any.
 */
export const usesStoredOr = (
  limits: readonly TypeLimit[],
  stored: readonly LimitUse[],
  input: unknown,
): readonly LimitUse[] =>
  limits.flatMap((limit) => {
    const known = dependsOnInput(limit) ? stored.filter(({ name }) => name === limit.name) : [];
    return known.length > 0 ? known : usesAt([limit], input);
  });

export const dependsOnInput = ({ key, cost }: TypeLimit): boolean => key !== null || typeof cost !== 'number';
