/**
 * Settling: what the end of a child means for its parent. It happens after the child's end is committed: of two last
 * children, the one that commits later finds no open sibling. A crash in between is made good by the settler's rounds.
 */
import { applyEach, applyTogether, isChange, remove, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { exceedsTolerance } from '../model/family.ts';
import type { Job } from '../model/job.ts';
import { step } from '../model/machine.ts';
import { pagesOf } from '../store/paging.ts';
import type { Store } from '../store/store.ts';
import { openStandings } from '../store/query.ts';

const settleBatch = 100;

/** Looks after the parents of the children that ended in these changes, and after the children of parents that did. */
export async function settleAfter(store: Store, changes: readonly Change[], asker: Asker): Promise<void> {
  const ended = changes.flatMap(({ before, after }) =>
    after?.state === 'ended' && before?.state !== 'ended' ? [after] : [],
  );
  for (const parent of ended) if (parent.hasChildrenWaiting) await stopChildren(store, parent.id, asker);
  const parents = new Set(ended.flatMap((job) => job.parent ?? []));
  if (parents.size === 0) return;
  const parentsOfFailed = new Set(ended.flatMap((job) => (job.fate === 'failed' && job.parent !== null ? [job.parent] : [])));
  if (parentsOfFailed.size > 0) await cancelOverTolerance(store, [...parentsOfFailed], asker);
  await settleParents(store, asker, [...parents]);
}

/**
 * Lets parents go on that wait for nobody; answers how many. Without a list: any of them. Whoever loses to another
 * writer looks again, since that may have been a new child.
 */
export async function settleParents(store: Store, asker: Asker, parents?: readonly number[]): Promise<number> {
  const changes = await applyTogether(store, async () => {
    const waiting = await store.settleable(parents?.length ?? settleBatch, parents);
    return waiting.map((job) => step(job, { do: 'settle' }, { ...asker, now: store.now() })).filter(isChange);
  });
  await settleAfter(store, changes, asker);
  return changes.length;
}

/**
 * Ends what parents left open when they ended, since whoever was to see to it is gone; of a parent that was deleted,
 * the children go too. Answers how many parents there were.
 */
export async function endOrphans(store: Store, asker: Asker): Promise<number> {
  const parents = await store.orphaned(settleBatch);
  if (parents.length === 0) return 0;
  const ended = new Set((await store.load(parents)).map(({ id }) => id));
  for (const parent of parents) {
    if (ended.has(parent)) await stopChildren(store, parent, { ...asker, why: 'its parent has ended' });
    else for await (const children of openChildren(store, parent)) await remove(store, children);
  }
  return parents.length;
}

/** Runs whose tolerance for failed tasks is used up are asked to give up; their open tasks follow. */
async function cancelOverTolerance(store: Store, ids: readonly number[], asker: Asker): Promise<void> {
  const parents = (await store.load(ids)).filter((job) => job.state !== 'ended' && job.cancel === null);
  for (const parent of parents) {
    if (!(await hasExceededTolerance(store, parent))) continue;
    const why = 'more tasks failed than the run tolerates';
    const command = { do: 'cancel', code: 'automation', fate: 'failed' } as const;
    await applyEach(store, [{ job: parent, command }], { ...asker, why });
    await cancelChildren(store, parent.id, asker);
  }
}

async function hasExceededTolerance(store: Store, parent: Job): Promise<boolean> {
  const { onTaskFailure } = parent.policy;
  if (onTaskFailure === undefined || onTaskFailure === 'collect') return false;
  const tallies = await store.count({ parent: parent.id });
  const sum = (standing?: string): number =>
    tallies
      .filter((tally) => standing === undefined || tally.standing === standing)
      .reduce((all, { count }) => all + count, 0);
  return exceedsTolerance(onTaskFailure, sum('failed'), sum());
}

/** Ends the children that wait and tells those that run; if they will not end in time, they are stopped. */
export async function cancelChildren(store: Store, parent: number, asker: Asker, graceMs?: number): Promise<void> {
  const command = { do: 'cancel', code: 'parent', ...(graceMs === undefined ? {} : { graceMs }) } as const;
  for await (const children of openChildren(store, parent)) {
    await applyEach(store, children.map((job) => ({ job, command })), asker);
  }
}

/** Ends the children, whatever they do. One that ended by itself in the meantime refuses, and needs no stop. */
export async function stopChildren(store: Store, parent: number, asker: Asker): Promise<void> {
  for await (const children of openChildren(store, parent)) {
    await applyEach(store, children.map((job) => ({ job, command: { do: 'stop', code: 'parent' } as const })), asker);
  }
}

/** In helpings: a run may have a million of them. */
export const openChildren = (store: Store, parent: number): AsyncGenerator<readonly Job[], void> =>
  pagesOf(store, { parent, standings: openStandings });
