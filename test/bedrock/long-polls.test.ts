// Long polls: a waiting worker gets a job as soon as there is one, and no job is lost.
import { describe, expect } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { Refusal } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { SlowLine } from '../support/slow-line.ts';
import { stores } from '../support/stores.ts';
import { at, BedrockWorld, both, minute, onSqlite as test, second } from './world.ts';

const none = '404 No job found';

for (const { name: store, test: onStore } of both) {
  describe(`a waiting worker gets a job at once, on ${store}`, () => {
    onStore('when a job is created', async ({ world }) => {
      const { jobID } = await world.worker({ name: 'x*' });
      await world.waiting(1);
      const id = await world.create({ name: 'xyz' });
      expect(await jobID).toBe(id);
      await world.waiting(0);
    });

    onStore('when a job comes due', async ({ world }) => {
      const id = await world.create({ name: 'x', firstRun: at(minute) });
      const { jobID, told } = await world.worker({ name: 'x' });
      await world.waiting(1);
      await world.advance(minute - 1);
      expect(await Promise.race([told, world.settle()])).toBeUndefined();
      await world.advance(1);
      expect(await (store === 'SQLite' ? jobID : world.passing(jobID))).toBe(id);
    });

    onStore('when a job is retried, finished and repeating, failed and put back', async ({ world }) => {
      const id = await world.running({ name: 'x', repeat: 'FINISHED, +1 MINUTE' });
      const verbs = [['RetryJob', { ignoreRepeat: 1 }], ['FinishJob', {}], ['FailJob', {}]] as const;
      for (const [verb, fields] of verbs) {
        const { jobID } = await world.worker({ name: 'x' });
        await world.waiting(1);
        await world.json(verb, { jobID: id, ...fields });
        if (verb === 'FailJob') await world.json('RequeueJobs', { jobIDs: id });
        if (verb === 'FinishJob') await world.advance(minute);
        expect(await world.passing(jobID)).toBe(id);
      }
    });

    onStore('when a parent releases its child, and the child its parent', async ({ world }) => {
      const parent = await world.running({ name: 'p' });
      const child = await world.create({ name: 'c', parentJobID: parent });
      const forChild = await world.worker({ name: 'c' });
      const forParent = await world.worker({ name: 'p' });
      await world.waiting(2);
      await world.json('FinishJob', { jobID: parent });
      expect(await forChild.jobID).toBe(child);
      await world.json('FinishJob', { jobID: child });
      expect(await forParent.jobID).toBe(parent);
    });

    onStore('when another worker is late', async ({ world }) => {
      const id = await world.running({ name: 'x', retryAfter: '+1 MINUTE' });
      const { jobID } = await world.worker({ name: 'x' });
      await world.waiting(1);
      await world.advance(minute);
      expect(await world.passing(jobID)).toBe(id);
      expect(await world.events(id)).toEqual(['created', 'claimed', 'lapsed', 'claimed']);
    });

    onStore('when someone else stores a job', async ({ world }) => {
      const { jobID } = await world.worker({ name: 'x' });
      await world.waiting(1);
      const elsewhere = new Jobs(await world.again());
      const { id } = await elsewhere.create({ kind: 'bedrock', type: 'x', priority: 500, input: {} }, 'someone else');
      expect(await jobID).toBe(id);
    });

    onStore('and only one of many, those first who came first', async ({ world }) => {
      const workers = [];
      for (let n = 0; n < 5; n++) {
        workers.push(await world.worker({ name: 'x' }));
        await world.waiting(n + 1);
      }
      const one = await world.create({ name: 'x' });
      expect(await workers[0]!.jobID).toBe(one);
      await world.waiting(4);
      const { jobIDs } = await world.json<{ jobIDs: number[] }>('CreateJobs', { jobs: Array(4).fill({ name: 'x' }) });
      expect(await Promise.all(workers.slice(1).map(({ jobID }) => jobID))).toEqual(jobIDs);
      expect(await world.status('GetJob', { name: 'x' })).toBe(none);
    });
  });
}

