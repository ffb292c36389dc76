/**
 * Settling: continues a parent when its last child has ended. This happens after the end of the child is committed. So
 * if the last two children end at the same time, the settling after the later commit sees no open child. If the process
 * crashes between the commit and the settling, the periodic settling of the maintenance continues the parent.
 */
import { applyEach, applyTogether, isChange, remove, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { exceedsTolerance, toleratedOf } from '../model/family.ts';
import type { EndedJob, Job } from '../model/job.ts';
import { step, steps, type Asking } from '../model/machine.ts';
import type { Refusal } from '../refusal.ts';
import { proceedAfter } from './proceed.ts';
import { pagesOf } from '../store/paging.ts';
import type { Store, Writer } from '../store/store.ts';
import { openStandings } from '../store/query.ts';
import { BoundedMap } from '../time/bounded-map.ts';

const settleBatch = 100;

/**
 * Settles the parents of the jobs that ended in these changes. If an ended job is itself a parent that has left children
 * open, stops these children. If other runs follow an ended job, continues those that wait for no other job.
 */
export async function settleAfter(store: Writer, changes: readonly Change[], asker: Asker): Promise<void> {
  const ended = changes.filter(isEnd).map(({ after }) => after);
  for (const parent of ended.filter(mayLeaveChildren)) await stopChildren(store, parent.id, asker);
  await proceedAfter(store, ended, asker);
  const parents = new Set(ended.map(({ parent }) => parent).filter((parent) => parent !== null));
  if (parents.size === 0) return;
  const failed = Map.groupBy(ended.filter(({ fate, parent }) => fate === 'failed' && parent !== null), ({ parent }) => parent!);
  if (failed.size > 0) await cancelOverTolerance(store, failed, asker);
  await settleParents(store, asker, [...parents]);
}

/** A child of a Bedrock job that is requeued while its parent is worked on does not change the parent. */
const mayLeaveChildren = ({ hasChildrenWaiting, kind, parent, fate }: EndedJob): boolean =>
  hasChildrenWaiting || (kind === 'bedrock' && parent === null && fate !== 'succeeded');

const isEnd = (change: Change): change is Change & { readonly after: EndedJob } =>
  change.after?.state === 'ended' && change.before?.state !== 'ended';

/**
 * Continues parents that wait for children and have no open child; returns how many. Without `parents`, finds up to
 * `settleBatch` such parents. After a conflict the parents are read again, because a child may have been added.
 */
export async function settleParents(store: Writer, asker: Asker, parents?: readonly number[]): Promise<number> {
  const changes = await applyTogether(store, async () => {
    const waiting = await store.settleable(parents?.length ?? settleBatch, parents);
    const answers: (Change | Refusal)[] = [];
    for (const job of waiting) answers.push(await settled(store, job, { ...asker, now: store.now() }));
    return answers.filter(isChange);
  });
  await settleAfter(store, changes, asker);
  return changes.length;
}

/**
 * Continues a parent; ends it if more of its children have failed than it tolerates. After a crash between the end of a child
 * and the cancel of its parent, nothing else would notice that.
 */
async function settled(store: Writer, parent: Job, asking: Asking): Promise<Change | Refusal> {
  const isOver = parent.cancel === null && (await hasExceededTolerance(store, parent));
  return isOver
    ? steps(parent, [giveUp, { do: 'settle' }], { ...asking, why: overTolerance })
    : step(parent, { do: 'settle' }, asking);
}

const overTolerance = 'more tasks failed than the run tolerates';
const giveUp = { do: 'cancel', code: 'automation', fate: 'failed' } as const;

/**
 * Stops open children of parents that have ended, and deletes open children of parents that were deleted. A crash after
 * the end of a parent leaves its children open. Returns how many ended or deleted parents had open children.
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

/**
 * Cancels runs in which more tasks have failed than `onTaskFailure` tolerates, and their open tasks. `failed`: the tasks
 * that have just failed, by their runs.
 */
async function cancelOverTolerance(store: Writer, failed: ReadonlyMap<number, readonly Job[]>, asker: Asker): Promise<void> {
  const parents = (await store.load([...failed.keys()])).filter((job) => job.state !== 'ended' && job.cancel === null);
  for (const parent of parents) {
    if (!(await isNowOverTolerance(store, parent, failed.get(parent.id)!.length))) continue;
    await applyEach(store, [{ job: parent, command: giveUp }], { ...asker, why: overTolerance });
    await cancelChildren(store, parent.id, asker);
  }
}

/**
 * By store and run: how many tasks may fail here before the tasks are counted again. To count all tasks at every failure
 * would take the square of their number. After a part of what is still tolerated, the count is due: up to `sharesMax`
 * instances together store no more failures meanwhile.
 */
const failuresLeft = new WeakMap<Writer, BoundedMap<number, number>>();
const runsMax = 1_000;
const sharesMax = 32;

/** As `hasExceededTolerance` after some failures; false also if it is not due to count. The settling of the run counts. */
async function isNowOverTolerance(store: Writer, parent: Job, failures: number): Promise<boolean> {
  const { id, policy: { onTaskFailure } } = parent;
  if (onTaskFailure === undefined || onTaskFailure === 'collect') return false;
  if (onTaskFailure === 'failFast') return true;
  const ofStore = failuresLeft.get(store) ?? new BoundedMap(runsMax);
  failuresLeft.set(store, ofStore);
  const left = (ofStore.get(id) ?? 1) - failures;
  if (left > 0) {
    ofStore.set(id, left);
    return false;
  }
  const { failed, total } = await countFailed(store, id);
  const isOver = exceedsTolerance(onTaskFailure, failed, total);
  if (!isOver) ofStore.set(id, Math.max(1, Math.floor((toleratedOf(onTaskFailure, total) - failed) / sharesMax)));
  return isOver;
}

async function hasExceededTolerance(store: Writer, { id, policy: { onTaskFailure } }: Job): Promise<boolean> {
  if (onTaskFailure === undefined || onTaskFailure === 'collect') return false;
  const { failed, total } = await countFailed(store, id);
  return exceedsTolerance(onTaskFailure, failed, total);
}

async function countFailed(store: Writer, parent: number): Promise<{ readonly failed: number; readonly total: number }> {
  const tallies = await store.count({ parent });
  const sum = (some: typeof tallies): number => some.reduce((all, { count }) => all + count, 0);
  return { failed: sum(tallies.filter(({ standing }) => standing === 'failed')), total: sum(tallies) };
}

/**
 * Cancels the open children: ends children that are not running, and asks running children to stop. After `graceMs`, if
 * given, running children are stopped by force.
 */
export async function cancelChildren(store: Writer, parent: number, asker: Asker, graceMs?: number): Promise<void> {
  const command = { do: 'cancel', code: 'parent', ...(graceMs === undefined ? {} : { graceMs }) } as const;
  for await (const children of openChildren(store, parent)) {
    const changed = (await applyEach(store, children.map((job) => ({ job, command })), asker)).filter(isChange);
    const parents = changed.map(({ after }) => after!).filter(mayHaveChildren);
    for (const { id } of parents) await cancelChildren(store, id, asker, graceMs);
    if (parents.length > 0) await settleParents(store, asker, parents.map(({ id }) => id));
  }
}

/** Only a run that has started can have children of its own: those of a task or of a Bedrock child have none. */
const mayHaveChildren = ({ kind, startedAt }: Job): boolean => kind === 'run' && startedAt !== null;

/** Stops all open children. The refusal of a child that has ended in the meantime is ignored. */
export async function stopChildren(store: Writer, parent: number, asker: Asker): Promise<void> {
  for await (const children of openChildren(store, parent)) {
    await applyEach(store, children.map((job) => ({ job, command: { do: 'stop', code: 'parent' } as const })), asker);
    for (const { id } of children.filter(mayHaveChildren)) await stopChildren(store, id, asker);
  }
}

/** Reads the open children page by page, because a run may have a million of them. */
export const openChildren = (store: Writer, parent: number): AsyncGenerator<readonly Job[], void> =>
  pagesOf(store, { parent, standings: openStandings });
