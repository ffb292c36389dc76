/**
 * S41: a run starts only after the runs that it follows have ended as it requires. L3: a run does not wait for runs that
 * have ended.
 */
import { afterEnds, type Edge } from '../model/following.ts';
import { isOpen, type Job } from '../model/job.ts';
import { noEdges, type EdgeTally, type Store } from '../store/store.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

const edgesRead = 1000;

export type EdgeTallies = ReadonlyMap<number, EdgeTally>;

/** Reads the tallies that the checks of these jobs need. */
export async function talliesOf(store: Store, jobs: readonly Job[]): Promise<EdgeTallies> {
  const followers = jobs.filter(({ follows }) => follows !== null).map(({ id }) => id);
  return followers.length === 0 ? new Map() : store.tallyEdges(followers);
}

/**
 * Checks the edges of a run that has continued. A run that an operator returned to the queue, or reopened, may start
 * without the runs that it follows, and is not checked.
 */
export function checkFollowing({ job, events }: JobWithHistory, tallies: EdgeTallies): Violation[] {
  if (job.follows === null || job.startedAt === null) return [];
  const kinds = new Set(events.map(({ kind }) => kind));
  if (kinds.has('resumed') || kinds.has('reopened')) return [];
  if (!kinds.has('proceeded')) return [violation('S41', job.id, `run ${job.id} started without the runs it follows`)];
  const tally = tallies.get(job.id) ?? noEdges;
  // A run that it follows may have been reopened since; that opens no edge of a run that has continued.
  const isAsWanted = afterEnds(job.follows, tally.failed + tally.cancelled) === 'proceed';
  if (tally.open === 0 && isAsWanted) return [];
  return [violation('S41', job.id, `run ${job.id} started before the runs that it follows had ended as it requires`)];
}

/** Returns the ids of those of the jobs that wait for runs, although all of these have ended as they require. */
export async function stalledAmong(store: Store, jobs: readonly Job[], tallies: EdgeTallies): Promise<ReadonlySet<number>> {
  const waiting = jobs.filter((job) => job.state === 'held' && job.hold === 'runs');
  const isClosed = ({ id }: Job): boolean => (tallies.get(id) ?? noEdges).open === 0;
  const stalled = waiting.filter(isClosed).filter(({ id, follows }) => {
    const { failed, cancelled } = tallies.get(id) ?? noEdges;
    return follows === null || afterEnds(follows, failed + cancelled) !== 'wait';
  });
  const followers = waiting.filter((job) => !isClosed(job)).map(({ id }) => id);
  return new Set([...stalled.map(({ id }) => id), ...(await followersOfEnded(store, followers))]);
}

/** Returns those of the followers that have an open edge to a run that has ended. */
async function followersOfEnded(store: Store, followers: readonly number[]): Promise<readonly number[]> {
  const found: number[] = [];
  if (followers.length === 0) return found;
  const ids = followers.toSorted((a, b) => a - b);
  for (let after: Edge | undefined; ;) {
    const edges = await store.edgesOfMany({ end: 'follower', ids, limit: edgesRead, ...(after ? { after } : {}) });
    const open = edges.filter(({ outcome }) => outcome === null);
    const followed = await store.load([...new Set(open.map((edge) => edge.followed))]);
    const isOpenRun = new Set(followed.filter(isOpen).map(({ id }) => id));
    found.push(...open.filter((edge) => !isOpenRun.has(edge.followed)).map(({ follower }) => follower));
    if (edges.length < edgesRead) return found;
    after = edges.at(-1)!;
  }
}
