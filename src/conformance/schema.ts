/** The store itself: its schema, its clock, and the end of a connection. */
import { deepEqual, equal, rejects } from 'node:assert/strict';
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

    'a closed store refuses every call, and can be closed again': async (world) => {
      const store = await world.again();
      const job = await world.createRunning();
      const change = await world.newJob();
      await store.close();
      const request = { kinds: [job.kind], names: { exact: [job.type] }, limit: 1 };
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.reserveIds(1), () => store.commit({ changes: [change] }), () => store.claim(request, () => []),
        () => store.load([job.id]), () => store.find({}), () => store.count({}), () => store.jobsByKey(['k']),
        () => store.history(job.id), () => store.eventsAfter(null, 1), () => store.feedEnd(), () => store.log(job.id),
        () => store.writeNotes([{ id: job.id, fence: job.fence, progress: '1' }]), () => store.lapsed(1),
        () => store.instances(), () => store.lead('role', 'a', 1000), () => store.health(),
        () => store.purge({ limit: 1, feedKeptMs: 0, retentionMs: 0 }),
      ];
      for (const call of calls) await rejects(call(), { code: 'unavailable.store' }, String(call));
      await store.close();
    },
  },
};