describe('a waiting worker', () => {
  test('that requested several jobs gets those that are due', async ({ world }) => {
    const many = await world.worker({ name: 'x', numResults: 3 }, 'GetJobs');
    await world.waiting(1);
    const one = await world.worker({ name: 'x' });
    await world.waiting(2);
    await world.json('CreateJobs', { jobs: Array(4).fill({ name: 'x' }) });
    expect((JSON.parse((await many.told).body) as { jobs: unknown[] }).jobs).toHaveLength(3);
    expect(await one.jobID).toBe(4);
  });

  test('gets no jobs of other names, other priorities or mocks', async ({ world }) => {
    const wishes = [
      { name: 'y' }, { name: 'x', jobPriority: 1000 }, { name: 'a,b' }, { name: 'x*', mockRequest: 1 }, { name: 'x' },
    ];
    const workers = [];
    for (const wish of wishes) workers.push(await world.worker(wish));
    await world.waiting(5);
    await world.create({ name: 'x', mockRequest: 1 });
    expect(await workers[3]!.jobID).toBe(1);
    await world.create({ name: 'x' });
    expect(await workers[4]!.jobID).toBe(2);
    await world.create({ name: 'b' });
    expect(await workers[2]!.jobID).toBe(3);
    await world.create({ name: 'x', jobPriority: 1000 });
    expect(await workers[1]!.jobID).toBe(4);
    await world.create({ name: 'y' });
    expect(await workers[0]!.jobID).toBe(5);
  });

  test('gets 404 when its timeout has passed, and not before', async ({ world }) => {
    const { told } = await world.worker({ name: 'x', timeout: 5000 });
    const usual = await world.worker({ name: 'x', timeout: '' });
    await world.waiting(2);
    await world.advance(4999);
    expect(await Promise.race([told, world.settle()])).toBeUndefined();
    await world.advance(1);
    expect((await told).status).toBe(none);
    await world.advance(105_000);
    expect((await usual.told).status).toBe(none);
  });

  test('gets 555 at once with a timeout of 0, as with any command', async ({ world }) => {
    for (const timeout of [0, -5, 'abc']) {
      expect(await world.status('GetJob', { name: 'x', Connection: 'wait', timeout })).toBe('555 Timeout');
      expect(await world.status('CreateJob', { name: 'x', timeout })).toBe('555 Timeout');
    }
    expect(await world.status('GetJob', { name: 'x' })).toBe(none);
  });

  test('with an invalid request is refused without effect on others', async ({ world }) => {
    const { jobID } = await world.worker({ name: 'x' });
    const wait = { Connection: 'wait', timeout: 60_000 };
    expect(await world.status('GetJob', { name: 'a*b*c*d*e*f*g*h*i*', ...wait })).toBe('402 Malformed name');
    expect(await world.status('GetJob', { name: 'x', jobPriority: 7, ...wait })).toBe('402 Invalid priority value');
    const id = await world.create({ name: 'x' });
    expect(await jobID).toBe(id);
  });

  test('gets jobs that are due at once', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    expect(await (await world.worker({ name: 'x' })).jobID).toBe(id);
  });

  test('gets its reply before the reply to its next request', async ({ world }) => {
    const { client, told } = await world.worker({ name: 'x' });
    client.send('Ping\n\n');
    await world.waiting(1);
    await world.create({ name: 'x' });
    expect((await told).body).toContain('"name":"x"');
    expect((await client.answer()).text).toBe('200 OK\r\nContent-Length: 0\r\n\r\n');
  });

  test('does not get jobs that fail instead of being handed out', async ({ world }) => {
    await world.json('CrashBedrockJob', { names: 'bad' });
    const { jobID } = await world.worker({ name: '*' });
    await world.waiting(1);
    const bad = await world.create({ name: 'bad' });
    await world.until(async () => (await world.state(bad)) === 'FAILED');
    await world.waiting(1);
    const good = await world.create({ name: 'good' });
    expect(await jobID).toBe(good);
  });

  test('that disconnects gets no job', async ({ world }) => {
    const first = await world.worker({ name: 'x' });
    await world.waiting(1);
    const second_ = await world.worker({ name: 'x' });
    await world.waiting(2);
    await first.client.close();
    await world.waiting(1);
    const id = await world.create({ name: 'x' });
    expect(await second_.jobID).toBe(id);
    expect(await world.events(id)).toEqual(['created', 'claimed']);
  });

  test('that sends FIN gets no job, because the server cannot know whether it still reads', async ({ world }) => {
    const { client, told } = await world.worker({ name: 'x' });
    await world.waiting(1);
    client.socket.end();
    expect((await told).status).toBe(none);
    await world.create({ name: 'x' });
    expect(await world.status('GetJob', { name: 'x' })).toBe('200 OK');
  });

  test('gets 404 when the server stops', async ({ world }) => {
    const server = await world.serve({});
    const { told, client } = await world.worker({ name: 'x' });
    await world.waiting(1);
    const closing = server.close();
    expect((await told).status).toBe(none);
    await client.closed;
    await world.client.closed;
    await closing;
  });
});

