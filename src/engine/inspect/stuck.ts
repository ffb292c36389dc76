/** Stuck jobs: jobs that do not proceed because of a fault, or because no live engine can process them. */
import type { Jobs } from '../../jobs.ts';

export interface Stuck {
  /** Jobs whose lease has lapsed and that have not been repaired. */
  readonly lapsed: readonly number[];
  /** Jobs that wait for children, although none is open. */
  readonly unsettled: readonly number[];
  /** The types that no live instance has, each with the number of its due jobs. */
  readonly unknownTypes: ReadonlyMap<string, number>;
}

const scannedMax = 100;
const engineKinds = ['run', 'task'] as const;

export async function findStuck({ store }: Jobs): Promise<Stuck> {
  const now = store.now();
  const lapsed = await store.lapsed(scannedMax);
  const unsettled = await store.settleable(scannedMax);
  const live = (await store.instances()).filter(({ leaseUntil }) => leaseUntil > now);
  const known = new Set(live.flatMap(({ about }) => about.types));
  const waiting = await store.count({ kinds: engineKinds, standings: ['pending'], dueBefore: now });
  const unknownTypes = new Map<string, number>();
  for (const { type, count } of waiting) {
    if (!known.has(type)) unknownTypes.set(type, (unknownTypes.get(type) ?? 0) + count);
  }
  return { lapsed: lapsed.map(({ id }) => id), unsettled: unsettled.map(({ id }) => id), unknownTypes };
}
