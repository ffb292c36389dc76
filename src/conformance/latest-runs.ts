/** The latest runs of definitions: those that have started, and the one that ended last. */
import { deepEqual, equal } from 'node:assert/strict';
import type { Job, RunningJob } from '../model/job.ts';
import type { LatestEnd } from '../store/store.ts';
import type { Topic, World } from './world.ts';

export const latest: Topic = {
  name: 'latest runs',
  examples: {
    'the run that ended last counts, in whatever order the runs were created': async (world) => {
      const [older, newer] = [await run(world, 'a'), await run(world, 'a')];
      await succeed(world, newer);
      await world.advance(1);
      const ended = await world.apply(older, failure(older));
      deepEqual(await latestOf(world, 'a'), { started: [], ended: endOf(ended) });
      await world.advance(1);
      const reopened = await world.apply(await reload(world, newer), { do: 'retry', reopens: 0 });
      deepEqual(await latestOf(world, 'a'), { started: [newer.id], ended: endOf(ended) });
      const cancelled = await world.apply(reopened, { do: 'stop', code: 'user' });
      deepEqual(await latestOf(world, 'a'), { started: [], ended: endOf(cancelled) });
    },

    'of runs that ended at the same time, the one with the highest id counts': async (world) => {
      const runs = [await run(world, 'a'), await run(world, 'a'), await run(world, 'a')];
      const ended: Job[] = [];
      for (const each of runs.toReversed()) ended.push(await succeed(world, each));
      deepEqual((await latestOf(world, 'a')).ended, endOf(ended[0]!));
    },

    'open runs count once they were claimed or asked to cancel, newest first': async (world) => {
      const [running, retried, , cancelled] = [
        await run(world, 'a'), await run(world, 'a'), await world.create({ def: 'a' }), await run(world, 'a'),
      ];
      await world.apply(retried, { do: 'fail', fence: 1, error: { code: 'unknown', message: '' }, retryable: true });
      await world.apply(cancelled, { do: 'cancel', code: 'user' });
      const { parent } = await world.createFamily(2, { def: 'a' });
      deepEqual(await latestOf(world, 'a'), { started: [parent.id, cancelled.id, retried.id, running.id], ended: null });
    },

    'runs that were claimed together count': async (world) => {
      const jobs = await world.createAll(['a', 'b', 'a', 'c', 'a'].map((def) => ({ def, type: 'together' })));
      await world.claim({ kinds: ['run'], names: { exact: ['together'] } });
      const [first, , second, , third] = await Promise.all(jobs.map((job) => reload(world, job)));
      await succeed(world, second as RunningJob);
      const started = await world.store.startedRuns(['a', 'c']);
      deepEqual(started, new Map([['a', [third!.id, first!.id]], ['c', [jobs[3]!.id]]]));
      const ends = await world.store.latestEnds(['a', 'c']);
      deepEqual([...ends].map(([def, { id }]) => [def, id]), [['a', second!.id]]);
    },

    'only runs count: no definition, task or job of a queue': async (world) => {
      for (const kind of ['def', 'task', 'bedrock', 'mock'] as const) {
        await world.createEnded({ kind, def: 'a' });
        await world.createRunning({ kind, def: 'a', type: kind });
      }
      await world.createEnded({ def: null });
      equal(await sizeOf(world, ['a']), 0);
    },

    'unknown names, and definitions whose runs have not started or are deleted, are left out': async (world) => {
      await world.create({ def: 'waiting' });
      const deleted = await world.createEnded({ def: 'deleted' });
      equal((await latestOf(world, 'deleted')).ended?.id, deleted.id);
      await world.remove(deleted);
      equal(await sizeOf(world, ['waiting', 'deleted', 'unknown', '']), 0);
      equal(await sizeOf(world, []), 0);
    },

    'names are compared letter by letter, and may be given twice': async (world) => {
      const names = ['a', 'A', 'a_', 'a%', "it's", 'größe', '日本', 'back\\slash', '"{a,b}"', '7', 'null'];
      const runs = await Promise.all(names.map((def) => world.createEnded({ def })));
      const found = await world.store.latestEnds([...names, ...names, 'ab', 'GRÖSSE']);
      deepEqual(names.map((name) => found.get(name)?.id), runs.map(({ id }) => id));
      equal(found.size, names.length);
      const started: Job[] = [];
      for (const def of names) started.push(await run(world, def));
      const open = await world.store.startedRuns([...names, ...names, 'ab', 'GRÖSSE']);
      deepEqual(names.map((name) => open.get(name)), started.map(({ id }) => [id]));
      equal(open.size, names.length);
    },

    'a thousand definitions are read at once': async (world) => {
      const names = Array.from({ length: 1_000 }, (_, n) => `def ${n}`);
      const jobs = await world.createAll(names.flatMap((def) => [{ def, type: 'old' }, { def, type: 'new' }]));
      const ends = jobs.map((job) => world.decide(job, { do: 'stop', code: 'user' }));
      await world.mustWrite(ends);
      const found = await world.store.latestEnds([...names, 'none']);
      deepEqual(names.map((name) => found.get(name)?.id), names.map((_, n) => jobs[2 * n + 1]!.id));
      equal(found.size, names.length);
    },

    'a run that has started is found before a long queue': async (world) => {
      const running = await run(world, 'a');
      await world.createAll(Array.from({ length: 1_100 }, () => ({ def: 'a' })));
      deepEqual(await latestOf(world, 'a'), { started: [running.id], ended: null });
    },
  },
};

interface Latest {
  readonly started: readonly number[];
  readonly ended: LatestEnd | null;
}

const latestOf = async ({ store }: World, def: string): Promise<Latest> => ({
  started: (await store.startedRuns([def])).get(def) ?? [],
  ended: (await store.latestEnds([def])).get(def) ?? null,
});

/** How many of the definitions have latest runs. */
const sizeOf = async ({ store }: World, defs: readonly string[]): Promise<number> =>
  (await store.startedRuns(defs)).size + (await store.latestEnds(defs)).size;

const endOf = (job: Job): LatestEnd | null =>
  (job.state === 'ended' ? { id: job.id, fate: job.fate, endedAt: job.endedAt } : null);

const run = (world: World, def: string): Promise<RunningJob> => world.createRunning({ def });

const reload = async (world: World, { id }: Job): Promise<Job> => (await world.load(id))!;

const failure = ({ fence }: RunningJob) =>
  ({ do: 'fail', fence, error: { code: 'unknown', message: 'lost' }, retryable: false }) as const;

const succeed = (world: World, job: RunningJob): Promise<Job> =>
  world.apply(job, { do: 'succeed', fence: job.fence, result: 'null' });