/** The store with one method in our hands. */
const storeWith = (store: Store, methods: Partial<Store>): Store =>
  new Proxy(store, {
    get: (target, name) => {
      const own = methods[name as keyof Store];
      if (own) return own;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });

describe('a fault', () => {
  test('a job that is claimed for a worker that disconnects goes to another worker', async ({ world }) => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let claims = 0;
    const slow = storeWith(world.store, {
      claim: async (ask, decide) => {
        const changes = await world.store.claim(ask, decide);
        if (changes.length > 0 && ++claims === 1) await gate;
        return changes;
      },
    });
    const { client } = world;
    await world.serve({}, new Jobs(slow));
    const first = await world.worker({ name: 'x' });
    await world.waiting(1);
    const second_ = await world.worker({ name: 'x' });
    await world.waiting(2);
    const { body } = await client.ask('CreateJob', { name: 'x' });
    await world.until(() => claims === 1);
    await first.client.close();
    await world.waiting(1);
    open();
    expect(`{"jobID":${await second_.jobID}}`).toBe(body);
    expect(await world.events(1)).toEqual(['created', 'claimed', 'released', 'claimed']);
  });

  test('waiting workers get their jobs after an outage of the store', async ({ world }) => {
    let isAway = false;
    const shaky = storeWith(world.store, {
      claim: async (ask, decide) => {
        if (isAway) throw new Refusal('unavailable.store', 'the store is away');
        return world.store.claim(ask, decide);
      },
    });
    await world.serve({}, new Jobs(shaky));
    const { jobID } = await world.worker({ name: 'x' });
    await world.waiting(1);
    isAway = true;
    await world.create({ name: 'x' });
    await world.until(() => world.said.some(({ text }) => text.startsWith('Bedrock long polls: failed')));
    expect(await world.status('GetJob', { name: 'x' })).toBe('500 Internal Server Error');
    isAway = false;
    await world.advance(second);
    expect(await jobID).toBe(1);
  });
});

describe('a job that becomes due before the answer to a claim arrives', () => {
  test('reaches a waiting worker without another event', async () => {
    const [memory] = stores;
    let line: SlowLine;
    const world = await BedrockWorld.open({
      name: 'a slow line',
      open: async (clock) => {
        const opened = await memory!.open(clock);
        line = new SlowLine(opened.store);
        return { ...opened, store: line.store };
      },
    });
    const id = await world.create({ name: 'x', firstRun: at(second) });
    line!.hold('claim');
    const { jobID } = await world.worker({ name: 'x' });
    await world.until(() => line!.waiting('claim') > 0);
    await world.clock.advance(second + 10);
    line!.letGo('claim');
    const timeout = (async () => {
      for (let n = 0; n < 100; n++) await world.advance(20);
      return 'nothing';
    })();
    expect(await Promise.race([jobID, timeout])).toBe(id);
    await world.close();
  });
});
