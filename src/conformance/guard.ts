/**
 * The guard: a change is written only if its job has the version that was read. A batch with `whole` is written
 * completely or not at all.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Job } from '../model/job.ts';
import { byId, plain, same, sameMembers } from './same.ts';
import { removal, type Topic, type World } from './world.ts';

const pause = { do: 'pause' } as const;
const stop = { do: 'stop', code: 'admin' } as const;

export const guard: Topic = {
  name: 'commit',
  examples: {
    'a change of a job with an unchanged version is written with its events': async (world) => {
      const job = await world.create();
      const change = world.decide(job, pause);
      deepEqual(await world.store.commit({ changes: [change] }), [true]);
      same(await world.load(job.id), change.after);
      same((await world.store.history(job.id)).at(-1), change.events[0]);
    },

    'several events of one change are all written': async (world) => {
      const job = await world.create();
      const paused = world.decide(job, pause);
      const resumed = world.decide(paused.after, { do: 'resume' });
      await world.mustWrite([{ before: job, after: resumed.after, events: [...paused.events, ...resumed.events] }]);
      same(await world.load(job.id), resumed.after);
      deepEqual((await world.store.history(job.id)).map(({ n }) => n), [1, 2, 3]);
    },

    'a change of a job that has changed since is not written': async (world) => {
      for (const [first, second] of [[pause, stop], [stop, pause], [stop, stop], [pause, pause]] as const) {
        const seen = await world.create();
        const current = await world.apply(seen, first);
        deepEqual(await world.store.commit({ changes: [world.decide(seen, second)] }), [false]);
        await expectUntouched(world, current);
      }
    },

    'of many equal changes, those of jobs that have changed since, or that come twice, are left out': async (world) => {
      for (const command of [pause, stop]) {
        const jobs = await world.createAll(Array.from({ length: 9 }, (_, index) => ({ due: world.now() + index })));
        const changes = jobs.map((job) => world.decide(job, command));
        const moved = [await world.apply(jobs[2]!, stop), await world.apply(jobs[6]!, pause)];
        const written = await world.store.commit({ changes: [...changes, changes[0]!, changes[2]!] });
        deepEqual(written, [true, true, false, true, true, true, false, true, true, false, false]);
        for (const current of moved) await expectUntouched(world, current);
        const others = changes.filter((_, index) => index !== 2 && index !== 6).map(({ after }) => after);
        same(byId(await world.store.load(others.map(({ id }) => id))), others);
        for (const { id } of others) equal((await world.store.history(id)).length, 2);
      }
    },

    'a change of an ended job that was reopened or edited since is not written': async (world) => {
      const retry = { do: 'retry', reopens: 0 } as const;
      const edit = { do: 'edit', edit: { tags: { a: 'b' } } } as const;
      for (const [first, second] of [[retry, edit], [edit, retry], [retry, retry], [edit, edit]] as const) {
        const seen = await world.createEnded();
        const current = await world.apply(seen, first);
        deepEqual(await world.store.commit({ changes: [world.decide(seen, second)] }), [false]);
        await expectUntouched(world, current);
      }
    },

    'a change decided before a job was ended and reopened is not written': async (world) => {
      const seen = await world.create();
      const ended = await world.apply(seen, stop);
      const current = await world.apply(ended, { do: 'retry', reopens: 0 });
      deepEqual(await world.store.commit({ changes: [world.decide(seen, pause)] }), [false]);
      await expectUntouched(world, current);
    },

    'a change of a job that does not exist is not written': async (world) => {
      const job = (await world.newJob()).after;
      const changes = [world.decide(job, pause), world.decide(job, stop)];
      deepEqual(await world.store.commit({ changes }), [false, false]);
      equal(await world.load(job.id), undefined);
      deepEqual(await world.store.history(job.id), []);
    },

    'of two connections that change the same job at once, exactly one succeeds': async (world) => {
      const other = await world.again();
      for (let round = 0; round < 20; round += 1) {
        const job = await world.create();
        const changes = [world.decide(job, pause), world.decide(job, stop)];
        const writing = changes.map((change, index) => (index ? other : world.store).commit({ changes: [change] }));
        const answers = await Promise.all(writing);
        equal(answers.flat().filter(Boolean).length, 1);
        same(await world.load(job.id), changes[answers.flat().indexOf(true)]?.after);
        equal((await world.store.history(job.id)).length, 2);
      }
    },

    'a stale change in a batch does not prevent the others': async (world) => {
      const [a, b, c] = await world.createAll([{}, {}, {}]) as [Job, Job, Job];
      const moved = await world.apply(b, pause);
      const stopped = [a, b, c].map((job) => world.decide(job, stop));
      const changes = [...stopped, await world.newJob({ id: a.id })];
      deepEqual(await world.store.commit({ changes }), [true, false, true, false]);
      same(await world.load(a.id), changes[0]?.after);
      await expectUntouched(world, moved);
      same(await world.load(c.id), changes[2]?.after);
    },

    'of two changes in one batch that were decided on the same version of a job, the first is written': async (world) => {
      for (const [first, second] of [[pause, stop], [stop, pause], [stop, stop], [pause, pause]] as const) {
        const job = await world.create();
        const changes = [world.decide(job, first), world.decide(job, second)];
        deepEqual(await world.store.commit({ changes }), [true, false]);
        await expectUntouched(world, changes[0]!.after);
        const ended = await world.createEnded();
        const edit = world.decide(ended, { do: 'edit', edit: { priority: 1 } });
        const twice = [world.decide(ended, { do: 'retry', reopens: 0 }), edit];
        deepEqual(await world.store.commit({ changes: twice }), [true, false]);
        await expectUntouched(world, twice[0]!.after);
      }
    },

    'a whole batch with nothing stale is written': async (world) => {
      const { changes } = await mixedBatch(world);
      deepEqual(await world.store.commit({ changes, whole: true }), changes.map(() => true));
      const ids = changes.flatMap(({ after }) => after?.id ?? []);
      sameMembers(await world.store.load(ids), changes.flatMap(({ after }) => after ?? []));
    },

    'a whole batch with one stale change leaves no trace, whatever its position': async (world) => {
      for (const position of [0, 3, 7]) {
        const { changes } = await mixedBatch(world);
        const stale = await world.create();
        await world.apply(stale, pause);
        await expectNoTrace(world, changes.toSpliced(position, 0, world.decide(stale, stop)));
      }
    },

    'a whole batch with a new job whose id or key is taken leaves no trace': async (world) => {
      const taken = await world.create({ unique: { key: 'taken', forMs: null } });
      const { changes } = await mixedBatch(world);
      await expectNoTrace(world, [...changes, await world.newJob({ id: taken.id })]);
      await expectNoTrace(world, [...changes, await world.newJob({ unique: { key: 'taken', forMs: null } })]);
    },

    'a whole batch that fails takes no key and releases none': async (world) => {
      const holder = await world.create({ unique: { key: 'old', forMs: null } });
      const keyed = await world.newJob({ unique: { key: 'new', forMs: null } });
      const changes = [world.decide(holder, stop), keyed, await world.newJob({ id: holder.id })];
      deepEqual(await world.store.commit({ changes, whole: true }), [false, false, false]);
      same(await world.store.jobsByKey(['old', 'new']), new Map([['old', holder.id]]));
      await world.create({ unique: { key: 'new', forMs: null } });
    },

    'a key whose period is over stays with its new holder when a whole batch on the old holder fails': async (world) => {
      const old = await world.create({ unique: { key: 'k', forMs: 1000 } });
      await world.advance(1000);
      const fresh = await world.create({ unique: { key: 'k', forMs: 1000 } });
      const changes = [world.decide(old, pause), await world.newJob({ id: old.id })];
      deepEqual(await world.store.commit({ changes, whole: true }), [false, false]);
      same(await world.store.jobsByKey(['k']), new Map([['k', fresh.id]]));
    },

    'deleting a job deletes its history, progress and log': async (world) => {
      const job = await world.createRunning();
      const log = [{ at: 1, level: 'info', text: 'hello' }] as const;
      await world.store.writeNotes([{ id: job.id, fence: job.fence, progress: '{}', log }]);
      ok(await world.remove(await world.apply(job, stop)));
      equal(await world.load(job.id), undefined);
      deepEqual(await world.store.history(job.id), []);
      equal(await world.store.progress(job.id), null);
      deepEqual(await world.store.log(job.id), []);
      deepEqual(await world.store.count({ types: [job.type] }), []);
    },

    'open jobs can be deleted, and are then never claimed': async (world) => {
      const [pending, held] = await world.createAll([{}, { hold: 'pause' }]) as [Job, Job];
      const running = await world.createRunning();
      for (const job of [pending, held, running]) ok(await world.remove(job));
      deepEqual(await world.claim(), []);
      deepEqual((await world.store.find({})).jobs, []);
    },

    'a delete of a job that has changed since, or does not exist, is not written': async (world) => {
      const seen = await world.create();
      const current = await world.apply(seen, pause);
      equal(await world.remove(seen), false);
      await expectUntouched(world, current);
      equal(await world.remove((await world.newJob()).after), false);
      ok(await world.remove(current));
      equal(await world.remove(current), false);
    },

    'a deleted job cannot be changed any more': async (world) => {
      const job = await world.create();
      await world.remove(job);
      deepEqual(await world.store.commit({ changes: [world.decide(job, pause)] }), [false]);
      equal(await world.load(job.id), undefined);
      deepEqual(await world.claim(), []);
    },

    'deleting a parent deletes its ended children; open ones stay': async (world) => {
      const { parent, children } = await world.createFamily(3);
      const ended = await world.apply(children[0]!, stop);
      ok(await world.remove(parent));
      equal(await world.load(ended.id), undefined);
      deepEqual(await world.store.history(ended.id), []);
      sameMembers((await world.store.find({ parent: parent.id })).jobs, children.slice(1));
    },

    'an edit is visible in every read of the job': async (world) => {
      const job = await world.create({ type: 'before', input: '{"a":1}' });
      const [due, policy, tags] = [world.now() + 5, { timeoutMs: 7 }, { t: 'v' }];
      const edit = { type: 'after', priority: 9, due, input: '{"a":2}', policy, tags };
      const edited = await world.apply(job, { do: 'edit', edit });
      same(await world.load(job.id), edited);
      const query = { types: ['after'], tags, input: { path: ['a'], equals: 2 } };
      same((await world.store.find(query)).jobs, [edited]);
      same((await world.store.find({ types: ['before'] })).jobs, []);
      deepEqual(await world.claimIds({ names: { exact: ['after'] } }), []);
      await world.advance(5);
      deepEqual(await world.claimIds({ names: { exact: ['after'] }, priorities: [9] }), [job.id]);
    },

    'an edit of an ended job is stored': async (world) => {
      const ended = await world.createEnded({ input: '1' });
      const edited = await world.apply(ended, { do: 'edit', edit: { input: '2', tags: { a: 'b' }, type: 'other' } });
      same(await world.load(ended.id), edited);
      same((await world.store.find({ types: ['other'], standings: ['cancelled'] })).jobs, [edited]);
    },
  },
};

/** Returns changes that create, update, end, reopen and delete jobs. Each is valid, so that the store can write it. */
async function mixedBatch(world: World): Promise<{ changes: Change[]; touched: Job[] }> {
  const [paused, stopped, edited, deleted] = await world.createAll([{}, {}, {}, {}]) as [Job, Job, Job, Job];
  const running = await world.createRunning();
  const ended = await world.createEnded();
  const { parent, children } = await world.createFamily(1);
  await world.apply(children[0]!, stop);
  const log = [{ at: 1, level: 'info', text: 'hello' }] as const;
  await world.store.writeNotes([{ id: running.id, fence: running.fence, progress: '{"p":1}', log }]);
  const changes = [
    world.decide(paused, pause),
    world.decide(stopped, stop),
    world.decide(edited, { do: 'edit', edit: { priority: 3, input: '7' } }),
    removal(deleted),
    removal(running),
    world.decide(ended, { do: 'retry', reopens: 0 }),
    removal(parent),
    await world.newJob(),
  ];
  return { changes, touched: [paused, stopped, edited, deleted, running, ended, parent] };
}

async function expectNoTrace(world: World, changes: readonly Change[]): Promise<void> {
  const end = await world.store.feedEnd();
  const before = await everything(world);
  deepEqual(await world.store.commit({ changes, whole: true }), changes.map(() => false));
  same(await everything(world), before);
  deepEqual((await world.store.eventsAfter(end, 100)).events, []);
}

async function everything(world: World): Promise<unknown> {
  const { jobs } = await world.store.find({}, { order: 'oldest', limit: 1000 });
  const beside = jobs.map(async ({ id }) => [
    await world.store.history(id),
    await world.store.progress(id),
    await world.store.log(id),
  ]);
  const tallies = await world.store.count({});
  const families = await world.store.settleable(1000);
  return [jobs, await Promise.all(beside), tallies.map((tally) => JSON.stringify(plain(tally))).sort(), byId(families)];
}

async function expectUntouched(world: World, job: Job): Promise<void> {
  same(await world.load(job.id), job);
  const history = await world.store.history(job.id);
  deepEqual(history.map(({ n }) => n), Array.from({ length: job.version }, (_, index) => index + 1));
}
