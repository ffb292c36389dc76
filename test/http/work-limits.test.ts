// Limits of job types for workers over HTTP, whose server does not have the code that declares the limits.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, world, type World } from './world.ts';

const mail = jobType('mail', { limit: { key: 'tenant', concurrency: 1 }, run: () => null });
const single = jobType('single', { concurrency: 1, run: () => null });
const page = jobType('page', { taskFairness: 'run', taskDetails: () => [1], taskResults: () => null });

describe.each(['SQLite', 'PostgreSQL'])('on %s, a worker over HTTP', (name) => {
  let folder: string;
  let server: World;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stint-limits-'));
    const store = name === 'SQLite' ? `sqlite:${join(folder, 'jobs.db')}` : await migratedDatabase();
    await using program = new Engine({ store, types: [mail, single, page] });
    await program.resume();
    server = await world({ store, engine: { types: [], defs: [] } });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const create = async (type: string, input: object): Promise<number> =>
    (await server.post(`${api}/runs`, { type, input })).body.id;
  const claim = async (type: string, limit = 10): Promise<{ id: number; fence: number }[]> =>
    (await server.post(`${api}/work/claim`, { worker: 'w', types: [type], limit })).body.items;

  test('claims no more runs of one key than the type allows, and the next when one has ended', async () => {
    const first = await create('mail', { tenant: 'a' });
    const second = await create('mail', { tenant: 'a' });
    const other = await create('mail', { tenant: 'b' });
    const claimed = await claim('mail');
    expect(claimed.map(({ id }) => id)).toEqual([first, other]);
    expect(await claim('mail')).toEqual([]);
    const { body } = await server.get(`${api}/runs/${second}/explain`);
    expect(body.items).toContainEqual(expect.objectContaining({ code: 'limit.full' }));
    const { body: queues } = await server.get(`${api}/queues`);
    const { limits } = queues.items.find(({ type }: { type: string }) => type === 'mail');
    expect(limits).toContainEqual({ scope: 'key', name: 'a', max: 1, taken: 1 });
    await server.post(`${api}/work/${first}/complete`, { fence: claimed[0]!.fence });
    expect((await claim('mail')).map(({ id }) => id)).toEqual([second]);
  });

  test('claims the tasks of runs in turns, as the code of their type says', async () => {
    const { body: { taskFairness } } = await server.get(`${api}/types/page`);
    expect(taskFairness).toBe('run');
    const parents = [await create('crawl', {}), await create('crawl', {})];
    const held = await claim('crawl');
    const [large, small] = parents.map((id) => held.find((each) => each.id === id)!);
    const add = (parent: { id: number; fence: number }, count: number) =>
      server.post(`${api}/work/${parent.id}/children`, { fence: parent.fence, children: Array.from({ length: count }, () => ({ type: 'page' })) });
    await add(large!, 300);
    await add(small!, 1);
    for (const { id, fence } of [large!, small!]) await server.post(`${api}/work/${id}/complete`, { fence });
    const claimed = await claim('page', 3);
    const parentOf = async (id: number): Promise<number> => (await server.engine.get(id)).parent!;
    expect(await Promise.all(claimed.map(({ id }) => parentOf(id)))).toContain(small!.id);
    const waiting = (await server.engine.find({ types: ['page'], standings: ['pending'] })).jobs[0]!;
    const { body } = await server.get(`${api}/runs/${waiting.id}/explain`);
    expect(body.items).toContainEqual(expect.objectContaining({
      code: 'fairness.waiting', detail: expect.objectContaining({ key: `run ${large!.id}`, weight: 1 }) as object,
    }));
  });

  test('claims no more runs of a type than the type allows', async () => {
    const first = await create('single', {});
    await create('single', {});
    expect((await claim('single')).map(({ id }) => id)).toEqual([first]);
    expect(await claim('single')).toEqual([]);
  });
});
