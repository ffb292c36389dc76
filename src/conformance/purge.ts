/** Retention: ended jobs are deleted after their retention, with all their data; other jobs and data stay. */
import { deepEqual, equal } from 'node:assert/strict';
import { same } from './same.ts';
import { childOf, type Topic, type World } from './world.ts';

const forever = Number.MAX_SAFE_INTEGER;

const purgeAll = (world: World, retentionMs: number | null = 1000): Promise<number> =>
  world.store.purge({ limit: 1000, feedKeptMs: forever, retentionMs });

const stop = { do: 'stop', code: 'admin' } as const;

export const purge: Topic = {
  name: 'retention',
  examples: {
    'an ended job is deleted after its retention, and not before': async (world) => {
      const job = await world.createEnded();
      await world.advance(999);
      equal(await purgeAll(world), 0);
      same(await world.load(job.id), job);
      await world.advance(1);
      equal(await purgeAll(world), 1);
      equal(await world.load(job.id), undefined);
      equal(await purgeAll(world), 0);
    },

    'a job\'s own retention goes before that of the store': async (world) => {
      const short = await world.createEnded({ policy: { retentionMs: 10 } });
      const long = await world.createEnded({ policy: { retentionMs: 100_000 } });
      await world.advance(10);
      equal(await purgeAll(world), 1);
      equal(await world.load(short.id), undefined);
      await world.advance(50_000);
      equal(await purgeAll(world), 0);
      same(await world.load(long.id), long);
    },

    'without any retention, jobs are never deleted': async (world) => {
      await world.createEnded();
      await world.createEnded({ policy: { retentionMs: 0 } });
      await world.advance(1_000_000_000_000);
      equal(await purgeAll(world, null), 1);
      equal((await world.store.find({})).jobs.length, 1);
    },

    'a failed Bedrock job stays until it is deleted, unlike those that succeeded or were cancelled': async (world) => {
      const error = { code: 'unknown', message: 'x' } as const;
      const failed = await world.apply(await world.createRunning({ kind: 'bedrock' }, { leaseMs: null }), {
        do: 'fail', fence: 1, error, retryable: false,
      });
      await world.apply(await world.createRunning({ kind: 'bedrock' }, { leaseMs: null }), { do: 'succeed', fence: 1 });
      await world.createEnded({ kind: 'bedrock' });
      await world.advance(1_000_000_000_000);
      equal(await purgeAll(world, 0), 2);
      same(await world.load(failed.id), failed);
      equal((await world.store.find({})).jobs.length, 1);
    },

    'open jobs are never deleted': async (world) => {
      await world.createAll([{ policy: { retentionMs: 0 } }, { hold: 'pause', policy: { retentionMs: 0 } }]);
      await world.createRunning({ policy: { retentionMs: 0 } }, { leaseMs: null });
      const { parent } = await world.createFamily(1);
      await world.advance(1_000_000_000);
      equal(await purgeAll(world, 0), 0);
      same(await world.load(parent.id), parent);
      equal((await world.store.find({})).jobs.length, 5);
    },

    'a reopened job is not deleted for its earlier end': async (world) => {
      const ended = await world.createEnded({ policy: { retentionMs: 10 } });
      const open = await world.apply(ended, { do: 'retry', reopens: 0 });
      await world.advance(5000);
      equal(await purgeAll(world), 0);
      await world.apply(open, stop);
      equal(await purgeAll(world), 0, 'its retention counts from its newest end');
      await world.advance(10);
      equal(await purgeAll(world), 1);
    },

    'a purge deletes at most as many jobs as its limit': async (world) => {
      for (const policy of [{ retentionMs: 5 }, {}, { retentionMs: 5 }, {}, {}]) await world.createEnded({ policy });
      await world.advance(1000);
      const some = { limit: 2, feedKeptMs: forever, retentionMs: 1000 };
      for (const gone of [2, 2, 1]) equal(await world.store.purge(some), gone);
      equal((await world.store.find({})).jobs.length, 0);
    },

    'ended children stay as long as their parent, and are deleted with it and all their data': async (world) => {
      const { parent, children } = await world.createFamily(2, {}, { policy: { retentionMs: 0 } });
      const [child] = await world.claim({ kinds: ['task'], limit: 1 });
      const log = [{ at: 1, level: 'info', text: 'x' }] as const;
      await world.store.writeNotes([{ id: child!.id, fence: child!.fence, progress: '1', log }]);
      for (const { id } of children) await world.apply((await world.load(id))!, stop);
      await world.advance(5000);
      equal(await purgeAll(world), 0, 'their parent is open');
      equal((await world.store.find({ parent: parent.id })).jobs.length, 2);
      await world.apply(parent, stop);
      await world.advance(1000);
      equal(await purgeAll(world), 1);
      deepEqual(await world.store.load([parent.id, ...children.map(({ id }) => id)]), []);
      for (const { id } of [parent, ...children]) deepEqual(await world.store.history(id), []);
      equal(await world.store.progress(child!.id), null);
      deepEqual(await world.store.log(child!.id), []);
    },

    'a purge deletes the long history, progress and log of a job': async (world) => {
      let job = await world.create({ policy: { retentionMs: 5 } });
      for (let turn = 0; turn < 40; turn += 1) {
        job = await world.apply(await world.apply(job, { do: 'pause' }), { do: 'resume' });
      }
      const [running] = await world.claim();
      const log = [{ at: 1, level: 'info', text: 'x' }] as const;
      await world.store.writeNotes([{ id: job.id, fence: running!.fence, progress: '1', log }]);
      await world.apply(running!, { do: 'succeed', fence: running!.fence });
      await world.advance(5);
      equal(await purgeAll(world), 1);
      deepEqual(await world.store.history(job.id), []);
      equal(await world.store.progress(job.id), null);
      deepEqual(await world.store.log(job.id), []);
      deepEqual(await world.store.count({}), []);
    },

    'a key\'s window outlives the purge of its job': async (world) => {
      const spec = { unique: { key: 'k', forMs: 60_000 }, policy: { retentionMs: 0 } };
      const job = await world.createEnded(spec);
      equal(await purgeAll(world), 1);
      same(await world.store.jobsByKey(['k']), new Map([['k', job.id]]));
      deepEqual(await world.store.commit({ changes: [await world.newJob(spec)] }), [false]);
      await world.advance(60_000);
      await purgeAll(world);
      deepEqual(await world.store.commit({ changes: [await world.newJob(spec)] }), [true]);
    },

    'a key that is taken is not purged': async (world) => {
      const job = await world.create({ unique: { key: 'k', forMs: null } });
      await world.advance(1_000_000_000);
      await purgeAll(world, 0);
      same(await world.store.jobsByKey(['k']), new Map([['k', job.id]]));
    },

    'old feed entries are deleted, and a reader continues with the rest': async (world) => {
      const start = await world.store.feedEnd();
      const old = await world.create();
      await world.advance(5000);
      const fresh = await world.create();
      await world.store.purge({ limit: 10, feedKeptMs: 5000, retentionMs: null });
      for (const cursor of [null, start]) deepEqual(await world.feedAfter(cursor), [{ job: fresh.id, n: 1 }]);
      equal((await world.store.history(old.id)).length, 1, 'histories are not the feed\'s to forget');
      const end = await world.store.feedEnd();
      await world.advance(5000);
      await world.store.purge({ limit: 10, feedKeptMs: 1000, retentionMs: null });
      const last = await world.create();
      deepEqual(await world.feedAfter(end), [{ job: last.id, n: 1 }], 'a cursor stays good when all before it is gone');
    },

    'a purge with nothing to do changes nothing': async (world) => {
      const parent = await world.create();
      const child = await world.create(childOf(parent));
      equal(await purgeAll(world), 0);
      same(await world.store.load([child.id]), [child]);
      deepEqual(await world.feedAfter(null), [{ job: parent.id, n: 1 }, { job: child.id, n: 1 }]);
    },
  },
};
