import { expect, test } from 'vitest';
import { repairBatch, repairLapsed, repairUnknownClaims } from '../../src/jobs/repair.ts';
import type { Job } from '../../src/model/job.ts';
import { minute, World } from './world.ts';
import { stores } from '../support/stores.ts';

for (const kind of stores) {
  test(`S6: a late repair does not take the job from its new holder, on ${kind.name}`, async () => {
    const world = await World.open(kind);
    try {
      const { id } = await world.running();
      await world.clock.advance(minute);
      const beatenToIt = new Proxy(world.store, {
        get: (store, name) => {
          if (name !== 'lapsed') {
            return (store[name as keyof typeof store] as (...values: unknown[]) => unknown).bind(store);
          }
          return async (limit: number): Promise<readonly Job[]> => {
            const found = await store.lapsed(limit);
            await repairLapsed(world.store, 'first');
            await world.claim({ holder: 'newcomer', leaseMs: null });
            return found;
          };
        },
      });
      expect(await repairLapsed(beatenToIt, 'second')).toBe(0);
      expect(await world.get(id)).toMatchObject({ state: 'running', fence: 2, lease: { holder: 'newcomer' } });
    } finally {
      await world.close();
    }
  });
}

for (const kind of stores) {
  test(`unknown claims behind more known ones than one batch are repaired, on ${kind.name}`, async () => {
    const world = await World.open(kind);
    try {
      const count = 2 * repairBatch + 10;
      await world.jobs.createMany(Array.from({ length: count }, () => ({ type: 'plain' })), 'producer');
      const claimed = await world.claim({ holder: 'ann', leaseMs: null, limit: count });
      const known = new Set(claimed.slice(0, repairBatch).map(({ id }) => id));
      const isKnown = { count: known.size, has: ({ id }: Job) => known.has(id) };
      expect(await repairUnknownClaims(world.store, 'ann', isKnown, 'lost answer')).toBe(repairBatch + 10);
      const held = await world.store.heldUnderLeaseOf('ann', count);
      expect(held.map(({ id }) => id)).toEqual([...known]);
    } finally {
      await world.close();
    }
  });
}
