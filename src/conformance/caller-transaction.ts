/** Creation in the caller's own transaction: a job exists if and only if that transaction commits. */
import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import type { Job } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import { openStandings } from '../store/query.ts';
import { same, sameMembers } from './same.ts';
import type { Topic } from './world.ts';

export const within: Topic = {
  name: 'within the caller\'s transaction',
  examples: {
    'a job becomes visible when the transaction commits': async (world) => {
      const other = await world.again();
      const [a, b] = await world.newJobs([{ unique: { key: 'k', forMs: null } }, { input: '"ü"' }]);
      const { transaction, commit } = await world.begin();
      deepEqual(await world.store.within(transaction).commit({ changes: [a!, b!] }), [true, true]);
      equal(await world.load(a!.after.id, other), undefined);
      await commit();
      sameMembers(await other.load([a!.after.id, b!.after.id]), [a!.after, b!.after]);
      same(await world.store.history(a!.after.id), a!.events);
      sameMembers(await world.feedAfter(null), [{ job: a!.after.id, n: 1 }, { job: b!.after.id, n: 1 }]);
      same(await world.store.jobsByKey(['k']), new Map([['k', a!.after.id]]));
    },

    'the caller sees its own jobs and keys before the commit, and gets unique ids': async (world) => {
      const { transaction, commit } = await world.begin();
      const writer = world.store.within(transaction);
      const id = await writer.reserveIds(2);
      const change = await world.newJob({ id: id + 1, unique: { key: 'k', forMs: null } });
      equal(writer.now(), world.now());
      deepEqual(await writer.commit({ changes: [change] }), [true]);
      same(await writer.load([id, id + 1]), [change.after]);
      same(await writer.jobsByKey(['k', 'l']), new Map([['k', id + 1]]));
      await commit();
      ok((await world.store.reserveIds(1)) > id + 1);
    },

    'an open job can be edited in the transaction if its version is unchanged': async (world) => {
      const [a, b] = await world.createAll([{}, {}]) as [Job, Job];
      const moved = await world.apply(b, { do: 'pause' });
      const { transaction, commit } = await world.begin();
      const edit = { do: 'edit', edit: { priority: 4, input: '"edited"' } } as const;
      const changes = [world.decide(a, edit), world.decide(b, edit)];
      deepEqual(await world.store.within(transaction).commit({ changes }), [true, false]);
      await commit();
      sameMembers(await world.store.load([a.id, b.id]), [changes[0]!.after, moved]);
    },

    'a parent and its children can be found and ended in the transaction': async (world) => {
      const parent = await world.create();
      const [child] = await world.createAll([{ parent: parent.id }]) as [Job];
      const { transaction, commit } = await world.begin();
      const writer = world.store.within(transaction);
      const cancel = { do: 'cancel', code: 'user' } as const;
      same((await writer.find({ parent: parent.id, standings: openStandings })).jobs, [child]);
      const ends = [world.decide(parent, cancel), world.decide(child, cancel)];
      deepEqual(await writer.commit({ changes: ends }), [true, true]);
      same((await writer.find({ parent: parent.id, standings: openStandings })).jobs, []);
      same(await world.load(child.id), child);
      await commit();
      sameMembers(await world.store.load([parent.id, child.id]), ends.map(({ after }) => after));
    },

    'a value that is no transaction is refused': async (world) => {
      for (const nonsense of [undefined, null, 5, {}, 'begin']) throws(() => world.store.within(nonsense), isRefusal);
    },

    'a job whose transaction is rolled back leaves no trace': async (world) => {
      const end = await world.store.feedEnd();
      const change = await world.newJob({ unique: { key: 'k', forMs: null } });
      const { transaction, rollback } = await world.begin();
      deepEqual(await world.store.within(transaction).commit({ changes: [change] }), [true]);
      await rollback();
      equal(await world.load(change.after.id), undefined);
      deepEqual(await world.store.history(change.after.id), []);
      same(await world.store.jobsByKey(['k']), new Map());
      deepEqual(await world.feedAfter(end), []);
      deepEqual(await world.claim(), []);
    },

    'a whole batch that fails leaves the rest of the transaction to the caller': async (world) => {
      const taken = await world.create({ unique: { key: 'k', forMs: null } });
      const [a, b] = await world.newJobs([{}, { unique: { key: 'k', forMs: null } }]);
      const { transaction, commit } = await world.begin();
      const writer = world.store.within(transaction);
      deepEqual(await writer.commit({ changes: [a!, b!], whole: true }), [false, false]);
      deepEqual(await writer.commit({ changes: [b!, a!] }), [false, true]);
      await commit();
      deepEqual(await world.store.load([b!.after.id]), []);
      same(await world.load(a!.after.id), a!.after);
      same(await world.store.jobsByKey(['k']), new Map([['k', taken.id]]));
    },
  },
};
