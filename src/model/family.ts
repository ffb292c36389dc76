/** The rules between parents and children. */
import type { Hold } from './state.ts';
import { isLate, type Job, type OnTaskFailure } from './job.ts';

/**
 * Returns the hold of a new child. While its parent runs, or can still be reclaimed, the child waits for the parent.
 * Null: the child can be claimed immediately.
 */
export const childHold = (parent: Job): Hold | null =>
  parent.state === 'running' || isLate(parent) ? 'parent' : null;

/** Whether more tasks of a run have failed than its policy tolerates. The run is then asked to cancel, and fails. */
export function exceedsTolerance(policy: OnTaskFailure | undefined, failed: number, total: number): boolean {
  if (policy === undefined || policy === 'collect') return false;
  if (policy === 'failFast') return failed > 0;
  return 'tolerate' in policy ? failed > policy.tolerate : failed * 100 > policy.toleratePercent * total;
}

/** Returns about how many of `total` tasks may fail; `exceedsTolerance` is exact. */
export function toleratedOf(policy: Exclude<OnTaskFailure, 'collect'>, total: number): number {
  if (policy === 'failFast') return 0;
  return 'tolerate' in policy ? policy.tolerate : (policy.toleratePercent * total) / 100;
}
