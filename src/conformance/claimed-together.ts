/** Jobs that one call has claimed: a store may keep them together, but each of them goes its own way. */
import { deepEqual, equal } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import { gateText } from '../model/gate.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { checkHistory } from './invariants.ts';
import { byId, idsOf, same } from './same.ts';
import { childOf, removal, type Taking, type Topic, type World } from './world.ts';

const about = { host: 'h', pid: 1, version: '1', types: ['a'], slots: 1, busy: 0, draining: false };

/** Creates jobs and claims all of them by one call. */
async function claimTogether(world: World, count: number, taking: Taking = {}): Promise<RunningJob[]> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  await world.createAll(numbers.map((n) => ({ type: 'together', input: `{"n":${n}}`, tags: { n: `${n}` } })));
  return byId(await world.claim({ names: { exact: ['together'] }, ...taking }));
}

/** Checks that the job is stored as it was decided, with a history that replays. */
async function isStored(world: World, job: Job): Promise<void> {
  same(await world.load(job.id), job);
  checkHistory(job, await world.store.history(job.id));
}

const succeed = (world: World, job: RunningJob): Change & { readonly after: Job } =>
  world.decide(job, { do: 'succeed', fence: job.fence, result: `"${job.id}"` });

export const claimedTogether: Topic = {
  name: 'jobs claimed together',
  examples: {
    'each is stored as it was decided, and found by every way to read': async (world) => {
      const jobs = await claimTogether(world, 5);
      for (const job of jobs) await isStored(world, job);
      same(byId(await world.store.load(idsOf(jobs))), jobs);
      for (const query of [{}, { standings: ['running'] }, { types: ['together'] }, { glob: 'tog*' }] as const) {
        same((await world.store.find(query, { order: 'oldest' })).jobs, jobs);
        same((await world.store.find(query, { limit: 2 })).jobs, [jobs[4], jobs[3]]);
      }
      same((await world.store.find({ tags: { n: '3' } })).jobs, [jobs[3]]);
      same((await world.store.find({ standings: ['pending', 'held', 'succeeded'] })).jobs, []);
      same(await world.store.count({}), [{ kind: 'run', type: 'together', standing: 'running', count: 5 }]);
    },

    'a search by input finds them': async (world) => {
      const jobs = await claimTogether(world, 5);
      same((await world.store.find({ input: { path: ['n'], equals: 2 } })).jobs, [jobs[2]]);
    },

    'some end, and the others go on running': async (world) => {
      const jobs = await claimTogether(world, 6);
      const ends = [jobs[4]!, jobs[1]!].map((job) => succeed(world, job));
      await world.mustWrite(ends);
      const stored = jobs.map((job) => ends.find(({ after }) => after.id === job.id)?.after ?? job);
      for (const job of stored) await isStored(world, job);
      const others = [jobs[0]!, jobs[2]!, jobs[3]!, jobs[5]!];
      same((await world.store.find({ standings: ['running'] }, { order: 'oldest' })).jobs, others);
      await world.mustWrite(others.map((job) => succeed(world, job)));
      same(await world.store.count({}), [{ kind: 'run', type: 'together', standing: 'succeeded', count: 6 }]);
      deepEqual(await world.claimIds(), []);
    },

    'each goes its own way': async (world) => {
      const error = { code: 'unknown', message: 'no' } as const;
      const commands: ((job: RunningJob) => Command)[] = [
        ({ fence }) => ({ do: 'release', fence }), ({ fence }) => ({ do: 'fail', fence, error, retryable: true }),
        ({ fence }) => ({ do: 'fail', fence, error, retryable: false }), () => ({ do: 'cancel', code: 'user' }),
        ({ fence }) => ({ do: 'handOff', fence, holder: 'outside', until: null }), () => ({ do: 'stop', code: 'user' }),
        () => ({ do: 'edit', edit: { priority: 7, input: '{"edited":true}' } }), () => ({ do: 'adopt', tasks: 1 }),
        ({ fence }) => ({ do: 'succeed', fence }),
      ];
      const jobs = await claimTogether(world, commands.length + 2);
      const changes = commands.map((command, at) => world.decide(jobs[at]!, command(jobs[at]!)));
      await world.mustWrite([...changes, removal(jobs.at(-1)!)]);
      for (const { after } of changes) await isStored(world, after);
      equal(await world.load(jobs.at(-1)!.id), undefined);
      await isStored(world, jobs.at(-2)!);
    },

    'a copy of a job, as another process has it, changes the job, too': async (world) => {
      const jobs = await claimTogether(world, 3);
      const other = await world.again();
      const changes = jobs.map((job) => succeed(world, structuredClone(job)));
      deepEqual(await other.commit({ changes }), [true, true, true]);
      for (const { after } of changes) await isStored(world, after);
    },

    'a change that was decided before a lease was extended is written': async (world) => {
      const jobs = await claimTogether(world, 3, { leaseMs: 1000 });
      const ends = jobs.map((job) => succeed(world, job));
      deepEqual(await world.store.extend([jobs[1]!], world.now() + 5000), [true]);
      same(await world.load(jobs[1]!.id), { ...jobs[1]!, lease: { ...jobs[1]!.lease, until: world.now() + 5000 } });
      deepEqual(await world.store.commit({ changes: ends, whole: true }), [true, true, true]);
      for (const { after } of ends) await isStored(world, after);
    },

    'none can end twice, whatever has become of it': async (world) => {
      const jobs = await claimTogether(world, 5);
      const stale = jobs.map((job) => succeed(world, structuredClone(job)));
      const [ended, reopened, gone, released] = jobs as [RunningJob, RunningJob, RunningJob, RunningJob];
      await world.apply(ended, { do: 'succeed', fence: ended.fence });
      const stopped = await world.apply(reopened, { do: 'stop', code: 'user' });
      const again = await world.apply(stopped, { do: 'retry', reopens: 0 });
      equal(await world.remove(await world.apply(gone, { do: 'stop', code: 'user' })), true);
      const waiting = await world.apply(released, { do: 'release', fence: released.fence });
      deepEqual(await world.store.commit({ changes: stale }), [false, false, false, false, true]);
      await isStored(world, again);
      await isStored(world, waiting);
      equal(await world.load(gone.id), undefined);
    },

    'one that ends and is opened again in one commit is open': async (world) => {
      const [job, other] = await claimTogether(world, 2) as [RunningJob, RunningJob];
      const end = succeed(world, job);
      const reopened = world.decide(end.after, { do: 'retry', reopens: 0 });
      await world.mustWrite([end, reopened]);
      await isStored(world, reopened.after);
      deepEqual(await world.store.commit({ changes: [succeed(world, structuredClone(job))] }), [false]);
      await world.mustWrite([succeed(world, other)]);
    },

    'a purge without retention forgets those that have ended, and no other': async (world) => {
      const jobs = await claimTogether(world, 3);
      const stale = succeed(world, structuredClone(jobs[0]!));
      await world.mustWrite([succeed(world, jobs[0]!)]);
      equal(await world.store.purge({ limit: 10, feedKeptMs: 1e9, retentionMs: 0 }), 1);
      deepEqual(await world.store.commit({ changes: [stale] }), [false]);
      same(await world.store.load(idsOf(jobs).slice(0, 1)), []);
      for (const job of jobs.slice(1)) await isStored(world, job);
    },

    'a whole batch with one outdated change leaves all as they were': async (world) => {
      const jobs = await claimTogether(world, 3);
      const changes = jobs.map((job) => succeed(world, job));
      await world.apply(jobs[2]!, { do: 'cancel', code: 'user' });
      deepEqual(await world.store.commit({ changes, whole: true }), [false, false, false]);
      for (const job of jobs.slice(0, 2)) await isStored(world, job);
      deepEqual(await world.store.commit({ changes }), [true, true, false]);
    },

    'a new job cannot get the id of one of them': async (world) => {
      const [job] = await claimTogether(world, 2) as [RunningJob];
      const [sameId, other] = [await world.newJob({ id: job.id }), await world.newJob()];
      deepEqual(await world.store.commit({ changes: [sameId, other] }), [false, true]);
      await isStored(world, job);
    },

    'they lapse, and are listed for their instance, until they end': async (world) => {
      await world.store.beat({ id: 'worker', leaseMs: 1000, about, holds: [] });
      const jobs = await claimTogether(world, 3, { leaseMs: null });
      same(await world.store.heldUnderLeaseOf('worker', 10), jobs);
      equal((await world.store.heldUnderLeaseOf('worker', 2)).length, 2);
      same(await world.store.lapsed(10), []);
      await world.mustWrite([succeed(world, jobs[1]!)]);
      await world.advance(1000);
      same(await world.store.lapsed(10), [jobs[0], jobs[2]]);
      await world.mustWrite((await world.store.lapsed(10)).map((job) => world.decide(job, { do: 'lapse' })));
      same(await world.store.lapsed(10), []);
      same(await world.store.heldUnderLeaseOf('worker', 10), []);
    },

    'a lease with an end of its own lapses for all of them': async (world) => {
      const jobs = await claimTogether(world, 3, { leaseMs: 1000 });
      await world.store.extend([jobs[0]!], world.now() + 2000);
      await world.advance(1000);
      same(await world.store.lapsed(10), jobs.slice(1));
      deepEqual(await world.store.extend(jobs, world.now() + 1000), [true, false, false]);
    },

    'a heartbeat tells which of them are lost or cancelled': async (world) => {
      const jobs = await claimTogether(world, 4, { leaseMs: null });
      const holds = jobs.map(({ id, fence }) => ({ id, fence }));
      const beat = async () => world.store.beat({ id: 'worker', leaseMs: 1000, about, holds });
      same(await beat(), { now: world.now(), lost: [], cancelled: [] });
      await world.apply(jobs[0]!, { do: 'cancel', code: 'user' });
      await world.apply(jobs[1]!, { do: 'release', fence: jobs[1]!.fence });
      await world.mustWrite([succeed(world, jobs[2]!)]);
      same(await beat(), { now: world.now(), lost: [jobs[1]!.id, jobs[2]!.id], cancelled: [jobs[0]!.id] });
      await world.store.leave('worker');
      equal((await world.store.instances()).length, 1, 'an instance that holds jobs stays registered');
    },

    'progress and log are written while a job runs, under its fence': async (world) => {
      const [job, other] = await claimTogether(world, 2) as [RunningJob, RunningJob];
      const note = { progress: '{"done":1}', log: [{ at: 1, level: 'info', text: 'a' }] } as const;
      const notes = [{ id: job.id, fence: job.fence, ...note }, { id: other.id, fence: other.fence + 1, ...note }];
      deepEqual(await world.store.writeNotes(notes), [true, false]);
      equal(await world.store.progress(job.id), '{"done":1}');
      await world.mustWrite([succeed(world, job)]);
      deepEqual(await world.store.writeNotes(notes), [false, false]);
    },

    'a parent settles when the last of its children has ended': async (world) => {
      const { parent, children } = await world.createFamily(3);
      const taken = byId(await world.claim({ names: { exact: ['child'] } }));
      deepEqual(idsOf(taken), idsOf(children));
      const running = { parent: parent.id, standings: ['running'] } as const;
      same((await world.store.find(running, { order: 'oldest' })).jobs, taken);
      await world.mustWrite(taken.slice(1).map((job) => succeed(world, job)));
      deepEqual(idsOf(await world.store.settleable(10)), []);
      deepEqual(idsOf(await world.store.settleable(10, [parent.id])), []);
      await world.mustWrite([succeed(world, taken[0]!)]);
      deepEqual(idsOf(await world.store.settleable(10)), [parent.id]);
    },

    'children that run after their parent has ended are found': async (world) => {
      const [parent] = await world.createAll([{ type: 'parent' }]);
      await world.createAll([childOf(parent!), childOf(parent!)]);
      equal((await world.claim({ names: { exact: ['child'] } })).length, 2);
      deepEqual(await world.store.orphaned(10), []);
      await world.apply(parent!, { do: 'stop', code: 'user' });
      deepEqual(await world.store.orphaned(10), [parent!.id]);
    },

    'each counts toward its gate until it ends or waits again': async (world) => {
      const gateOf = (key: string): string => gateText({ type: 'gated', def: null, key, leaderOnly: false });
      const keys = ['a', 'a', 'b', 'b', 'c', 'c'];
      await world.createAll([...keys.map((key) => ({ type: 'gated', gate: gateOf(key) })), { type: 'gated' }]);
      const jobs = byId(await world.claim());
      for (const job of jobs) await isStored(world, job);
      const counts = async (types: readonly string[] = ['gated']): Promise<number[]> => {
        const admitted = await world.store.admittedPerGate(types);
        return ['a', 'b', 'c'].map((key) => admitted.get(gateOf(key)) ?? 0);
      };
      deepEqual([await counts(), await counts(['other'])], [[2, 2, 2], [0, 0, 0]]);
      await world.mustWrite([succeed(world, jobs[0]!), succeed(world, jobs[2]!)]);
      const waiting = await world.apply(jobs[1]!, { do: 'release', fence: jobs[1]!.fence });
      await world.apply(jobs[3]!, { do: 'cancel', code: 'user' });
      deepEqual(await counts(), [0, 1, 2]);
      const limits = { types: new Map<string, number>(), defs: new Map<string, number>(), keys: new Map([['gated', 2]]) };
      await world.createAll(keys.map((key) => ({ type: 'gated', gate: gateOf(key) })));
      const more = byId(await world.claim({ limits }));
      deepEqual(more.map(({ gate }) => gate), ['a', 'a', 'b'].map(gateOf));
      equal(more[0]!.id, waiting.id);
      deepEqual(await counts(), [2, 2, 2]);
      await world.mustWrite([...jobs.slice(4), ...more].map((job) => succeed(world, job)));
      deepEqual(await counts(), [0, 1, 0]);
    },

    'a unique key is free when its job has ended': async (world) => {
      const specs = ['a', 'b'].map((key) => ({ type: 'together', unique: { key, forMs: null } }));
      await world.createAll(specs);
      const jobs = byId(await world.claim({ names: { exact: ['together'] } }));
      same(await world.store.jobsByKey(['a', 'b']), new Map([['a', jobs[0]!.id], ['b', jobs[1]!.id]]));
      await world.mustWrite([succeed(world, jobs[0]!)]);
      same(await world.store.jobsByKey(['a', 'b']), new Map([['b', jobs[1]!.id]]));
    },
  },
};
