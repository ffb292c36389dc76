/**
 * Finds followers that wait for the retry of runs that were deleted. All runs that these followers follow have ended, so
 * nothing would ever continue them.
 */
import type { Edge } from '../model/following.ts';
import type { Job } from '../model/job.ts';
import type { Writer } from '../store/store.ts';
import { edgePages } from './edge-outcomes.ts';

/**
 * Returns the ids of those of the followers that no retry can continue: one that needs success if a run without success
 * was deleted, one that needs a failure if all its runs were.
 */
export async function waitingInVain(store: Writer, followers: readonly Job[]): Promise<ReadonlySet<number>> {
  const [forSuccess, forFailure] = [withRule(followers, 'succeeded'), withRule(followers, 'failed')];
  const inVain = new Set<number>();
  for await (const edges of edgePages(store, 'follower', forSuccess)) {
    const gone = await deletedRuns(store, edges.filter(({ outcome }) => outcome !== 'succeeded'));
    for (const { follower } of gone) inVain.add(follower);
  }
  const hopeful = new Set<number>();
  for await (const edges of edgePages(store, 'follower', forFailure)) {
    const gone = new Set(await deletedRuns(store, edges));
    for (const edge of edges) if (!gone.has(edge)) hopeful.add(edge.follower);
  }
  for (const id of forFailure) if (!hopeful.has(id)) inVain.add(id);
  return inVain;
}

const withRule = (followers: readonly Job[], on: 'succeeded' | 'failed'): readonly number[] =>
  followers.filter(({ follows }) => follows?.on === on).map(({ id }) => id);

/** Returns the edges to runs that no longer exist. */
async function deletedRuns(store: Writer, edges: readonly Edge[]): Promise<readonly Edge[]> {
  if (edges.length === 0) return [];
  const stored = new Set((await store.load([...new Set(edges.map(({ followed }) => followed))])).map(({ id }) => id));
  return edges.filter(({ followed }) => !stored.has(followed));
}
