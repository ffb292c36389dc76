// Failure groups: counted and retried together; bulk operations in the list.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { routes } from '../../src/http/contract.ts';
import { shapeOf } from '../../src/engine/inspect/fingerprint.ts';
import { api, as, echo, ended, records, until, world, type World } from './world.ts';

const fragile = jobType('fragile', {
  retry: { attempts: 1 },
  run: ({ input }) => {
    throw new Error((input as { says: string }).says);
  },
});
const stubborn = jobType('stubborn', {
  retry: { attempts: 5, base: '1h' },
  run: () => {
    throw new Error('the relay is down');
  },
});
const halves = jobType('halves', {
  retry: { attempts: 1 },
  taskDetails: () => [1, 2, 3, 4],
  taskResults: ({ task }: { task: number }) => {
    if (task % 2 === 0) throw new Error(`half ${task} is missing`);
    return task;
  },
});

let server: World;
beforeAll(async () => {
  server = await world({ engine: { types: [echo, fragile, stubborn, halves] } });
});
afterAll(() => server.close());

const start = async (ask: object): Promise<number> => (await server.post(`${api}/runs`, ask)).body.id;
const failures = async (query = '') =>
  routes.listFailures.answer.parse((await server.get(`${api}/failures?${query}`)).body);

describe('failures', () => {
  test('with the same type, code and shape of message are one group', async () => {
    const ids: number[] = [];
    for (const says of ['order 17 is gone', 'order 4711 is gone', 'disk full']) {
      ids.push(await start({ type: 'fragile', input: { says } }));
      await ended(server, ids.at(-1)!);
    }
    const { items, isCut } = await failures('type=fragile');
    expect(isCut).toBe(false);
    expect(items.map(({ message, failed }) => [message, failed])).toEqual([['disk full', 1], ['order 4711 is gone', 2]]);
    const orders = items.find(({ failed }) => failed === 2)!;
    expect(orders).toMatchObject({ type: 'fragile', code: 'unknown', retrying: 0 });
    expect(orders.samples.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect(orders.buckets.reduce((sum, count) => sum + count)).toBe(2);
    expect(orders.buckets.at(-1)).toBe(2);
  });

  test('of one group are retried together, and no others', async () => {
    const { items } = await failures('type=fragile');
    const { fingerprint } = items.find(({ failed }) => failed === 2)!;
    const ask = {
      action: 'retry', filter: { type: ['fragile'], state: ['failed'] }, fingerprint, why: 'the shop is back',
    };
    expect((await server.post(`${api}/bulk`, { ...ask, dryRun: true })).body).toEqual({ count: 2, operation: null });
    const { body } = await server.post(`${api}/bulk`, ask);
    expect((await ended(server, body.operation)).result).toEqual({ done: 2, refused: {} });
    const page = await server.get(`${api}/runs?type=fragile`);
    const generations = page.body.items.map((run: { generation: number }) => run.generation);
    expect(generations).toEqual([1, 2, 2]);
  });

  test('that wait for a retry are counted separately and can be cancelled', async () => {
    const id = await start({ type: 'stubborn' });
    await until(async () => (await failures('type=stubborn')).items.length === 1);
    const [group] = (await failures('type=stubborn')).items;
    expect(group).toMatchObject({ failed: 0, retrying: 1, message: 'the relay is down' });
    const filter = { type: ['stubborn'], state: ['open'] };
    const { body } = await server.post(`${api}/bulk`, { action: 'cancel', filter, fingerprint: group!.fingerprint });
    await ended(server, body.operation);
    expect((await ended(server, id)).standing).toBe('cancelled');
  });

  test('of tasks retry their run with the failed tasks', async () => {
    const id = await start({ type: 'halves' });
    await ended(server, id);
    const [group] = (await failures('type=halves')).items;
    expect(group).toMatchObject({ failed: 2, samples: [{ kind: 'task', parent: id }, { kind: 'task', parent: id }] });
    const filter = { type: ['halves'], state: ['failed'], kind: ['run', 'task', 'bedrock'] };
    const { body } = await server.post(`${api}/bulk`, { action: 'retry', filter, fingerprint: group!.fingerprint });
    expect((await ended(server, body.operation)).result).toEqual({ done: 2, refused: {} });
    expect((await ended(server, id)).generation).toBe(2);
  });

  test('show secrets only to callers who may see them', async () => {
    const own = await world({ engine: { types: [fragile] }, access: { tokens: records } });
    const asked = await own.post(`${api}/runs`, { type: 'fragile', input: { says: 'password=hunter2' } }, as('admin'));
    await until(async () => (await own.get(`${api}/runs/${asked.body.id}`, as('admin'))).body.state === 'ended');
    expect((await own.get(`${api}/failures`, as('viewer'))).body.items[0].message).toBe('password=[redacted]');
    await own.close();
  });
});

describe('bulk operations', () => {
  test('list actor, action, filter, reason and outcome', async () => {
    await server.post(`${api}/runs`, { type: 'echo', delay: '1h' });
    const { body } = await server.post(
      `${api}/bulk`, { action: 'pause', filter: { type: ['echo'], state: ['pending'] }, why: 'a break' },
    );
    await ended(server, body.operation);
    const { items } = routes.listOperations.answer.parse((await server.get(`${api}/operations?limit=1`)).body);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      run: { id: body.operation, standing: 'succeeded' },
      action: 'pause', by: 'http:local', why: 'a break', query: { types: ['echo'], standings: ['pending'] }, done: 1,
      refused: {},
    });
  });

  test('hide the searched payload from callers who may not see payloads', async () => {
    const own = await world({ isIdle: true, access: { tokens: records } });
    await own.post(
      `${api}/bulk`, { action: 'cancel', filter: { payload: 'customer:secret-customer' } }, as('operator'),
    );
    expect((await own.get(`${api}/operations`, as('operator'))).body.items[0].query.input.equals).toBe('secret-customer');
    const shown = await own.get(`${api}/operations`, as('viewer'));
    expect(shown.body.items).toHaveLength(1);
    expect(JSON.stringify(shown.body)).not.toContain('secret-customer');
    await own.close();
  });
});

test.each([
  ['order 17 of 3,000.50 is gone', 'order # of # is gone'],
  ['no job 3f2b8c9d-1111-4222-8333-944445555666', 'no job #'],
  ['at 0xdeadbeef01 or deadbeef01, not decade or facade', 'at # or #, not decade or facade'],
  ['first line\nsecond 2', 'first line'],
  ['', ''],
])('the shape of %j is %j', (message, shape) => expect(shapeOf(message)).toBe(shape));
