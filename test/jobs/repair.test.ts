import { expect, test } from 'vitest';
import { repairLapsed } from '../../src/jobs/repair.ts';
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
          if (name !== 'lapsed') return (store[name as keyof typeof store] as (...values: unknown[]) => unknown).bind(store);
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
