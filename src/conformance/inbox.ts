/** The inbox: a request is removed with the commit of its change, exactly once; a refused one stays. */
import { deepEqual, equal } from 'node:assert/strict';
import type { InboxRequest, InboxStanding, InboxTake, Store } from '../store/store.ts';
import { same } from './same.ts';
import type { JobSpec, Topic, World } from './world.ts';

const request = (type = 'mail', input: unknown = { to: 'ada' }) =>
  ({ type, input: JSON.stringify(input), options: '{}' });

const idsOf = async (world: World, standing?: InboxStanding): Promise<number[]> =>
  (await world.store.inboxRequests({ standing, limit: 100 })).map(({ id }) => id);

/** Returns a take of the request that creates a job. */
const takeOf = async (world: World, id: number, spec: JobSpec = {}): Promise<InboxTake> =>
  ({ request: id, change: await world.newJob({ type: 'mail', ...spec }) });

const jobsOf = async (world: World): Promise<number> => (await world.store.find({ types: ['mail'] })).jobs.length;

const refusalOf = (id: number) => ({ request: id, code: 'malformed.input', message: 'to is missing' });

export const inbox: Topic = {
  name: 'the inbox',
  examples: {
    'requests are returned as they were written, in their order': async (world) => {
      const ids = await world.store.enqueue([request(), { type: 'other', input: null, options: '{"priority": 3}' }]);
      const found = await world.store.inboxRequests({ standing: 'waiting', limit: 10 });
      deepEqual(found.map(({ id }) => id), ids);
      const parsed = found.map(({ type, input, options, refused }) =>
        [type, input === null ? null : JSON.parse(input), JSON.parse(options), refused]);
      same(parsed, [['mail', { to: 'ada' }, {}, null], ['other', null, { priority: 3 }, null]]);
      equal(found.every(({ at }) => Number.isSafeInteger(at) && at > 0), true);
    },

    'a page starts after an id and has at most as many requests as asked for': async (world) => {
      const ids = await world.store.enqueue([1, 2, 3, 4].map(() => request()));
      const page = await world.store.inboxRequests({ after: ids[0]!, limit: 2 });
      deepEqual(page.map(({ id }) => id), ids.slice(1, 3));
    },

    'a request is gone with the commit that creates its job': async (world) => {
      const [id] = await world.store.enqueue([request()]);
      const take = await takeOf(world, id!);
      deepEqual(await world.store.takeFromInbox([take]), [true]);
      deepEqual(await idsOf(world), []);
      same(await world.load(take.change!.after!.id), take.change!.after);
    },

    'a request that is gone creates no second job': async (world) => {
      const [id] = await world.store.enqueue([request()]);
      deepEqual(await world.store.takeFromInbox([await takeOf(world, id!)]), [true]);
      deepEqual(await world.store.takeFromInbox([await takeOf(world, id!)]), [false]);
      equal(await jobsOf(world), 1);
    },

    'two connections that take the same requests create each job once': async (world) => {
      const ids = await world.store.enqueue(Array.from({ length: 50 }, () => request()));
      const takesOf = (): Promise<InboxTake[]> => Promise.all(ids.map((id) => takeOf(world, id)));
      const stores: Store[] = [world.store, await world.again(), await world.again()];
      const takes = await Promise.all(stores.map(takesOf));
      const taken = await Promise.all(stores.map((store, index) => store.takeFromInbox(takes[index]!)));
      deepEqual(ids.map((_, index) => taken.filter((answers) => answers[index]).length), ids.map(() => 1));
      equal(await jobsOf(world), ids.length);
      deepEqual(await idsOf(world), []);
    },

    'a request whose change cannot be written stays, and the others are taken': async (world) => {
      const unique = { key: 'order 7', forMs: null };
      const holder = await world.create({ type: 'holder', unique });
      const ids = await world.store.enqueue([request(), request(), request()]);
      const takes = [await takeOf(world, ids[0]!), await takeOf(world, ids[1]!, { unique }), await takeOf(world, ids[2]!)];
      deepEqual(await world.store.takeFromInbox(takes), [true, false, true]);
      deepEqual(await idsOf(world), [ids[1]]);
      deepEqual([...(await world.store.jobsByKey(['order 7'])).values()], [holder.id]);
    },

    'a request can be taken with the change of a stored job, and without a change': async (world) => {
      const ids = await world.store.enqueue([request(), request()]);
      const job = await world.create({ type: 'mail' });
      const edit = world.decide(job, { do: 'edit', edit: { priority: 9 } });
      deepEqual(await world.store.takeFromInbox([{ request: ids[0]!, change: edit }]), [true]);
      deepEqual(await world.store.takeFromInbox([{ request: ids[1]!, change: edit }]), [false]);
      deepEqual(await world.store.takeFromInbox([{ request: ids[1]!, change: null }]), [true]);
      equal((await world.load(job.id))?.priority, 9);
      deepEqual(await idsOf(world), []);
    },

    'a refused request stays with its code, its message and the time, and is not taken': async (world) => {
      const [id, waiting] = await world.store.enqueue([request(), request()]);
      await world.store.refuseInInbox([refusalOf(id!)]);
      const [found] = await world.store.inboxRequests({ standing: 'refused', limit: 10 });
      same(found?.refused, { at: world.now(), code: 'malformed.input', message: 'to is missing' });
      deepEqual(await idsOf(world, 'waiting'), [waiting]);
      deepEqual(await idsOf(world), [id, waiting]);
      deepEqual(await world.store.takeFromInbox([await takeOf(world, id!)]), [false]);
      await world.advance(5);
      await world.store.refuseInInbox([{ ...refusalOf(id!), code: 'later' }, refusalOf(4711)]);
      same((await world.store.inboxRequests({ standing: 'refused', limit: 10 }))[0]?.refused, found?.refused);
    },

    'a refused request that is retried waits again': async (world) => {
      const [id] = await world.store.enqueue([request()]);
      await world.store.refuseInInbox([refusalOf(id!)]);
      equal((await world.store.retryInInbox(id!))?.refused?.code, 'malformed.input');
      deepEqual(await idsOf(world, 'waiting'), [id]);
      equal((await world.store.retryInInbox(id!))?.refused, null);
      equal(await world.store.retryInInbox(4711), null);
      deepEqual(await world.store.takeFromInbox([await takeOf(world, id!)]), [true]);
    },

    'a removed request is gone without a job': async (world) => {
      const [id] = await world.store.enqueue([request()]);
      const removed: InboxRequest | null = await world.store.removeFromInbox(id!);
      deepEqual([removed?.id, removed?.type], [id, 'mail']);
      equal(await world.store.removeFromInbox(id!), null);
      deepEqual(await world.store.takeFromInbox([await takeOf(world, id!)]), [false]);
      equal(await jobsOf(world), 0);
    },

    'requests are counted, with the time of the oldest that waits': async (world) => {
      same(await world.store.countInbox(), { waiting: 0, refused: 0, oldestWaitingAt: null });
      const ids = await world.store.enqueue([request(), request(), request()]);
      await world.store.refuseInInbox([refusalOf(ids[0]!)]);
      const [, second] = await world.store.inboxRequests({ limit: 10 });
      same(await world.store.countInbox(), { waiting: 2, refused: 1, oldestWaitingAt: second!.at });
    },

    'a refused request is deleted after the retention, a waiting one never': async (world) => {
      const [refused, waiting] = await world.store.enqueue([request(), request()]);
      await world.store.refuseInInbox([refusalOf(refused!)]);
      const purge = (retentionMs: number | null): Promise<number> =>
        world.store.purge({ limit: 10, feedKeptMs: Number.MAX_SAFE_INTEGER, retentionMs });
      await world.advance(999);
      await purge(1000);
      await world.advance(1);
      await purge(null);
      deepEqual(await idsOf(world), [refused, waiting]);
      await purge(1000);
      deepEqual(await idsOf(world), [waiting]);
    },

    'the ids of new requests are higher than all before': async (world) => {
      const [first] = await world.store.enqueue([request()]);
      await world.store.removeFromInbox(first!);
      const [second] = await world.store.enqueue([request()]);
      equal(second! > first!, true);
    },

    'a new request and a retried one wake those who listen': async (world) => {
      const listener = new Listener(world.store);
      const [, ids] = await Promise.all([listener.called(), world.store.enqueue([request()])]);
      await world.store.refuseInInbox([refusalOf(ids[0]!)]);
      await Promise.all([listener.called(), world.store.retryInInbox(ids[0]!)]);
      listener.stop();
    },
  },
};

class Listener {
  readonly stop: () => void;
  #waiting: (() => void)[] = [];

  constructor(store: Store) {
    this.stop = store.onInbox(() => {
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  /** Resolves at the next call of the listener. */
  called(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
