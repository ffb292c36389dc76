/**
 * S41: a run starts only after the runs that it follows have ended as it requires. L3: a run does not wait for runs that
 * have ended.
 */
import { afterEnds } from '../model/following.ts';
import { isOpen, type Job } from '../model/job.ts';
import { noEdges, type Store } from '../store/store.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

const edgesRead = 1000;

/**
 * Checks the edges of a run that has continued. A run that an operator returned to the queue, or reopened, may start
 * without the runs that it follows, and is not checked.
 */
export async function checkFollowing(store: Store, { job, events }: JobWithHistory): Promise<Violation[]> {
  const kinds = events.map(({ kind }) => kind);
  const isOverridden = kinds.some((kind) => kind === 'resumed' || kind === 'reopened');
  if (job.follows === null || isOverridden || job.startedAt === null) return [];
  if (!kinds.includes('proceeded')) return [violation('S41', job.id, `run ${job.id} started without the runs it follows`)];
  const tally = (await store.tallyEdges([job.id])).get(job.id) ?? noEdges;
  // A run that it follows may have been reopened since; that opens no edge of a run that has continued.
  const isAsWanted = afterEnds(job.follows, tally.failed + tally.cancelled) === 'proceed';
  if (tally.open === 0 && isAsWanted) return [];
  return [violation('S41', job.id, `run ${job.id} started before the runs that it follows had ended as it requires`)];
}

/** Returns the ids of those of the jobs that wait for runs, although all of these have ended as they require. */
export async function stalledAmong(store: Store, jobs: readonly Job[]): Promise<ReadonlySet<number>> {
  const stalled = new Set<number>();
  for (const job of jobs.filter((one) => one.state === 'held' && one.hold === 'runs')) {
    if (await isStalled(store, job)) stalled.add(job.id);
  }
  return stalled;
}

async function isStalled(store: Store, { id, follows }: Job): Promise<boolean> {
  const tally = (await store.tallyEdges([id])).get(id) ?? noEdges;
  if (tally.open === 0) return follows === null || afterEnds(follows, tally.failed + tally.cancelled) !== 'wait';
  const open = await store.edges({ follower: id, limit: edgesRead, isOpen: true });
  const followed = await store.load(open.map((edge) => edge.followed));
  return followed.filter(isOpen).length < open.length;
}
