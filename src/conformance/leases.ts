/** Leases: holders extend them; they lapse when their time is over or the holder's instance is gone. */
import { deepEqual, equal } from 'node:assert/strict';
import type { Job, RunningJob } from '../model/job.ts';
import { same, sameMembers } from './same.ts';
import type { Topic, World } from './world.ts';

const about = { host: 'h', pid: 1, version: '1', types: ['a'], slots: 1, busy: 0, draining: false };

const holding = ({ id, fence }: Job): { id: number; fence: number } => ({ id, fence });

async function untilOf(world: World, { id }: Job): Promise<number | null> {
  return ((await world.load(id)) as RunningJob).lease.until;
}

async function lapsedIds(world: World, limit = 100): Promise<number[]> {
  return (await world.store.lapsed(limit)).map(({ id }) => id);
}

const beat = (world: World, id: string, leaseMs: number) => world.store.beat({ id, leaseMs, about, holds: [] });

export const leases: Topic = {
  name: 'leases',
  examples: {
    'an extended lease ends later, without an event': async (world) => {
      const job = await world.createRunning({}, { leaseMs: 1000 });
      deepEqual(await world.store.extend([holding(job)], world.now() + 5000), [true]);
      same(await world.load(job.id), { ...job, lease: { ...job.lease, until: world.now() + 5000 } });
      equal((await world.store.history(job.id)).length, job.version);
    },

    'a lease is never shortened by extending it': async (world) => {
      const job = await world.createRunning({}, { leaseMs: 1000 });
      deepEqual(await world.store.extend([holding(job)], world.now() + 10), [true]);
      equal(await untilOf(world, job), world.now() + 1000);
    },

    'only the holder of the current fence can extend a lease': async (world) => {
      const old = await world.createRunning({}, { leaseMs: 1000 });
      await world.apply(old, { do: 'release', fence: old.fence });
      deepEqual(await world.store.extend([holding(old)], world.now() + 5000), [false], 'pending again');
      const [job] = await world.claim({ leaseMs: 1000 }) as [RunningJob];
      deepEqual(await world.store.extend([holding(old)], world.now() + 5000), [false], 'held by another');
      deepEqual(await world.store.extend([{ id: job.id, fence: job.fence + 1 }], world.now() + 5000), [false]);
      equal(await untilOf(world, job), world.now() + 1000);
      await world.apply(job, { do: 'succeed', fence: job.fence });
      deepEqual(await world.store.extend([holding(job)], world.now() + 5000), [false], 'ended');
    },

    'a lease that is over cannot be extended': async (world) => {
      const job = await world.createRunning({}, { leaseMs: 1000 });
      await world.advance(999);
      deepEqual(await world.store.extend([holding(job)], world.now() + 1000), [true]);
      await world.advance(1000);
      deepEqual(await world.store.extend([holding(job)], world.now() + 1000), [false]);
      deepEqual(await lapsedIds(world), [job.id]);
    },

    'holdings returns the jobs an instance holds by its heartbeat, not those with an end or of others': async (world) => {
      const own = [await world.createRunning({}, { leaseMs: null }), await world.createRunning({}, { leaseMs: null })];
      await world.createRunning({}, { leaseMs: 1000 });
      await world.createRunning({}, { leaseMs: null, holder: 'another' });
      const [{ lease: { holder } }] = own as [RunningJob];
      same(await world.store.heldUnderLeaseOf(holder, 10), own);
      equal((await world.store.heldUnderLeaseOf(holder, 1)).length, 1);
      await world.apply(own[0]!, { do: 'release', fence: own[0]!.fence });
      deepEqual((await world.store.heldUnderLeaseOf(holder, 10)).map(({ id }) => id), [own[1]!.id]);
    },

    'extending a lease without an end gives it none': async (world) => {
      const job = await world.createRunning({}, { leaseMs: null });
      deepEqual(await world.store.extend([holding(job)], world.now() + 1000), [false]);
      equal(await untilOf(world, job), null);
    },

    'extending several leases returns an answer for each, in order': async (world) => {
      const [a, b] = [await world.createRunning(), await world.createRunning()];
      const holdings = [{ id: 999_999, fence: 1 }, holding(a), { id: b.id, fence: 9 }, holding(b)];
      deepEqual(await world.store.extend(holdings, world.now() + 90_000), [false, true, false, true]);
      deepEqual(await world.store.extend([], world.now()), []);
    },

    'a change that keeps the lease does not undo an extension made since it was read': async (world) => {
      const edit = { do: 'edit', edit: { priority: 3 } } as const;
      const commands = [{ do: 'cancel', code: 'user' }, edit, { do: 'adopt', tasks: 1 }] as const;
      for (const command of commands) {
        const seen = await world.createRunning({}, { leaseMs: 1000 });
        await world.store.extend([holding(seen)], world.now() + 5000);
        await world.mustWrite([world.decide(seen, command)]);
        equal(await untilOf(world, seen), world.now() + 5000, command.do);
      }
    },

    'a hand-off sets a new lease, longer or shorter': async (world) => {
      for (const leaseMs of [10, 90_000, null]) {
        const job = await world.createRunning({}, { leaseMs: 1000 });
        await world.store.extend([holding(job)], world.now() + 5000);
        const until = leaseMs === null ? null : world.now() + leaseMs;
        const handed = await world.apply(job, { do: 'handOff', fence: job.fence, holder: 'outside', until });
        same(await world.load(job.id), handed);
        equal(await untilOf(world, job), until);
        await world.remove(handed);
      }
    },

    'a lease lapses at its end, not before': async (world) => {
      const job = await world.createRunning({}, { leaseMs: 1000 });
      await world.advance(999);
      deepEqual(await lapsedIds(world), []);
      await world.advance(1);
      same(await world.store.lapsed(10), [job]);
    },

    'an extended lease lapses at its new end': async (world) => {
      const job = await world.createRunning({}, { leaseMs: 1000 });
      await world.store.extend([holding(job)], world.now() + 3000);
      await world.advance(2999);
      deepEqual(await lapsedIds(world), []);
      await world.advance(1);
      deepEqual(await lapsedIds(world), [job.id]);
    },

    'a lease without an end lapses when its holder\'s instance misses its beat': async (world) => {
      await beat(world, 'worker', 1000);
      const job = await world.createRunning({}, { leaseMs: null });
      await world.advance(999);
      deepEqual(await lapsedIds(world), []);
      await beat(world, 'worker', 1000);
      await world.advance(999);
      deepEqual(await lapsedIds(world), [], 'a beat renews it');
      await world.advance(1);
      deepEqual(await lapsedIds(world), [job.id]);
    },

    'a lease without an end never lapses if its holder is no instance': async (world) => {
      await world.createRunning({}, { leaseMs: null, holder: 'a stranger' });
      await world.advance(1_000_000_000_000);
      deepEqual(await lapsedIds(world), []);
    },

    'a lease with an end lapses then, whether or not its holder is alive': async (world) => {
      await beat(world, 'worker', 10);
      const job = await world.createRunning({}, { leaseMs: 1000 });
      await world.advance(500);
      deepEqual(await lapsedIds(world), []);
      await world.store.leave('worker');
      deepEqual(await lapsedIds(world), []);
      await world.advance(500);
      deepEqual(await lapsedIds(world), [job.id]);
    },

    'the jobs of an instance that leaves have lapsed immediately': async (world) => {
      await beat(world, 'worker', 60_000);
      const job = await world.createRunning({}, { leaseMs: null });
      await world.store.leave('worker');
      deepEqual(await lapsedIds(world), [job.id]);
    },

    'an instance that sends a heartbeat in time has lost no job': async (world) => {
      await beat(world, 'worker', 1000);
      const job = await world.createRunning({}, { leaseMs: null });
      await world.advance(5000);
      deepEqual(await lapsedIds(world), [job.id]);
      await beat(world, 'worker', 1000);
      deepEqual(await lapsedIds(world), []);
    },

    'a job that was repaired, released or ended has no lease that could lapse': async (world) => {
      const [a, b, c] = [await world.createRunning(), await world.createRunning(), await world.createRunning()];
      await world.apply(a, { do: 'release', fence: a.fence });
      await world.apply(b, { do: 'stop', code: 'admin' });
      await world.advance(60_000);
      deepEqual(await lapsedIds(world), [c.id]);
      await world.apply(c, { do: 'lapse' });
      deepEqual(await lapsedIds(world), []);
    },

    'at most the requested number of lapsed jobs is returned': async (world) => {
      await world.createAll(Array.from({ length: 5 }, () => ({})));
      const taken = await world.claimIds();
      await world.advance(60_000);
      const some = await lapsedIds(world, 3);
      equal(new Set(some).size, 3);
      sameMembers(await lapsedIds(world, 100), taken);
    },
  },
};
