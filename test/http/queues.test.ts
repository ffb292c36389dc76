// Job types with the schema of their input; queues with their limits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jobType, typed } from '../../src/index.ts';
import { routes } from '../../src/http/contract.ts';
import { api, echo, patient, world, type World } from './world.ts';

const letter = jobType('letter', {
  input: z.object({ to: z.string(), copies: z.number().int().default(1) }),
  timeout: '2m',
  retry: { attempts: 4 },
  concurrency: 3,
  limit: { key: ({ to }: { to: string }) => to, concurrency: 1 },
  run: ({ signal }) => new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason as Error)); }),
});
const shared = jobType('shared', {
  input: typed<{ tenant: string; plan: number }>(), fairness: { key: 'tenant', weight: 'plan' }, run: letter.options.run!,
});
const dated = jobType('dated', { input: typed<{ on: string }>(), fairness: { key: 'on', weight: 2 }, run: () => null });
const fan = jobType('fan', { taskFairness: 'run', taskDetails: () => [1], taskResults: () => null });

let server: World;
beforeAll(async () => {
  server = await world({ engine: { types: [echo, patient, letter, dated, shared, fan], slots: 5 } });
});
afterAll(() => server.close());

const running = (id: number): Promise<void> =>
  expect.poll(async () => (await server.get(`${api}/runs/${id}`)).body.state).toBe('running');
const start = async (ask: object): Promise<number> => (await server.post(`${api}/runs`, ask)).body.id;
/** Counts that took long are cached for a while, so that tests of counts ask again. */
const queue = async (type: string) => {
  const { body } = await server.get(`${api}/queues`);
  return routes.listQueues.answer.parse(body).items.find((one) => one.type === type)!;
};

describe('a job type', () => {
  test('has its settings and the JSON Schema of its input', async () => {
    const { body } = await server.get(`${api}/types/letter`);
    expect(routes.getType.answer.parse(body)).toMatchObject({
      name: 'letter', isLocal: true, concurrency: 3, keyConcurrency: 1, timeoutMs: 120_000, attempts: 4,
      taskConcurrency: null,
    });
    expect(body.schema).toMatchObject({
      type: 'object', properties: { to: { type: 'string' }, copies: { type: 'integer', default: 1 } }, required: ['to'],
    });
  });

  test('without a schema, or with one beyond JSON Schema, has none', async () => {
    for (const name of ['echo', 'dated']) expect((await server.get(`${api}/types/${name}`)).body.schema).toBeNull();
  });

  test('has the fairness of its code, if there is any', async () => {
    expect((await server.get(`${api}/types/dated`)).body.fairness).toEqual({ key: 'on', weight: 2 });
    expect((await server.get(`${api}/types/letter`)).body.fairness).toBeNull();
    expect((await server.get(`${api}/types/letter`)).body.taskFairness).toBeNull();
    expect((await server.get(`${api}/types/fan`)).body.taskFairness).toBe('run');
  });

  test('shows the parts of its keys in the running jobs beside the parts of their weights', async () => {
    const inputs = [['a', 1], ['a', 1], ['a', 1], ['b', 3]] as const;
    const ids = await Promise.all(inputs.map(([tenant, plan]) => start({ type: 'shared', input: { tenant, plan } })));
    await Promise.all(ids.map(running));
    const { body } = await server.get(`${api}/types/shared`);
    expect(routes.getType.answer.parse(body).shares).toEqual([
      { of: 'runs', key: 'a', weight: 1, running: 3, part: 0.75, fairPart: 0.25 },
      { of: 'runs', key: 'b', weight: 3, running: 1, part: 0.25, fairPart: 0.75 },
    ]);
    expect((await server.get(`${api}/types/letter`)).body.shares).toEqual([]);
    await Promise.all(ids.map((id) => server.post(`${api}/runs/${id}/cancel`, {})));
  });

  test('that no instance knows is refused', async () => {
    const reply = await server.get(`${api}/types/nobody`);
    expect([reply.status, reply.body.code]).toEqual([404, 'unknown.type']);
  });
});

describe('a queue', () => {
  test('counts ready, later, held and running jobs, and instances and slots', async () => {
    const held = await start({ type: 'stray', delay: '1h' });
    await start({ type: 'stray', delay: '2h' });
    const ready = await start({ type: 'stray' });
    await server.post(`${api}/runs/${held}/pause`, {});
    await expect.poll(() => queue('stray')).toMatchObject({
      ready: 1, later: 1, held: 1, running: 0, instances: 0, slots: 0, oldestReady: { id: ready }, limits: [],
    });
    expect(await queue('echo')).toMatchObject({ ready: 0, instances: 1, slots: 5, oldestReady: null });
  });

  test('shows the job that has been due longest, not the one that was created first', async () => {
    const first = await start({ type: 'aged', delay: '1h' });
    const oldest = await start({ type: 'aged', dueTime: new Date(server.engine.now() - 60_000).toISOString() });
    await server.engine.jobs.edit(first, { due: server.engine.now() - 1_000 }, { by: 'test' });
    await expect.poll(() => queue('aged')).toMatchObject({ ready: 2, oldestReady: { id: oldest } });
    expect((await server.get(`${api}/stats`)).body.oldestReady).toMatchObject({ id: oldest, type: 'aged' });
  });

  test('lists each limit once with its use', async () => {
    expect((await queue('letter')).limits).toEqual([{ scope: 'type', name: null, max: 3, taken: 0 }]);
    const first = await start({ type: 'letter', input: { to: 'ann' } });
    const other = await start({ type: 'letter', input: { to: 'bob' } });
    await running(first);
    await running(other);
    await start({ type: 'letter', input: { to: 'ann' } });
    await expect.poll(() => queue('letter')).toMatchObject({ running: 2, ready: 1 });
    const told = await queue('letter');
    expect(told.limits).toContainEqual({ scope: 'type', name: null, max: 3, taken: 2 });
    expect(told.limits).toContainEqual({ scope: 'key', name: 'ann', max: 1, taken: 1 });
    expect(told.limits).toContainEqual({ scope: 'key', name: 'bob', max: 1, taken: 1 });
  });
});
