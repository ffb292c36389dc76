/** Operating on a whole flow: reads its runs, cancels or stops those that are open, and retries those that failed. */
import { applyEach, isChange, type Asker, type CommandRequest } from '../apply.ts';
import { isOpen, type Job } from '../model/job.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { outcomesNow, wouldCancel } from './edge-outcomes.ts';
import type { Act } from './operate.ts';
import { retryJobs } from './retry.ts';
import { cancelChildren, settleAfter, settleParents, stopChildren } from './settle.ts';

const page = 1000;
const portion = 500;

/** Returns the ids of the runs of a flow, ascending. */
export async function runsOfFlow(store: Store, flow: number): Promise<readonly number[]> {
  const ids = await flowRunIds(store, flow);
  if (ids.length === 0) throw new Refusal('unknown.flow', `there is no flow ${flow}`, { flow });
  return ids;
}

/** As `runsOfFlow`; empty if there is no such flow. */
export async function flowRunIds(store: Store, flow: number): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let after = 0; ; ) {
    const some = await store.flowRuns(flow, after, page);
    ids.push(...some);
    if (some.length < page) return ids;
    after = some.at(-1)!;
  }
}

/** Cancels the open runs of a flow; returns how many. */
export const cancelFlow = (store: Store, flow: number, { code = 'user', ...asker }: Act, graceMs?: number): Promise<number> =>
  endOpenRuns(store, flow, asker, { do: 'cancel', code, ...(graceMs === undefined ? {} : { graceMs }) }, (run) =>
    cancelChildren(store, run, asker, graceMs));

/** Stops the open runs of a flow; returns how many. */
export const stopFlow = (store: Store, flow: number, { code = 'user', ...asker }: Act): Promise<number> =>
  endOpenRuns(store, flow, asker, { do: 'stop', code }, (run) => stopChildren(store, run, asker));

type EndCommand = CommandRequest['command'];

/**
 * Ends followers before the runs that they follow, which have lower ids: otherwise a follower that waits for a failure
 * would start.
 */
async function endOpenRuns(
  store: Store,
  flow: number,
  asker: Asker,
  command: EndCommand,
  endTasks: (run: number) => Promise<void>,
): Promise<number> {
  const ids = (await runsOfFlow(store, flow)).toReversed();
  let count = 0;
  for (let from = 0; from < ids.length; from += portion) {
    const open = (await store.load(ids.slice(from, from + portion))).filter(isOpen);
    const changes = (await applyEach(store, open.map((job) => ({ job, command })), asker)).filter(isChange);
    const started = changes.map(({ after }) => after!).filter(({ startedAt }) => startedAt !== null);
    for (const { id } of started) await endTasks(id);
    const waiting = started.filter(({ state }) => state === 'held').map(({ id }) => id);
    if (waiting.length > 0) await settleParents(store, asker, waiting);
    await settleAfter(store, changes, asker);
    count += changes.length;
  }
  return count;
}

/**
 * Returns the runs that failed or were cancelled, except followers that never started and would be cancelled again:
 * these are reopened only if the runs that they follow are.
 */
async function failedAmong(store: Store, ids: readonly number[]): Promise<readonly number[]> {
  const jobs = (await store.load(ids)).filter((job) => job.state === 'ended' && job.fate !== 'succeeded');
  const unstarted = jobs.filter(({ follows, startedAt }) => follows !== null && startedAt === null);
  const outcomes = await outcomesNow(store, unstarted.map(({ id }) => id), new Set());
  const wouldRun = ({ id, follows }: Job): boolean => !outcomes.has(id) || !wouldCancel(follows, outcomes.get(id)!);
  return jobs.filter(wouldRun).map(({ id }) => id);
}

/**
 * Reopens the runs of a flow that failed or were cancelled, in one commit; returns them. Runs that had to wait for them
 * wait again.
 */
export async function retryFlow(store: Store, flow: number, asker: Asker): Promise<readonly Job[]> {
  const ids = await runsOfFlow(store, flow);
  const failed: number[] = [];
  for (let from = 0; from < ids.length; from += portion) {
    failed.push(...(await failedAmong(store, ids.slice(from, from + portion))));
  }
  const sorted = failed.toSorted((a, b) => a - b);
  return retryJobs(store, sorted, asker, { only: 'failed', downstream: 'failed' });
}
