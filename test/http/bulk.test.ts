// Bulk operations: counted first, executed as a run, continued after a restart.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine } from '../../src/index.ts';
import { slowness } from '../support/patience.ts';
import { api, ended, world, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world();
});
afterAll(() => server.close());

const later = '2031-01-01T00:00:00Z';
const makeMany = async (on: World, type: string, count: number): Promise<number[]> => {
  const replies = await Promise.all(Array.from({ length: count }, () => on.post(`${api}/runs`, { type, dueTime: later })));
  return replies.map(({ body }) => body.id as number);
};
const total = async (on: World, filter: string): Promise<number> =>
  (await on.get(`${api}/runs/count?${filter}`)).body.total;

test.each(['stint.bulk', 'stint.backfill', 'stint.alert', 'stint.instance/a'])('no request creates a run of type %s', async (type) => {
  const input = { action: 'cancel', query: {}, by: 'somebody else', why: null, only: null, asked: Date.parse(later) };
  const flow = { runs: [{ name: 'a', type, input }] };
  for (const [path, body] of [['runs', { type, input }], ['flows', flow], ['defs', { name: `${type} def`, type, params: input }]] as const) {
    expect([path, (await server.post(`${api}/${path}`, body)).body.code]).toEqual([path, 'malformed.name']);
  }
  await expect(server.engine.importJobRuns(type, [{ input, unique: 'a' }])).resolves.toMatchObject([{ outcome: 'refused' }]);
});

describe('a bulk operation', () => {
  test('reports the count in a dry run and then acts on that many runs', async () => {
    await makeMany(server, 'echo', 30);
    await makeMany(server, 'parts', 3);
    const ask = { action: 'cancel', filter: { type: ['echo'], state: ['pending'] }, why: 'tidying' };
    const dry = await server.post(`${api}/bulk`, { ...ask, dryRun: true });
    expect([dry.status, dry.body]).toEqual([200, { count: 30, operation: null }]);
    expect(await total(server, 'type=echo&state=pending')).toBe(30);
    const real = await server.post(`${api}/bulk`, ask);
    expect([real.status, real.body.count]).toEqual([202, 30]);
    const operation = await ended(server, real.body.operation);
    expect(operation).toMatchObject({ type: 'stint.bulk', standing: 'succeeded', result: { done: 30, refused: {} } });
    expect(operation.progress).toMatchObject({ status: 'SUCCESS', stage: { total: 30, done: 30 } });
    expect(await total(server, 'type=echo&state=cancelled')).toBe(30);
    expect(await total(server, 'type=parts&state=pending')).toBe(3);
    const { body } = await server.get(`${api}/runs?type=echo&limit=1`);
    expect(body.items[0].cancel).toMatchObject({ by: 'http:local', why: `tidying (operation ${real.body.operation})` });
  });

  test('is in the audit and in the list of operations with its count', async () => {
    await makeMany(server, 'echo', 4);
    const ask = { action: 'pause', filter: { type: ['echo'], state: ['pending'] }, why: 'a break' };
    const { body: { operation } } = await server.post(`${api}/bulk`, ask);
    await ended(server, operation);
    const { body } = await server.get(`${api}/audit?job=${operation}`);
    expect(body.items).toMatchObject([{ action: 'pause many', by: 'http:local', why: 'a break', after: { count: 4, query: { types: ['echo'] } } }]);
    expect((await server.get(`${api}/operations?limit=1`)).body.items[0]).toMatchObject({ total: 4, done: 4 });
    await server.post(`${api}/bulk`, { action: 'cancel', filter: { type: ['echo'], state: ['open'] } });
  });

  test('reports refusals and continues', async () => {
    const ids = await makeMany(server, 'patient', 5);
    await server.post(`${api}/runs/${ids[2]}/cancel`, {});
    const { body } = await server.post(`${api}/bulk`, { action: 'delete', filter: { type: ['patient'] } });
    expect(await ended(server, body.operation)).toMatchObject({ standing: 'succeeded', result: { done: 1, refused: { 'wrong.state': 4 } } });
    expect((await server.get(`${api}/runs/${ids[2]}`)).status).toBe(404);
    await server.post(`${api}/bulk`, { action: 'stop', filter: { type: ['patient'] } });
  });

  test('retries each run once, also if the run fails again meanwhile', async () => {
    const ids = await makeMany(server, 'broken', 5);
    for (const id of ids) await server.post(`${api}/runs/${id}/stop`, {});
    const { body } = await server.post(
      `${api}/bulk`, { action: 'retry', filter: { type: ['broken'], state: ['cancelled'] } },
    );
    expect(await ended(server, body.operation)).toMatchObject({ result: { done: 5 } });
    for (const id of ids) expect((await server.get(`${api}/runs/${id}`)).body.generation).toBe(2);
    await server.post(`${api}/bulk`, { action: 'stop', filter: { type: ['broken'], state: ['open'] } });
  });

  test('never acts on bulk operations', async () => {
    const { body } = await server.post(`${api}/bulk`, { action: 'stop', filter: { q: 'stint' } });
    expect(await ended(server, body.operation)).toMatchObject({ standing: 'succeeded' });
  });

  test('continues after its engine is gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stint-bulk-'));
    const store = `sqlite:${join(folder, 'jobs.db')}`;
    const first = await world({ store, engine: { lease: `${slowness}s` } });
    await makeMany(first, 'echo', 60);
    // It stops in the middle: from the twentieth act on, nothing comes back.
    const { jobs } = first.engine;
    const cancel = jobs.cancel.bind(jobs);
    let acts = 0;
    jobs.cancel = async (...asked) => ((acts += 1) > 20 ? new Promise(() => {}) : cancel(...asked));
    const { body } = await first.post(`${api}/bulk`, { action: 'cancel', filter: { type: ['echo'] } });
    while (acts <= 20) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await total(first, 'type=echo&state=cancelled')).toBe(20);
    await first.http.close();
    await first.engine.close({ patience: '0s' }).catch(() => {});
    const second = new Engine({ store, lease: `${slowness}s` });
    await second.resume();
    await second.run(body.operation).result();
    expect(await second.count({ types: ['echo'], standings: ['cancelled'] })).toMatchObject([{ count: 60 }]);
    await second.close();
    await rm(folder, { recursive: true });
  });
});
