/** The rules between parents and children. */
import type { Hold } from './state.ts';
import { isLate, type Job, type OnTaskFailure } from './job.ts';

/** A child waits while its parent works, and goes at once when its parent waits for children. */
export const childHold = (parent: Job): Hold | null =>
  parent.state === 'running' || isLate(parent) ? 'parent' : null;

/** Whether a run gives up: how many of its tasks failed, and of how many. */
export function exceedsTolerance(policy: OnTaskFailure | undefined, failed: number, total: number): boolean {
  if (policy === undefined || policy === 'collect') return false;
  if (policy === 'failFast') return failed > 0;
  return 'tolerate' in policy ? failed > policy.tolerate : failed * 100 > policy.toleratePercent * total;
}
