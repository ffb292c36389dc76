// The HTTP server on PostgreSQL: feed, filters and waiting for work could differ.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../../src/client.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, ended, untilGauge, world, type World } from './world.ts';
import { waitMs } from '../support/patience.ts';

let server: World;
let client: Client;
beforeAll(async () => {
  server = await world({ store: await migratedDatabase() });
  client = new Client({ url: server.url });
});
afterAll(() => server.close());

describe('on PostgreSQL', () => {
  test('runs with tasks are executed and found by every filter', async () => {
    const run = await client.createRun({ type: 'parts', tags: { team: 'red' }, input: { to: { id: 7 } } });
    expect(await run.result({ timeoutMs: waitMs })).toBe(3);
    const filters = ['state=succeeded', 'type=par*', 'tag=team:red', 'payload=to.id:7', 'q=RED', 'from=2000-01-01T00:00:00Z', 'state=ended&type=parts'];
    for (const filter of filters) {
      const { body } = await server.get(`${api}/runs?${filter}`);
      expect([filter, body.items.map(({ id }: { id: number }) => id)]).toEqual([filter, [run.id]]);
    }
    for (const text of ["' OR '1'='1", "'; DROP TABLE job; --", '%', '\u0000', '\\']) {
      for (const field of ['q', 'def', 'type', 'tag', 'payload', 'error']) {
        const { status } = await server.get(`${api}/runs?${field}=${encodeURIComponent(text)}`);
        expect([field, text, [200, 400].includes(status)]).toEqual([field, text, true]);
      }
    }
  });

  test('the stream resumes at its last position', async () => {
    const seen: string[] = [];
    const read = async (after: string | undefined, isEnough: () => boolean): Promise<string | null> => {
      const leave = new AbortController();
      let place: string | null = null;
      const stream = client.stream({ signal: leave.signal, type: ['echo'], ...(after === undefined ? {} : { after }) });
      for await (const one of stream) {
        place = one.place;
        seen.push(`${one.job} ${one.event.n}`);
        if (isEnough()) leave.abort();
      }
      return place;
    };
    const first = read(undefined, () => seen.length >= 1);
    await untilGauge(server, 'stint_stream_readers', 1);
    const ids: number[] = [];
    for (let n = 0; n < 20; n++) ids.push((await client.createRun({ type: 'echo' })).id);
    const place = await first;
    for (const id of ids) await ended(server, id);
    await read(place!, () => seen.length >= 60);
    expect(seen.toSorted()).toEqual(ids.flatMap((id) => [1, 2, 3].map((n) => `${id} ${n}`)).sort());
  });

  test('a waiting worker gets a new job with its fence', async () => {
    const waiting = client.call('claim', { body: { worker: 'w', types: ['remote'], waitMs: 60_000 } });
    await untilGauge(server, 'stint_workers_waiting', 1);
    const run = await client.createRun({ type: 'remote' });
    const [job] = (await waiting).items;
    expect(job).toMatchObject({ id: run.id });
    const params = { id: run.id };
    await expect(client.call('complete', { params, body: { fence: job!.fence + 1 } })).rejects.toMatchObject({ code: 'lost.lease' });
    await client.call('complete', { params, body: { fence: job!.fence, result: 'done' } });
    expect(await run.result()).toBe('done');
  });

  test('a waiting run has its position in the queue, and one instance leads', async () => {
    const runs = [await client.createRun({ type: 'queued' }), await client.createRun({ type: 'queued', priority: 5 })];
    const shown = await Promise.all(runs.map(({ id }) => server.get(`${api}/runs/${id}`)));
    expect(shown.map(({ body }) => body.queuePosition as unknown)).toEqual([1, 0]);
    const leaders = async (): Promise<number> =>
      (await server.get(`${api}/instances`)).body.items.filter((instance: { isLeader: boolean }) => instance.isLeader).length;
    await expect.poll(leaders).toBe(1);
    for (const { id } of runs) await server.post(`${api}/runs/${id}/cancel`);
  });

  test('a bulk operation acts on the matching runs', async () => {
    for (let n = 0; n < 10; n++) await client.createRun({ type: 'echo', delay: '1d' });
    const { count, operation } = await client.call('bulk', { body: { action: 'cancel', filter: { state: ['pending'] } } });
    expect(count).toBe(10);
    expect(await client.run(operation!).result({ timeoutMs: waitMs })).toEqual({ done: 10, refused: {} });
  });

  test('a name with NUL, which PostgreSQL cannot store, is refused', async () => {
    expect(await server.get(`${api}/defs/%00`)).toMatchObject({ status: 400, body: { code: 'malformed.request' } });
    await expect(server.engine.definition('\0')).rejects.toMatchObject({ code: 'malformed.name' });
  });

  test('metrics are served', async () => {
    expect(await client.call('metrics')).toMatch(/stint_events_total\{kind="succeeded"\} \d+/);
    expect((await client.call('stats', { query: { ended: true } })).ended?.succeeded).toBeGreaterThan(20);
  });
});
