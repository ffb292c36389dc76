/** Spreads of resumes: what piled up during a pause is let out evenly, and later jobs are not held back. */
import { deepEqual, equal } from 'node:assert/strict';
import { gateText } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import type { PauseContent, PauseScope } from '../model/pause.ts';
import { spreadOver } from '../model/spread.ts';
import { jobKinds } from '../model/state.ts';
import { sameMembers } from './same.ts';
import type { JobSpec, Taking, Topic, World } from './world.ts';

const work = { kinds: jobKinds } satisfies Taking;
const minute = 60_000;

const keyGate = (type: string, key: string): string => gateText({ type, key, def: null, leaderOnly: false });
const limitGate = (type: string, name: string, key: string | null = null, cost = 1): string =>
  gateText({ type, key: null, def: null, leaderOnly: false, uses: [{ name, key, cost }] });
const shareGate = (type: string, key: string): string =>
  gateText({ type, key: null, def: null, leaderOnly: false, share: { key, weight: 1 } });

const many = (count: number, spec: JobSpec): JobSpec[] => Array.from({ length: count }, () => spec);
const idsOf = (jobs: readonly Job[]): number[] => jobs.map(({ id }) => id);

/** Writes the record of a resume that is spread, as operators do; `parts`: into how many parts. */
async function spread(world: World, scope: PauseScope, gate: string | null, ms: number, parts: number): Promise<Job> {
  const now = world.now();
  const over = spreadOver(ms, await world.store.divideWaiting(scope, parts), { by: 'ada', now })!;
  const content: PauseContent = { by: 'ada', why: null, since: now, confirmed: null, spread: over };
  const type = 'type' in scope ? scope.type : 'stint.limit';
  return world.create({ kind: 'pause', type, gate, due: over.until, input: JSON.stringify(content) });
}

