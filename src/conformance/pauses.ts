/** Pauses: the jobs of a paused type or key are not claimed, and other jobs are. */
import { deepEqual, equal } from 'node:assert/strict';
import { never } from '../model/definition.ts';
import { gateText } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import { record, step } from '../model/machine.ts';
import { jobKinds } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { TypeNames } from '../store/store.ts';
import { sameMembers } from './same.ts';
import type { JobSpec, Taking, Topic, World } from './world.ts';

const work = { kinds: jobKinds } satisfies Taking;
const keyGate = (type: string, key: string, more: { readonly def?: string; readonly typeMax?: number } = {}): string =>
  gateText({ type, key, def: null, leaderOnly: false, ...more });

/** Pauses a type, or the key of a gate, until `due`. */
const pause = (world: World, type: string, due = never, gate: string | null = null): Promise<Job> =>
  world.create({ kind: 'pause', type, gate, due, input: '{}' });

/** Ends a pause, as an operator does. */
async function resume(world: World, pause: Job): Promise<void> {
  const asking = { by: 'tester', now: world.now() };
  await world.mustWrite([record(pause, [{ kind: 'edited', edit: { due: world.now() } }], asking)]);
}

const ofTypes = (...types: string[]): JobSpec[] => types.map((type) => ({ type }));

/** A new job that its creator has claimed in the same commit. */
async function started(world: World, spec: JobSpec) {
  const { after, events } = await world.newJob(spec);
  const taking = { do: 'claim', holder: 'creator', until: null, parentCancelled: false } as const;
  const claimed = step(after, taking, { by: 'creator', now: world.now() });
  if (claimed instanceof Refusal) throw claimed;
  return { before: null, after: claimed.after, events: [...events, ...claimed.events] };
}

