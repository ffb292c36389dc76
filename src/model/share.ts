/**
 * The share of a job whose type has `fairness`: jobs with the same key, for example of the same tenant, take turns with
 * those of other keys, and `weight` of them start per turn. Jobs without a key have the empty key.
 */
import type { LimitUse } from './limit.ts';

export interface FairShare {
  readonly key: string;
  readonly weight: number;
}

/**
 * The name under which drafts and definitions carry the share of a job in the list of its limit uses: `key` is its key,
 * `cost` its weight. It is computed, stored and edited with the uses of limits. No limit can have this name.
 */
export const shareUse = '@fairness';

/** The key under which the tasks of a run share their turns if runs take turns with their tasks (`taskFairness`). */
export const shareKeyOfRun = (run: number): string => `run ${run}`;

export const weightMax = 1_000;

export const isWeight = (weight: unknown): weight is number =>
  Number.isSafeInteger(weight) && (weight as number) >= 1 && (weight as number) <= weightMax;

/** Separates the share from the uses of limits; the share is absent if there is none. */
export function splitUses(uses: readonly LimitUse[]): { readonly uses: readonly LimitUse[]; readonly share?: FairShare } {
  const found = uses.find(({ name }) => name === shareUse);
  if (found === undefined) return { uses };
  return { uses: uses.filter((use) => use !== found), share: { key: found.key ?? '', weight: found.cost } };
}
