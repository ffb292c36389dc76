/** How many jobs a store still has to see through. */
import type { Store } from '../src/store/store.ts';

export async function unfinishedIn(store: Store): Promise<number> {
  const tallies = await store.count({ kinds: ['run'], standings: ['pending', 'held', 'running'] });
  return tallies.reduce((sum, { count }) => sum + count, 0);
}
