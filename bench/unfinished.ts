/** Counts the runs of a store that have not ended. */
import type { Store } from '../src/store/store.ts';

export async function unfinishedIn(store: Store): Promise<number> {
  const tallies = await store.count({ kinds: ['run'], standings: ['pending', 'held', 'running'] });
  return tallies.reduce((sum, { count }) => sum + count, 0);
}
