/** Instances: which are alive, since when, and which of their jobs a heartbeat reports as lost or cancelled. */
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { instanceKeptMs, isLive, type Beat, type InstanceAbout } from '../store/store.ts';
import { same, sameMembers } from './same.ts';
import type { Topic } from './world.ts';

const about: InstanceAbout = {
  host: 'machine-ä', pid: 4711, version: '1.2.3', types: ['mail', "it's"], slots: 8, busy: 3, draining: false,
};

const beatOf = (id: string, more: Partial<Beat> = {}): Beat => ({ id, leaseMs: 10_000, about, holds: [], ...more });

export const instances: Topic = {
  name: 'instances',
  examples: {
    'the first heartbeat registers an instance': async (world) => {
      deepEqual(await world.store.instances(), []);
      const reply = await world.store.beat(beatOf('a'));
      same(reply, { now: world.now(), lost: [], cancelled: [] });
      const now = world.now();
      same(await world.store.instances(), [{ id: 'a', started: now, beatAt: now, leaseUntil: now + 10_000, about }]);
    },

    'a later heartbeat updates the lease and the published data, not the start': async (world) => {
      const started = world.now();
      await world.store.beat(beatOf('a'));
      await world.advance(4000);
      const busy = { ...about, busy: 8, draining: true, types: [] };
      await world.store.beat(beatOf('a', { leaseMs: 500, about: busy }));
      const now = world.now();
      same(await world.store.instances(), [{ id: 'a', started, beatAt: now, leaseUntil: now + 500, about: busy }]);
    },

    'a name belongs to one process until its lease lapses': async (world) => {
      const bootOf = (boot: string, more: Partial<Beat> = {}): Beat => beatOf('a', { about: { ...about, boot }, ...more });
      const started = world.now();
      await world.store.beat(bootOf('first'));
      await world.advance(1000);
      await rejects(world.store.beat(bootOf('second')), { code: 'taken.instance' });
      await world.store.beat(bootOf('first'));
      same((await world.store.instances()).map((instance) => [instance.started, instance.about.boot]), [[started, 'first']]);
      await world.advance(10_000);
      await world.store.beat(bootOf('second'));
      await rejects(world.store.beat(bootOf('first')), { code: 'taken.instance' });
      const takenAt = world.now();
      same((await world.store.instances()).map((instance) => [instance.started, instance.about.boot]), [[takenAt, 'second']]);
      await world.store.beat(bootOf('third', { takeOver: true }));
      same((await world.store.instances()).map(({ about: { boot } }) => boot), ['third']);
    },

    'instances are independent, and visible on every connection': async (world) => {
      const other = await world.again();
      await world.store.beat(beatOf('a'));
      await other.beat(beatOf('b'));
      await other.beat(beatOf('A'));
      sameMembers((await world.store.instances()).map(({ id }) => id), ['a', 'b', 'A']);
    },

    'a heartbeat returns the jobs that were lost or cancelled': async (world) => {
      const names = ['kept', 'cancelled', 'released', 'taken over', 'ended', 'deleted'] as const;
      const jobs = new Map<string, { id: number; fence: number }>();
      for (const name of names) {
        const job = await world.createRunning({ type: name });
        jobs.set(name, { id: job.id, fence: job.fence });
        if (name === 'cancelled') await world.apply(job, { do: 'cancel', code: 'user' });
        if (name === 'ended') await world.apply(job, { do: 'stop', code: 'user' });
        if (name === 'deleted') await world.remove(job);
        if (name === 'released' || name === 'taken over') await world.apply(job, { do: 'release', fence: job.fence });
        if (name === 'taken over') await world.claim({ names: { exact: [name] } });
      }
      const idOf = (name: string): number => jobs.get(name)!.id;
      const reply = await world.store.beat(beatOf('a', { holds: [...jobs.values()] }));
      sameMembers(reply.lost, [idOf('released'), idOf('taken over'), idOf('ended'), idOf('deleted')]);
      deepEqual(reply.cancelled, [idOf('cancelled')]);
      equal(reply.now, world.now());
    },

    'a heartbeat for two thousand held jobs covers each': async (world) => {
      await world.createAll(Array.from({ length: 2000 }, () => ({ type: 'many' })));
      const held = await world.claim({ names: { exact: ['many'] }, limit: 2000 });
      equal(held.length, 2000);
      const holds = held.map(({ id, fence }, index) => ({ id, fence: index % 2 ? fence : fence + 1 }));
      const { lost } = await world.store.beat(beatOf('a', { holds }));
      sameMembers(lost, holds.filter((_, index) => index % 2 === 0).map(({ id }) => id));
    },

    'an instance that leaves without jobs is deleted': async (world) => {
      await world.store.beat(beatOf('a'));
      await world.store.beat(beatOf('b'));
      await world.store.leave('a');
      deepEqual((await world.store.instances()).map(({ id }) => id), ['b']);
    },

    'the lease of an instance that leaves with a job ends immediately': async (world) => {
      await world.store.beat(beatOf('a'));
      await world.createRunning({}, { holder: 'a', leaseMs: null });
      await world.store.leave('a');
      const left = (await world.store.instances()).filter((each) => isLive(each, world.now()));
      deepEqual(left, []);
    },

    'a purge deletes an instance an hour after its lease has lapsed, unless it holds jobs': async (world) => {
      await world.store.beat(beatOf('idle'));
      await world.store.beat(beatOf('holder'));
      await world.createRunning({}, { holder: 'holder', leaseMs: null });
      const purged = async (): Promise<string[]> => {
        await world.store.purge({ limit: 10, feedKeptMs: Number.MAX_SAFE_INTEGER, retentionMs: null });
        return (await world.store.instances()).map(({ id }) => id);
      };
      await world.advance(10_000 + instanceKeptMs - 1);
      await world.store.beat(beatOf('alive'));
      sameMembers(await purged(), ['alive', 'idle', 'holder']);
      await world.advance(1);
      sameMembers(await purged(), ['alive', 'holder']);
    },

    'leaving twice, or without a heartbeat before, is no error': async (world) => {
      await world.store.beat(beatOf('a'));
      await world.store.leave('a');
      await world.store.leave('a');
      await world.store.leave('nobody');
      deepEqual(await world.store.instances(), []);
    },
  },
};
