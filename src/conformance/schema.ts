/** The store itself: its schema, its clock, and the end of a connection. */
import { deepEqual, equal } from 'node:assert/strict';
import { same } from './same.ts';
import type { Topic } from './world.ts';

export const schema: Topic = {
  name: 'the store itself',
  examples: {
    'migrating an up-to-date schema does nothing, repeatedly and concurrently': async (world) => {
      const job = await world.create();
      const other = await world.again();
      const asked = [world.store.migrate(), other.migrate(), world.store.migrate({ dryRun: true })];
      for (const { from, to, statements } of await Promise.all(asked)) {
        equal(from, to);
        deepEqual(statements, []);
      }
      same(await world.load(job.id), job);
    },

    'store time is that of the given clock': async (world) => {
      equal(world.store.now(), world.now());
      await world.advance(12_345);
      equal(world.store.now(), world.now());
    },

    'committed data survives closing the connection': async (world) => {
      const first = await world.again();
      const change = await world.newJob();
      await first.commit({ changes: [change] });
      if (first !== world.store) await first.close();
      const second = await world.again();
      same(await world.load(change.after.id, second), change.after);
    },
  },
};
