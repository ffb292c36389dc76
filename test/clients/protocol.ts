// One suite for every client of the HTTP API: ours and those in other languages, each in a process of its own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { api, as, records, tokens, until, untilGauge, world, type World } from '../http/world.ts';
import { realLeaseMs, waitMs } from '../support/patience.ts';
import type { ClientProcess } from './client-process.ts';
import { canRun, type ClientUnderTest } from './clients.ts';
import { openFaultyFront, type FaultyFront } from './faulty-front.ts';

/** A lease that the worker can keep; the server takes no shorter one than a second. */
const leaseMs = Math.max(1_000, Math.round(realLeaseMs));

export function protocolSuite(client: ClientUnderTest): void {
  let server: World;
  let front: FaultyFront;
  beforeAll(async () => {
    server = await world({ access: { tokens: records }, engine: { types: [], defs: [], lease: `${leaseMs}ms` } });
    front = await openFaultyFront(server.url);
  });
  afterAll(async () => {
    await front?.close();
    await server?.close();
  });

  const olga = as('operator');
  // oxlint-disable-next-line typescript/no-explicit-any -- what is answered is what the tests assert
  const runOf = async (id: number): Promise<any> => (await server.get(`${api}/runs/${id}`, olga)).body;
  const untilRun = async (id: number, fields: object): Promise<void> =>
    until(async () => {
      const run = await runOf(id);
      return Object.entries(fields).every(([name, value]) => run[name] === value);
    });

  let types = 0;
  const freshType = (): string => `job${(types += 1)}`;

  const each = test.runIf(canRun(client));
  let driver: ClientProcess;

  const environment = (who: keyof typeof tokens = 'admin'): Record<string, string> =>
    ({ STINT_URL: front.url, STINT_TOKEN: tokens[who].token });
  const create = async (type: string, input: object = {}, more: object = {}): Promise<number> =>
    (await driver.call('create', { request: { type, input, ...more } })).id as number;
  /** Executes jobs of the type with the worker of the client, during `scenario`. */
  const working = async (type: string, options: object, scenario: () => Promise<void>): Promise<void> => {
    await driver.call('work', { types: [type], ...options });
    try {
      await scenario();
    } finally {
      await driver.call('stop');
      expect((await driver.next('stopped')).problem).toBeNull();
    }
  };
  /** Executes one job and returns its run when it has this standing after its first attempt. */
  const executed = async (input: object, standing: string) => {
    const type = freshType();
    const id = await create(type, input);
    await working(type, {}, () => untilRun(id, { standing, fence: 1 }));
    return runOf(id);
  };

  beforeAll(() => {
    if (!canRun(client)) return;
    client.prepare();
    driver = client.start(environment());
  });
  afterAll(() => driver?.close());

  describe('as a producer', () => {
    each('creates a run and reads it', async () => {
      const input = { text: 'Zürich ✓ 🚆', nested: [null, true, { a: -1.5 }], large: 9_007_199_254_740_991 };
      const type = freshType();
      const id = await create(type, input, { tags: { 'a,b': 'c d' }, priority: 7 });
      expect(await driver.call('get', { id })).toMatchObject({ id, type, input, tags: { 'a,b': 'c d' }, priority: 7 });
    });

    each('creates one run per idempotency key', async () => {
      const request = { type: freshType() };
      const first = await driver.call('create', { request, key: `key-of-${request.type}` });
      expect(await driver.call('create', { request, key: `key-of-${request.type}` })).toEqual(first);
    });

    each('creates one run if the answer to its call is lost', async () => {
      const type = freshType();
      const before = front.faults();
      front.loseAnswerTo(/^POST .*\/runs$/);
      const id = await create(type);
      expect(front.faults()).toBe(before + 1);
      expect(await driver.call('list', { filter: { type } })).toEqual([id]);
    });

    each.for([429, 503])('repeats a call after status %i', async (status) => {
      front.answer(/^POST .*\/runs$/, status);
      await expect(create(freshType())).resolves.toBeGreaterThan(0);
    });

    each('does not repeat a cancel after status 503, which may have had an effect', async () => {
      const id = await create(freshType());
      front.answer(/\/cancel$/, 503);
      await expect(driver.call('cancel', { id })).rejects.toMatchObject({ status: 503 });
      expect(front.count(new RegExp(`/runs/${id}/cancel$`))).toBe(1);
    });

    each('lists the runs of all pages that match a filter', async () => {
      const type = freshType();
      const ids: number[] = [];
      for (const n of [1, 2, 3, 4, 5]) ids.push(await create(type, {}, { tags: { 'a,b': n === 3 ? 'other' : 'c,d' } }));
      const all = await driver.call('list', { filter: { type: [type], order: 'oldest', limit: 2 } });
      expect(all).toEqual(ids);
      const tagged = await driver.call('list', { filter: { type, order: 'oldest', tag: ['a,b:c,d'], state: ['open'] } });
      expect(tagged).toEqual(ids.filter((_, index) => index !== 2));
    });

    each('waits for a result, and throws if there is none', async () => {
      const type = freshType();
      const waiting = { timeoutMs: waitMs };
      const [done, failed, cancelled] = [
        await create(type, { do: 'return', value: { a: [1] } }), await create(type, { do: 'fail', message: 'no' }),
        await create(freshType()),
      ];
      await expect(driver.call('wait', { id: done, timeoutMs: 60 })).rejects.toMatchObject({ code: 'too.late' });
      await driver.call('cancel', { id: cancelled, why: 'enough' });
      await working(type, {}, async () => {
        expect(await driver.call('wait', { id: done, ...waiting })).toEqual({ a: [1] });
        await expect(driver.call('wait', { id: failed, ...waiting })).rejects.toMatchObject({ code: 'run.failed' });
      });
      await expect(driver.call('wait', { id: cancelled, ...waiting })).rejects.toMatchObject({ code: 'run.cancelled' });
      expect(await runOf(cancelled)).toMatchObject({ cancel: { why: 'enough' } });
    });

    each('throws a problem with the code of the refusal', async () => {
      await expect(driver.call('get', { id: 999_999 })).rejects.toMatchObject({ status: 404, code: 'unknown.job' });
      await expect(create('not a name')).rejects.toMatchObject({ status: 400, code: 'malformed.name' });
    });
  });

  describe('as a worker', () => {
    each('completes a job with its result', async () => {
      const value = { text: 'Zürich ✓ 🚆', none: null, list: [1.5, []] };
      expect(await executed({ do: 'return', value }, 'succeeded')).toMatchObject({ result: value, attempt: 1 });
    });

    each('reports progress and writes to the log', async () => {
      const { id, progress } = await executed({ do: 'report' }, 'succeeded');
      expect(progress).toMatchObject({ stage: { description: 'parts', done: 1, total: 2 } });
      const { body } = await server.get(`${api}/runs/${id}/log`, olga);
      expect(body.items).toMatchObject([{ level: 'warn', text: 'half' }]);
    });

    each('fails an attempt if the handler throws; the job is retried', async () => {
      const run = await executed({ do: 'throw', message: 'no luck ✗' }, 'pending');
      expect(run.attempts.at(-1).error).toMatchObject({ code: 'unknown', message: 'no luck ✗' });
    });

    each('fails a job for good with the code and data of its error', async () => {
      const run = await executed({ do: 'fail', message: 'never', code: 'E42', data: { a: [1] } }, 'failed');
      expect(run.error).toMatchObject({ message: 'never', id: 'E42', data: { a: [1] } });
    });

    each('fails a job whose result cannot be stored', async () => {
      expect((await executed({ do: 'deep' }, 'failed')).error).toMatchObject({ code: 'missing output' });
    });

    each('retries a job after the wait that its handler asks for', async () => {
      const run = await executed({ do: 'retryAfter', ms: 7_200_000 }, 'pending');
      expect(run.attempts[0].error).not.toBeNull();
      expect(run.dueAt - run.attempts[0].end).toBeGreaterThan(7_000_000);
    });

    each('snoozes a job without counting the attempt', async () => {
      const type = freshType();
      const id = await create(type, { do: 'snooze', ms: 7_200_000 });
      await working(type, {}, () => until(async () => (await runOf(id)).dueAt > (await runOf(id)).createdAt + 7_000_000));
      expect(await runOf(id)).toMatchObject({ standing: 'pending', attempt: 0, error: null });
    });

    each('creates children, and gets its job again with their results', async () => {
      const type = freshType();
      const children = [1, 2].map((n) => ({ type, key: `part ${n}`, input: { do: 'return', value: n * 10 } }));
      const id = await create(type, { do: 'children', children });
      await working(type, {}, () => untilRun(id, { standing: 'succeeded' }));
      expect((await runOf(id)).result).toEqual([['part 1', 'succeeded', 10], ['part 2', 'succeeded', 20]]);
    });

    each('gets only jobs of the versions that it knows', async () => {
      const type = freshType();
      const draft = (typeVersion: number): object => ({ type, typeVersion, input: { do: 'return', value: typeVersion } });
      const created = await server.engine.jobs.createMany([draft(1), draft(2), draft(3)] as never, 'suite');
      const [first, second, third] = created.map(({ id }) => id) as [number, number, number];
      await working(type, { slots: 3, versions: [{ type, from: 2, to: 3 }] }, async () => {
        await untilRun(second, { standing: 'succeeded', result: 2 });
        await untilRun(third, { standing: 'succeeded', result: 3 });
      });
      expect(await runOf(first)).toMatchObject({ standing: 'pending', fence: 0 });
    });

    each('executes as many jobs at the same time as it has slots', async () => {
      const type = freshType();
      const ids: number[] = [];
      for (let n = 0; n < 5; n++) ids.push(await create(type, { do: 'hold' }));
      await working(type, { slots: 2 }, async () => {
        const started = [await driver.next('started'), await driver.next('started')].map(({ job }) => job!);
        while (started.length < 5) {
          const running = await driver.call('list', { filter: { type, state: ['running'] } });
          expect(running).toHaveLength(2);
          await driver.call('open', { job: started[started.length - 2] });
          started.push((await driver.next('started')).job!);
        }
        for (const job of started.slice(-2)) await driver.call('open', { job });
        for (const id of ids) await untilRun(id, { standing: 'succeeded' });
      });
    });

    each('keeps its lease by heartbeats', async () => {
      const type = freshType();
      const id = await create(type, { do: 'hold' });
      await working(type, { leaseMs }, async () => {
        await driver.next('started');
        const { lease } = await runOf(id);
        await until(async () => (await runOf(id)).lease.until > lease.until + leaseMs);
        await driver.call('open', { job: id });
        await untilRun(id, { standing: 'succeeded' });
      });
      expect(await runOf(id)).toMatchObject({ fence: 1, result: 'opened' });
    });

    each('aborts a job that is cancelled', async () => {
      const type = freshType();
      const id = await create(type, { do: 'hold' });
      await working(type, { leaseMs }, async () => {
        await driver.next('started');
        await driver.call('cancel', { id });
        expect(await driver.next('aborted')).toMatchObject({ job: id, reason: 'Cancelled' });
        await untilRun(id, { standing: 'cancelled' });
      });
    });

    each('aborts a job that was stopped, and does not write its outcome', async () => {
      const type = freshType();
      const id = await create(type, { do: 'ignore' });
      await working(type, { leaseMs }, async () => {
        await driver.next('started');
        await server.post(`${api}/runs/${id}/stop`, {}, olga);
        expect(await driver.next('aborted')).toMatchObject({ job: id, reason: 'LeaseLost' });
        await driver.call('open', { job: id });
      });
      expect(front.count(new RegExp(`/work/${id}/(complete|fail|release)$`))).toBe(0);
      expect((await runOf(id)).result).toBeNull();
    });

    each('aborts a job if no heartbeat has reached the server during its lease', async () => {
      const type = freshType();
      const id = await create(type, { do: 'ignore' });
      await working(type, { leaseMs: 1_000 }, async () => {
        await driver.next('started');
        front.setDown(true);
        expect(await driver.next('aborted')).toMatchObject({ job: id, reason: 'LeaseLost' });
        front.setDown(false);
        await driver.call('open', { job: id });
      });
    });

    each('does not start a job that it has lost before the claim was answered', async () => {
      const type = freshType();
      const answer = front.holdAnswerTo(/claim$/, `"${type}"`);
      const id = await create(type, { do: 'ignore' });
      await working(type, { leaseMs }, async () => {
        // The repair of the server may have taken the run back before we see it running.
        await untilRun(id, { fence: 1 });
        await until(async () => {
          const { lease } = await runOf(id);
          return lease === null || Date.now() > lease.until;
        });
        await server.post(`${api}/runs/${id}/stop`, {}, olga);
        answer();
        const next = await create(type, { do: 'return', value: 1 });
        let started = await driver.next('started');
        // The job of an earlier test may have been started again.
        while (started.job! < id) started = await driver.next('started');
        expect(started.job).toBe(next);
        await untilRun(next, { standing: 'succeeded' });
      });
    });

    each('fails a job after its timeout, and aborts it', async () => {
      const type = freshType();
      const def = { name: `def of ${type}`, type, timeout: '1s', retry: { attempts: 1 } };
      expect((await server.post(`${api}/defs`, def, as('admin'))).status).toBe(201);
      const { id } = await driver.call('create', { request: { def: def.name, input: { do: 'ignore' } } });
      await working(type, {}, async () => {
        expect(await driver.next('aborted')).toMatchObject({ job: id, reason: 'TimedOut' });
        await untilRun(id, { standing: 'failed' });
        await driver.call('open', { job: id });
      });
      expect((await runOf(id)).error).toMatchObject({ code: 'timed out' });
    });

    each('continues after the answer to an outcome was lost', async () => {
      const type = freshType();
      front.loseAnswerTo(/\/complete$/);
      const ids = [await create(type, { do: 'return', value: 1 }), await create(type, { do: 'return', value: 2 })];
      await working(type, {}, async () => {
        for (const id of ids) await untilRun(id, { standing: 'succeeded' });
      });
      expect(await Promise.all(ids.map(async (id) => (await runOf(id)).fence))).toEqual([1, 1]);
    });

    each('stores the outcome of a handler that ended while the server was down', async () => {
      const type = freshType();
      const id = await create(type, { do: 'hold' });
      await working(type, { slots: 2 }, async () => {
        await driver.next('started');
        front.setDown(true);
        await driver.call('open', { job: id });
        // More than the retries of one call.
        await until(() => front.count(new RegExp(`/work/${id}/complete$`)) > 5);
        front.setDown(false);
        await untilRun(id, { standing: 'succeeded' });
      });
      expect((await runOf(id)).fence).toBe(1);
    });

    each('ends if the server refuses it', async () => {
      const refused = client.start(environment('viewer'));
      await refused.call('work', { types: [freshType()] });
      expect((await refused.next('stopped')).problem).toMatchObject({ status: 403 });
      await refused.close();
    });

    each('finishes its jobs on SIGTERM and claims no others', async () => {
      const stopping = client.start(environment());
      const type = freshType();
      const first = await create(type, { do: 'hold' });
      await stopping.call('work', { types: [type], slots: 2 });
      await stopping.next('started');
      await untilGauge(server, 'stint_workers_waiting', 1, olga);
      const abortedClaims = front.countAborted(/claim$/);
      stopping.terminate();
      await until(() => front.countAborted(/claim$/) > abortedClaims);
      await untilGauge(server, 'stint_workers_waiting', 0, olga);
      const second = await create(type, { do: 'return', value: 1 });
      await stopping.call('open', { job: first });
      expect((await stopping.next('stopped')).problem).toBeNull();
      expect(await stopping.exit()).toBe(0);
      expect(await runOf(first)).toMatchObject({ standing: 'succeeded', result: 'opened' });
      expect(await runOf(second)).toMatchObject({ standing: 'pending', fence: 0 });
    });

    each('releases a job that does not end in time after SIGTERM', async () => {
      const stopping = client.start(environment());
      const type = freshType();
      const id = await create(type, { do: 'hold' });
      await stopping.call('work', { types: [type], drainMs: 100 });
      await stopping.next('started');
      stopping.terminate();
      expect(await stopping.next('aborted')).toMatchObject({ job: id, reason: 'Interrupted' });
      expect(await stopping.exit()).toBe(0);
      expect(await runOf(id)).toMatchObject({ standing: 'pending', attempt: 0, error: null });
    });
  });
}
