/**
 * Families: parents without open children are found, and staged children become visible with the commit
 * of their parent, or not at all.
 */
import { deepEqual, equal } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { byId, same, sameMembers } from './same.ts';
import { childOf, type JobSpec, type Topic, type World } from './world.ts';

const stop = { do: 'stop', code: 'admin' } as const;

async function settleableIds(world: World, parents?: number[]): Promise<number[]> {
  return (await world.store.settleable(100, parents)).map(({ id }) => id);
}

/** Creates a run in its prepare phase and stages children. `planned` is the change that makes the run wait for them. */
async function staging(world: World, specs: readonly JobSpec[]) {
  const run = await world.createRunning({ type: 'family', phase: 'prepare' });
  const children = await world.newJobs(specs.map((spec) => ({ ...childOf(run), ...spec })));
  await world.store.stageChildren(run.id, run.fence, children);
  const planned = world.decide(run, { do: 'plan', fence: run.fence, tasks: specs.length });
  return { run, children, planned, staged: { parent: run.id, fence: run.fence } };
}

async function expectInvisible(world: World, run: Job, children: readonly Change[]): Promise<void> {
  const ids = children.map(({ after }) => after!.id);
  deepEqual(await world.store.load(ids), []);
  deepEqual((await world.store.find({ parent: run.id })).jobs, []);
  deepEqual(await world.store.count({ parent: run.id }), []);
  deepEqual(await world.offered({ kinds: ['task'] }), []);
  equal(await world.store.nextDue({ kinds: ['task'], names: { glob: '*' } }), null);
  for (const id of ids.slice(0, 3)) deepEqual(await world.store.history(id), []);
}