export const pauses: Topic = {
  name: 'pauses',
  examples: {
    'jobs of a paused type are not claimed, by name or by pattern, and those of others are': async (world) => {
      const [, open] = await world.createAll(ofTypes('charge', 'mail')) as [Job, Job];
      await pause(world, 'charge');
      for (const names of [{ exact: ['charge'] }, { glob: 'charge' }, { glob: 'ch*' }] satisfies TypeNames[]) {
        deepEqual(await world.offered({ ...work, names }), []);
      }
      deepEqual(await world.offered({ ...work, names: { exact: ['charge', 'mail'] } }), [open.id]);
      deepEqual(await world.claimIds(work), [open.id]);
    },

    'runs, tasks and Bedrock jobs of a paused type wait, and its definitions do not': async (world) => {
      const jobs = await world.createAll((['run', 'task', 'bedrock', 'mock', 'def'] as const).map((kind) =>
        ({ kind, type: 'charge' })));
      await pause(world, 'charge');
      for (const { kind } of jobs.slice(0, 4)) deepEqual(await world.offered({ kinds: [kind] }), []);
      deepEqual(await world.offered({ kinds: ['bedrock', 'mock'], names: { glob: 'ch*' } }), []);
      deepEqual(await world.claimIds({ kinds: ['run', 'def'] }), [jobs[4]!.id]);
    },

    'the purge deletes pauses that ended long ago, and a type can be paused again after it': async (world) => {
      const [charge] = await world.createAll(ofTypes('charge')) as [Job];
      const purge = (retentionMs: number | null): Promise<number> => world.store.purge({ limit: 10, feedKeptMs: 1e12, retentionMs });
      const ended = await pause(world, 'charge', world.now() + 1_000);
      const [lasting, key] = [await pause(world, 'mail'), await pause(world, 'charge', world.now() + 1_000, keyGate('charge', 'a'))];
      await world.advance(2_000);
      await purge(null);
      await purge(1_001);
      equal((await world.store.load([ended.id, key.id])).length, 2, 'they ended less than the retention ago');
      equal(await purge(1_000), 0, 'pauses are not counted');
      sameMembers((await world.store.load([charge.id, ended.id, lasting.id, key.id])).map(({ id }) => id), [charge.id, lasting.id]);
      await world.create({ id: ended.id, kind: 'pause', type: 'charge', due: never, input: '{}' });
      deepEqual(await world.offered(work), []);
    },

    'a pause in force holds its key, even if a claim has admitted its record at the gate before': async (world) => {
      const gate = keyGate('charge', 'a');
      const claimed = await world.createRunning({ kind: 'pause', type: 'charge', gate });
      const planned = await world.apply(claimed, { do: 'plan', fence: claimed.fence, tasks: 0, details: '{}' });
      equal(planned.admitted, true);
      await world.apply(planned, { do: 'edit', edit: { due: never } });
      await world.createAll([{ type: 'charge', gate }]);
      deepEqual(await world.offered(work), []);
    },

    'a type can be paused before it has jobs': async (world) => {
      await pause(world, 'charge');
      await world.createAll(ofTypes('charge', 'charge'));
      deepEqual(await world.claimIds(work), []);
    },

    'jobs of a type are claimed in order when its pause has ended, by a resume or by itself': async (world) => {
      const jobs = await world.createAll([...ofTypes('charge', 'charge'), ...ofTypes('mail', 'mail')]);
      const byHand = await pause(world, 'charge');
      await pause(world, 'mail', world.now() + 60_000);
      await resume(world, byHand);
      deepEqual(await world.claimIds({ ...work, limit: 1 }), [jobs[0]!.id]);
      deepEqual(await world.claimIds(work), [jobs[1]!.id]);
      await world.advance(59_999);
      deepEqual(await world.claimIds(work), []);
      await world.advance(1);
      deepEqual(await world.claimIds(work), [jobs[2]!.id, jobs[3]!.id]);
    },

    'a pause of one type leaves each of many other types claimable by a pattern': async (world) => {
      const types = Array.from({ length: 100 }, (_, index) => `job/${String(index).padStart(3, '0')}`);
      const jobs = await world.createAll(types.map((type) => ({ type, kind: 'bedrock' })));
      await pause(world, types[7]!);
      const others = jobs.filter(({ type }) => type !== types[7]).map(({ id }) => id);
      const request = { kinds: ['bedrock'], names: { glob: 'job/*' } } as const;
      deepEqual(await world.offered({ ...request, limit: 10 }), others.slice(0, 10));
      sameMembers(await world.claimIds({ ...request, limit: 200 }), others);
    },

    'jobs of a paused type at gates wait, too': async (world) => {
      const gate = gateText({ type: 'charge', def: null, key: null, leaderOnly: false, typeMax: 5 });
      await world.createAll([{ type: 'charge', gate }, { type: 'charge', gate }]);
      const paused = await pause(world, 'charge');
      deepEqual(await world.claimIds(work), []);
      await resume(world, paused);
      equal((await world.claim(work)).length, 2);
    },

    'a paused key admits no job, whatever else its gates say, and other keys do': async (world) => {
      const gates = [
        keyGate('charge', 'acme'), keyGate('charge', 'acme', { def: 'daily', typeMax: 9 }), keyGate('charge', 'globex'),
        keyGate('mail', 'acme'),
      ];
      const jobs = await world.createAll(gates.map((gate) => ({ type: gate.split('/')[1]!, gate })));
      const paused = await pause(world, 'charge', never, keyGate('charge', 'acme'));
      deepEqual(await world.claimIds(work), [jobs[2]!.id, jobs[3]!.id]);
      await resume(world, paused);
      deepEqual(await world.claimIds(work), [jobs[0]!.id, jobs[1]!.id]);
    },

    'a paused key does not delay the other keys, however many jobs wait for it': async (world) => {
      const gate = keyGate('charge', 'acme');
      const crowd: JobSpec[] = Array.from({ length: 400 }, () => ({ type: 'charge', gate, priority: 5 }));
      const jobs = await world.createAll([...crowd, { type: 'charge', gate: keyGate('charge', 'globex') }]);
      await pause(world, 'charge', never, gate);
      deepEqual(await world.claimIds({ ...work, limit: 1 }), [jobs.at(-1)!.id]);
    },

    'the time of the next job leaves out paused types, and is the end of a pause': async (world) => {
      const later = world.now() + 10_000;
      await world.createAll([{ type: 'charge', due: later }, { type: 'mail', due: later + 5_000 }]);
      const endless = await pause(world, 'charge');
      const next = (...exact: string[]): Promise<number | null> => world.store.nextDue({ kinds: jobKinds, names: { exact } });
      equal(await next('charge'), null);
      equal(await next('charge', 'mail'), later + 5_000);
      await resume(world, endless);
      equal(await next('charge', 'mail'), later);
      await pause(world, 'charge', later + 3_000);
      equal(await next('charge', 'mail'), later + 3_000);
      equal(await world.store.nextDue({ kinds: jobKinds, names: { glob: '*a*' } }), later + 3_000);
      equal(await world.store.nextDue({ kinds: ['def'], names: { exact: ['charge'] } }), null);
    },

    'the end of a pause of a key is the time of the next job': async (world) => {
      const gate = keyGate('charge', 'acme');
      await world.create({ type: 'charge', gate });
      await pause(world, 'charge', world.now() + 7_000, gate);
      equal(await world.store.nextDue({ kinds: jobKinds, names: { exact: ['charge'] } }), world.now() + 7_000);
    },

    'a claim that finds only paused jobs, at once after another, learns of the end of the pause': async (world) => {
      await world.create({ type: 'charge' });
      await pause(world, 'charge', world.now() + 7_000);
      const names = { exact: ['charge'] };
      deepEqual(await world.claimIds({ ...work, names }), []);
      deepEqual(await world.claimIds({ ...work, names }), []);
      equal(await world.store.nextDue({ kinds: jobKinds, names }), world.now() + 7_000);
    },

    'the job that is due longest is not one of a paused type': async (world) => {
      const [, mail] = await world.createAll(ofTypes('charge', 'mail')) as [Job, Job];
      await pause(world, 'charge');
      const oldest = await world.store.oldestDue({ kinds: jobKinds, names: { glob: '*' } });
      deepEqual([...oldest], [['mail', { id: mail.id, due: mail.due }]]);
    },

    'a new job is not written as running while its type is paused': async (world) => {
      const paused = await pause(world, 'charge');
      const changes = [await started(world, { type: 'charge' }), await started(world, { type: 'mail' })];
      deepEqual(await world.store.commit({ changes }), [false, true]);
      deepEqual(await world.store.commit({ changes: [await started(world, { type: 'charge' })] }), [false]);
      await resume(world, paused);
      deepEqual(await world.store.commit({ changes: [await started(world, { type: 'charge' })] }), [true]);
    },

    'claims of other connections have ended when the wait for them ends': async (world) => {
      await world.createAll(Array.from({ length: 200 }, () => ({ type: 'charge' })));
      const others = await Promise.all([world.again(), world.again(), world.again()]);
      let isAnswered = false;
      let late = 0;
      const claimAll = async (index: number): Promise<void> => {
        for (let tries = 0; tries < 20; tries++) {
          const isAfter = isAnswered;
          const claimed = await world.claimIds({ ...work, limit: 2 }, others[index]);
          if (isAfter) late += claimed.length;
        }
      };
      const claiming = others.map((_, index) => claimAll(index));
      await pause(world, 'charge');
      await world.store.awaitClaims();
      isAnswered = true;
      const running = await world.store.count({ kinds: ['run'], standings: ['running'] });
      await Promise.all(claiming);
      equal(late, 0);
      deepEqual(await world.store.count({ kinds: ['run'], standings: ['running'] }), running);
    },
  },
};
