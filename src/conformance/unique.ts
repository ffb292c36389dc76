/** Unique keys: a key is taken while its job is open; a key with a period is taken until the period ends. */
import { deepEqual, equal } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { oddTexts } from './odd-texts.ts';
import { same } from './same.ts';
import type { JobSpec, Topic, World } from './world.ts';

const keyed = (key = 'key', forMs: number | null = null): JobSpec => ({ unique: { key, forMs } });

async function tryCreate(world: World, spec: JobSpec): Promise<boolean> {
  return (await world.store.commit({ changes: [await world.newJob(spec)] }))[0]!;
}

async function holderOf(world: World, key = 'key'): Promise<number | undefined> {
  return (await world.store.jobsByKey([key])).get(key);
}

const endings: ((world: World, job: RunningJob) => Change)[] = [
  (world, job) => world.decide(job, { do: 'succeed', fence: job.fence }),
  (world, job) => world.decide(job, { do: 'stop', code: 'user' }),
  (world, job) => {
    const error = { code: 'unknown', message: 'no' } as const;
    return world.decide(job, { do: 'fail', fence: job.fence, error, retryable: false });
  },
];

export const unique: Topic = {
  name: 'unique keys',
  examples: {
    'a second open job with the same key is not written': async (world) => {
      const first = await world.create(keyed());
      const second = await world.newJob(keyed());
      deepEqual(await world.store.commit({ changes: [second] }), [false]);
      equal(await world.load(second.after.id), undefined);
      deepEqual(await world.store.history(second.after.id), []);
      equal(await holderOf(world), first.id);
    },

    'a key stays taken while its job is pending, held or running': async (world) => {
      const job = await world.createRunning(keyed());
      equal(await tryCreate(world, keyed()), false);
      const released = await world.apply(job, { do: 'release', fence: job.fence });
      equal(await tryCreate(world, keyed()), false);
      await world.apply(released, { do: 'pause' });
      await world.advance(1_000_000_000);
      equal(await tryCreate(world, keyed()), false);
      equal(await holderOf(world), job.id);
    },

    'a key is released when its job ends, by any command': async (world) => {
      for (const end of endings) {
        const job = await world.createRunning(keyed());
        await world.mustWrite([end(world, job)]);
        equal(await holderOf(world), undefined);
      }
      equal(await tryCreate(world, keyed()), true);
    },

    'a key is released when its job is deleted': async (world) => {
      await world.remove(await world.create(keyed()));
      equal(await tryCreate(world, keyed()), true);
    },

    'a key with a period stays taken until the period ends, even after its job ended or was deleted': async (world) => {
      const job = await world.create(keyed('key', 5000));
      const ended = await world.apply(job, { do: 'stop', code: 'user' });
      await world.advance(4000);
      equal(await tryCreate(world, keyed('key', 5000)), false);
      equal(await holderOf(world), job.id);
      await world.remove(ended);
      equal(await tryCreate(world, keyed()), false);
      await world.advance(999);
      equal(await tryCreate(world, keyed()), false);
      await world.advance(1);
      equal(await holderOf(world), undefined);
      equal(await tryCreate(world, keyed()), true);
    },

    'a key whose period is over is free although its job is open': async (world) => {
      const old = await world.create(keyed('key', 1000));
      await world.advance(1000);
      const fresh = await world.create(keyed('key', 1000));
      equal(await holderOf(world), fresh.id);
      await world.apply(old, { do: 'stop', code: 'user' });
      equal(await holderOf(world), fresh.id, 'the end of the old job takes nothing from the new holder');
    },

    'of two new jobs with the same key in one batch, the first is written': async (world) => {
      const [a, b] = await world.newJobs([keyed(), keyed()]);
      deepEqual(await world.store.commit({ changes: [a!, b!] }), [true, false]);
      equal(await holderOf(world), a!.after.id);
    },

    'a key released by one change of a batch can be taken by a later one': async (world) => {
      for (const whole of [true, false]) {
        const old = await world.createRunning(keyed());
        const fresh = await world.newJob(keyed());
        const changes = [world.decide(old, { do: 'stop', code: 'user' }), fresh];
        deepEqual(await world.store.commit({ changes, whole }), [true, true]);
        equal(await holderOf(world), fresh.after.id);
        await world.remove(fresh.after);
      }
    },

    'reopening a job takes its key again': async (world) => {
      const ended = await world.createEnded(keyed());
      await world.apply(ended, { do: 'retry', reopens: 0 });
      equal(await holderOf(world), ended.id);
      equal(await tryCreate(world, keyed()), false);
    },

    'a job whose key was taken by another cannot be reopened': async (world) => {
      const ended = await world.createEnded(keyed());
      const fresh = await world.create(keyed());
      const reopened = world.decide(ended, { do: 'retry', reopens: 0 });
      deepEqual(await world.store.commit({ changes: [reopened] }), [false]);
      same(await world.load(ended.id), ended);
      equal((await world.store.history(ended.id)).length, ended.version);
      equal(await holderOf(world), fresh.id);
    },

    'reopening a job with a key period needs no key': async (world) => {
      const ended = await world.createEnded(keyed('key', 1000));
      await world.advance(1000);
      const fresh = await world.create(keyed('key', 1000));
      await world.apply(ended, { do: 'retry', reopens: 0 });
      equal(await holderOf(world), fresh.id);
    },

    'changes of an ended job do not affect the new holder of its key': async (world) => {
      const ended = await world.createEnded(keyed());
      const fresh = await world.create(keyed());
      const edited = await world.apply(ended, { do: 'edit', edit: { tags: { a: 'b' } } });
      await world.remove(edited);
      equal(await holderOf(world), fresh.id);
    },

    'jobsByKey returns only keys that are taken': async (world) => {
      const jobs = await world.createAll([keyed('a'), keyed('b', 10), keyed('c')]);
      await world.apply(jobs[2]!, { do: 'stop', code: 'user' });
      const taken = new Map([['a', jobs[0]!.id], ['b', jobs[1]!.id]]);
      same(await world.store.jobsByKey(['a', 'b', 'c', 'd', 'a']), taken);
      same(await world.store.jobsByKey([]), new Map());
    },

    'keys are compared exactly': async (world) => {
      const keys = [...new Set([...oddTexts, 'KEY', 'key', 'Key', 'key '])];
      const jobs: Job[] = [];
      for (const key of keys) jobs.push(await world.create(keyed(key)));
      same(await world.store.jobsByKey(keys), new Map(keys.map((key, index) => [key, jobs[index]!.id])));
    },

    'of two connections that take the same key at once, exactly one gets it': async (world) => {
      const other = await world.again();
      for (let round = 0; round < 20; round += 1) {
        const rivals = await world.newJobs([keyed(`key ${round}`), keyed(`key ${round}`), keyed(`key ${round}`)]);
        const asking = rivals.map((change, turn) => (turn % 2 ? other : world.store).commit({ changes: [change] }));
        const answers = await Promise.all(asking);
        equal(answers.flat().filter(Boolean).length, 1);
        equal(await holderOf(world, `key ${round}`), rivals[answers.flat().indexOf(true)]?.after.id);
      }
    },
  },
};