export const spreads: Topic = {
  name: 'spreads',
  examples: {
    'waiting jobs are divided into parts of equal size, also if all have one due time': async (world) => {
      const jobs = await world.createAll([...many(10, { type: 'charge' }), { type: 'mail' }]);
      await world.create({ type: 'charge', due: world.now() + minute });
      const at = (index: number): { due: number; id: number } => ({ due: jobs[index]!.due, id: jobs[index]!.id });
      const divide = (count: number) => world.store.divideWaiting({ type: 'charge', key: null }, count);
      deepEqual(await divide(5), [1, 3, 5, 7, 9].map(at));
      deepEqual(await divide(3), [3, 6, 9].map(at));
      deepEqual(await divide(100), Array.from({ length: 10 }, (_, index) => at(index)));
      deepEqual(await world.store.divideWaiting({ type: 'none', key: null }, 5), []);
    },

    'the parts of a key and of a limit have the jobs at their gates': async (world) => {
      const jobs = await world.createAll([
        { type: 'charge', gate: keyGate('charge', 'a b') }, { type: 'charge', gate: keyGate('charge', 'b') }, { type: 'charge' },
        { type: 'mail', gate: limitGate('mail', 'smtp', 'x', 3) }, { type: 'sms', gate: limitGate('sms', 'smtp') },
        { type: 'sms', gate: limitGate('sms', 'smtp2') },
      ]);
      const divide = async (scope: PauseScope): Promise<number[]> => (await world.store.divideWaiting(scope, 9)).map(({ id }) => id);
      deepEqual(await divide({ type: 'charge', key: 'a b' }), [jobs[0]!.id]);
      deepEqual(await divide({ limit: 'smtp' }), [jobs[3]!.id, jobs[4]!.id]);
    },

    'one part after the other is let out, in order, and all when the spread has ended': async (world) => {
      const jobs = await world.createAll(many(10, { type: 'charge' }));
      const other = await world.create({ type: 'mail' });
      await spread(world, { type: 'charge', key: null }, null, 4 * minute, 5);
      sameMembers(await world.claimIds(work), [...idsOf(jobs.slice(0, 2)), other.id]);
      await world.advance(minute - 1);
      deepEqual(await world.claimIds(work), []);
      await world.advance(1);
      deepEqual(await world.claimIds({ ...work, limit: 1 }), [jobs[2]!.id]);
      await world.advance(minute);
      deepEqual(await world.claimIds(work), idsOf(jobs.slice(3, 6)));
      await world.advance(2 * minute);
      deepEqual(await world.claimIds(work), idsOf(jobs.slice(6)));
    },

    'jobs that become due after the resume are not held back, by name and by pattern': async (world) => {
      await world.createAll([...many(600, { type: 'charge' }), ...many(2, { type: 'charge', kind: 'bedrock' })]);
      await spread(world, { type: 'charge', key: null }, null, 100 * minute, 602);
      await world.advance(1);
      const [run, bedrock] = await world.createAll([{ type: 'charge' }, { type: 'charge', kind: 'bedrock' }]) as [Job, Job];
      const offered = await world.offered({ ...work, names: { exact: ['charge'] }, limit: 9 });
      equal(offered.length, 3, 'the first part has one job');
      sameMembers(offered.slice(1), [run.id, bedrock.id]);
      deepEqual(await world.offered({ kinds: ['bedrock', 'mock'], names: { glob: 'ch*' } }), [bedrock.id]);
    },

    'a higher priority among the jobs of a part comes first, and does not let out a later part': async (world) => {
      const jobs = await world.createAll([0, 5, 9, 0].map((priority) => ({ type: 'charge', priority })));
      await spread(world, { type: 'charge', key: null }, null, minute, 2);
      deepEqual(await world.claimIds(work), [jobs[1]!.id, jobs[0]!.id]);
      await world.advance(minute);
      deepEqual(await world.claimIds(work), [jobs[2]!.id, jobs[3]!.id]);
    },

    'jobs of a type at gates are let out in the same way': async (world) => {
      const gate = gateText({ type: 'charge', def: null, key: null, leaderOnly: false, typeMax: 50 });
      const jobs = await world.createAll(many(400, { type: 'charge', gate }));
      await spread(world, { type: 'charge', key: null }, null, minute, 200);
      deepEqual(await world.claimIds(work), idsOf(jobs.slice(0, 2)));
      const late = await world.create({ type: 'charge', gate, due: world.now() + 1 });
      await world.advance(1);
      deepEqual(await world.claimIds(work), [late.id]);
      await world.advance(minute);
      equal((await world.claimIds({ ...work, limit: 100 })).length, 47);
    },

    'a spread of a key holds back its jobs, and no job of another key': async (world) => {
      const jobs = await world.createAll([
        ...many(400, { type: 'charge', gate: keyGate('charge', 'acme') }), { type: 'charge', gate: keyGate('charge', 'globex') },
      ]);
      await spread(world, { type: 'charge', key: 'acme' }, keyGate('charge', 'acme'), 2 * minute, 3);
      sameMembers(await world.claimIds({ ...work, limit: 500 }), idsOf([...jobs.slice(0, 134), jobs[400]!]));
      await world.advance(minute);
      deepEqual(await world.claimIds({ ...work, limit: 500 }), idsOf(jobs.slice(134, 267)));
      await world.advance(minute);
      deepEqual(await world.claimIds({ ...work, limit: 500 }), idsOf(jobs.slice(267, 400)));
    },

    'a spread of a limit holds back jobs of every type that use it': async (world) => {
      const jobs = await world.createAll([
        ...many(2, { type: 'mail', gate: limitGate('mail', 'smtp', 'x') }), ...many(2, { type: 'sms', gate: limitGate('sms', 'smtp', null, 2) }),
        { type: 'sms', gate: limitGate('sms', 'other') },
      ]);
      await spread(world, { limit: 'smtp' }, limitGate('stint.limit', 'smtp'), 3 * minute, 4);
      sameMembers(await world.claimIds(work), [jobs[0]!.id, jobs[4]!.id]);
      await world.advance(minute);
      deepEqual(await world.claimIds(work), [jobs[1]!.id]);
      await world.advance(2 * minute);
      deepEqual(await world.claimIds(work), [jobs[2]!.id, jobs[3]!.id]);
    },

    'keys take turns with what is let out': async (world) => {
      const jobs = await world.createAll(Array.from({ length: 400 }, (_, index) =>
        ({ type: 'charge', gate: shareGate('charge', `tenant ${index % 40}`) })));
      await spread(world, { type: 'charge', key: null }, null, minute, 2);
      const claimed: number[] = [];
      for (let round = 0; round < 30; round++) claimed.push(...(await world.claimIds({ ...work, limit: 20 })));
      sameMembers(claimed, idsOf(jobs.slice(0, 200)));
      await world.advance(minute);
      equal((await world.claimIds({ ...work, limit: 300 })).length, 200);
    },

    'after a claim, the time of the next job is not after the next part': async (world) => {
      await world.createAll(many(4, { type: 'charge' }));
      await spread(world, { type: 'charge', key: null }, null, 3 * 600, 4);
      const request = { ...work, names: { exact: ['charge'] } };
      equal((await world.claimIds(request)).length, 1);
      equal(await world.store.nextDue(request), world.now() + 600);
      equal((await world.claimIds(request)).length, 0);
      equal(await world.store.nextDue(request), world.now() + 600);
    },
  },
};