export const family: Topic = {
  name: 'families',
  examples: {
    'a parent is settleable when none of its children is open': async (world) => {
      const { parent, children } = await world.createFamily(2);
      deepEqual(await settleableIds(world), []);
      await world.apply(children[0]!, stop);
      deepEqual(await settleableIds(world), []);
      await world.apply(children[1]!, stop);
      same(await world.store.settleable(10), [parent]);
    },

    'a child that is paused, held or running is open': async (world) => {
      const { parent, children } = await world.createFamily(1);
      const paused = await world.apply(children[0]!, { do: 'pause' });
      deepEqual(await settleableIds(world), []);
      await world.apply(paused, { do: 'resume' });
      const [running] = await world.claim({ kinds: ['task'] }) as [RunningJob];
      deepEqual(await settleableIds(world), []);
      const ended = await world.apply(running, { do: 'succeed', fence: running.fence });
      deepEqual(await settleableIds(world), [parent.id]);
      await world.apply(ended, { do: 'retry', reopens: 0 });
      deepEqual(await settleableIds(world), [], 'a child opened again is open');
    },

    'only jobs held by children are settleable': async (world) => {
      await world.createAll([{ hold: 'pause' }, { hold: 'parent' }, {}]);
      await world.createRunning();
      const { parent, children } = await world.createFamily(1);
      await world.apply(children[0]!, stop);
      const settled = await world.apply(parent, { do: 'settle' });
      equal(settled.state, 'pending');
      deepEqual(await settleableIds(world), []);
    },

    'a parent whose children were deleted is settleable': async (world) => {
      const { parent, children } = await world.createFamily(1);
      await world.remove(children[0]!);
      deepEqual(await settleableIds(world), [parent.id]);
    },

    'settleable jobs can be limited to given parents and to a number': async (world) => {
      const parents: Job[] = [];
      for (let index = 0; index < 4; index += 1) {
        const { parent, children } = await world.createFamily(1);
        parents.push(parent);
        if (index !== 2) await world.apply(children[0]!, stop);
      }
      const ids = parents.map(({ id }) => id);
      sameMembers(await settleableIds(world), [ids[0], ids[1], ids[3]]);
      sameMembers(await settleableIds(world, [ids[1]!, ids[2]!, 999_999]), [ids[1]]);
      deepEqual(await settleableIds(world, []), []);
      equal((await world.store.settleable(2)).length, 2);
      equal((await world.store.settleable(2, ids)).length, 2);
    },

    'a parent that has ended or was deleted is orphaned while a child of it is open': async (world) => {
      const [ended, gone] = [await world.createFamily(2), await world.createFamily(1)];
      const waiting = await world.createFamily(1);
      deepEqual(await world.store.orphaned(10), []);
      await world.apply(ended.parent, stop);
      await world.store.commit({ changes: [{ before: gone.parent, after: null, events: [] }] });
      sameMembers(await world.store.orphaned(10), [ended.parent.id, gone.parent.id]);
      equal((await world.store.orphaned(1)).length, 1);
      for (const child of [...ended.children, ...gone.children, ...waiting.children]) await world.apply(child, stop);
      deepEqual(await world.store.orphaned(10), []);
    },

    'when two connections end the last two children at once, the parent is settleable afterwards': async (world) => {
      const other = await world.again();
      for (let round = 0; round < 10; round += 1) {
        const { parent, children } = await world.createFamily(2);
        const answers = await Promise.all(children.map((child, index) =>
          (index ? other : world.store).commit({ changes: [world.decide(child, stop)] })));
        deepEqual(answers, [[true], [true]]);
        deepEqual(await settleableIds(world, [parent.id]), [parent.id]);
      }
    },

    'children are found by their parent': async (world) => {
      const { parent, children } = await world.createFamily(3);
      await world.createFamily(2);
      same((await world.store.find({ parent: parent.id }, { order: 'oldest' })).jobs, children);
    },

    'staged children cannot be seen before the commit that names them': async (world) => {
      const { run, children } = await staging(world, [{}, {}]);
      const end = await world.store.feedEnd();
      await expectInvisible(world, run, children);
      deepEqual((await world.store.eventsAfter(end, 100)).events, []);
    },

    'staged children become jobs with the commit that names them, with history and feed': async (world) => {
      const { run, children, planned, staged } = await staging(world, [{ key: 'a' }, { key: 'b', input: '"ü"' }]);
      const end = await world.store.feedEnd();
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [true]);
      same(byId((await world.store.find({ parent: run.id })).jobs), children.map(({ after }) => after));
      for (const { after, events } of children) same(await world.store.history(after.id), events);
      const feed = await world.feedAfter(end);
      sameMembers(feed, [planned, ...children].map(({ after }) => ({ job: after.id, n: after.version })));
      sameMembers(await world.claimIds({ kinds: ['task'] }), children.map(({ after }) => after.id));
    },

    'staged children stay invisible if the commit that names them fails, and appear with the next': async (world) => {
      const { run, children, planned, staged } = await staging(world, [{}, {}]);
      const stale = await world.create();
      await world.apply(stale, { do: 'pause' });
      const changes = [planned, world.decide(stale, stop)];
      deepEqual(await world.store.commit({ changes, whole: true, staged }), [false, false]);
      await expectInvisible(world, run, children);
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [true]);
      equal((await world.store.find({ parent: run.id })).jobs.length, 2);
    },

    'staged children are added to those staged before, and to those of the commit itself': async (world) => {
      const { run, planned, staged } = await staging(world, [{}, {}]);
      await world.store.stageChildren(run.id, run.fence, await world.newJobs([childOf(run)]));
      await world.store.stageChildren(run.id, run.fence, []);
      const changes = [planned, await world.newJob(childOf(run))];
      deepEqual(await world.store.commit({ changes, whole: true, staged }), [true, true]);
      equal((await world.store.find({ parent: run.id })).jobs.length, 4);
    },

    'staged children are inserted once': async (world) => {
      const { run, planned, staged } = await staging(world, [{}, {}]);
      await world.store.commit({ changes: [planned], whole: true, staged });
      for (const child of await world.claim({ kinds: ['task'] })) await world.apply(child, stop);
      const settled = world.decide(planned.after, { do: 'settle' });
      deepEqual(await world.store.commit({ changes: [settled], whole: true, staged }), [true]);
      equal((await world.store.find({ parent: run.id })).jobs.length, 2);
      const tallies = [{ kind: 'task', type: 'child', standing: 'cancelled', count: 2 }];
      same(await world.store.count({ parent: run.id }), tallies);
    },

    'children staged under an old fence never appear': async (world) => {
      const { run, children } = await staging(world, [{}, {}]);
      await world.advance(60_000);
      await world.apply(run, { do: 'lapse' });
      const [again] = await world.claim({ names: { exact: ['family'] } }) as [RunningJob];
      const [child] = await world.newJobs([childOf(again)]);
      await world.store.stageChildren(again.id, again.fence, [child!]);
      const planned = world.decide(again, { do: 'plan', fence: again.fence, tasks: 1 });
      const staged = { parent: again.id, fence: again.fence };
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [true]);
      same((await world.store.find({ parent: run.id })).jobs, [child!.after]);
      deepEqual(await world.store.load(children.map(({ after }) => after.id)), []);
    },

    'a purge deletes children staged under an old fence, and no others': async (world) => {
      const { run: lost } = await staging(world, [{}, {}]);
      const { planned, staged } = await staging(world, [{}]);
      await world.advance(60_000);
      await world.apply(lost, { do: 'lapse' });
      await world.store.purge({ limit: 10, feedKeptMs: 1_000_000, retentionMs: null });
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [true]);
      equal((await world.store.find({ parent: staged.parent })).jobs.length, 1);
      const end = world.decide((await world.load(lost.id))!, stop);
      const forgotten = { parent: lost.id, fence: lost.fence };
      deepEqual(await world.store.commit({ changes: [end], whole: true, staged: forgotten }), [true]);
      equal((await world.store.find({ parent: lost.id })).jobs.length, 0);
    },

    'a commit may name children of which none were staged': async (world) => {
      const run = await world.createRunning({ phase: 'prepare' });
      const planned = world.decide(run, { do: 'plan', fence: run.fence, tasks: 0 });
      const staged = { parent: run.id, fence: run.fence };
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [true]);
      same(await world.load(run.id), planned.after);
    },

    'a staged child whose id or key is taken fails the whole commit': async (world) => {
      const holder = await world.create({ unique: { key: 'taken', forMs: null } });
      for (const spec of [{ id: holder.id }, { unique: { key: 'taken', forMs: null } }]) {
        const { run, planned, staged } = await staging(world, [{}, spec]);
        deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [false]);
        same(await world.load(run.id), run);
        deepEqual((await world.store.find({ parent: run.id })).jobs, []);
      }
      same(await world.load(holder.id), holder);
    },

    'two staged children with the same unique key fail the whole commit': async (world) => {
      const unique = { key: 'twice', forMs: null };
      const { run, planned, staged } = await staging(world, [{ unique }, { unique }]);
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [false]);
      same(await world.load(run.id), run);
      same(await world.store.jobsByKey(['twice']), new Map());
    },

    'staged children hold their unique keys once they are jobs': async (world) => {
      const { children, planned, staged } = await staging(world, [{ unique: { key: 'mine', forMs: null } }]);
      same(await world.store.jobsByKey(['mine']), new Map());
      deepEqual(await world.store.commit({ changes: [planned], whole: true, staged }), [true]);
      same(await world.store.jobsByKey(['mine']), new Map([['mine', children[0]!.after.id]]));
    },

    'three thousand staged children are inserted by one commit': async (world) => {
      const { run, planned, staged } = await staging(world, Array.from({ length: 3000 }, () => ({})));
      await world.store.commit({ changes: [planned], whole: true, staged });
      const tallies = [{ kind: 'task', type: 'child', standing: 'pending', count: 3000 }];
      same(await world.store.count({ parent: run.id }), tallies);
    },

    'children can be staged on one connection and committed on another': async (world) => {
      const other = await world.again();
      const { run, planned, staged } = await staging(world, [{}, {}]);
      deepEqual(await other.commit({ changes: [planned], whole: true, staged }), [true]);
      equal((await world.store.find({ parent: run.id })).jobs.length, 2);
    },
  },
};
