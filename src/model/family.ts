/** The rules between parents and children. */
import type { Hold } from './state.ts';
import { isLate, type Job, type OnTaskFailure } from './job.ts';

/**
 * A child is held while its parent runs; while the parent waits for its children, the child can be claimed immediately.
 */
export const childHold = (parent: Job): Hold | null =>
  parent.state === 'running' || isLate(parent) ? 'parent' : null;

/** Whether a run is cancelled for failed tasks, by how many have failed and how many there are. */
export function exceedsTolerance(policy: OnTaskFailure | undefined, failed: number, total: number): boolean {
  if (policy === undefined || policy === 'collect') return false;
  if (policy === 'failFast') return failed > 0;
  return 'tolerate' in policy ? failed > policy.tolerate : failed * 100 > policy.toleratePercent * total;
}
