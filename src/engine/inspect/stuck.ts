/** What is stuck: jobs that only a fault, or the want of a living engine, can leave as they are. */
import type { Jobs } from '../../jobs.ts';

export interface Stuck {
  /** Their lease is over and nobody has repaired them. */
  readonly lapsed: readonly number[];
  /** They wait for children of which none is open. */
  readonly unsettled: readonly number[];
  /** Types of jobs that are due and that no living instance knows, each with how many. */
  readonly unknownTypes: ReadonlyMap<string, number>;
}

const scannedMax = 100;
const engineKinds = ['run', 'task'] as const;

export async function findStuck({ store }: Jobs): Promise<Stuck> {
  const now = store.now();
  const lapsed = await store.lapsed(scannedMax);
  const unsettled = await store.settleable(scannedMax);
  const alive = (await store.instances()).filter(({ leaseUntil }) => leaseUntil > now);
  const known = new Set(alive.flatMap(({ about }) => about.types));
  const waiting = await store.count({ kinds: engineKinds, standings: ['pending'], dueBefore: now });
  const unknownTypes = new Map<string, number>();
  for (const { type, count } of waiting) {
    if (!known.has(type)) unknownTypes.set(type, (unknownTypes.get(type) ?? 0) + count);
  }
  return { lapsed: lapsed.map(({ id }) => id), unsettled: unsettled.map(({ id }) => id), unknownTypes };
}
