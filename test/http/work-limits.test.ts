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

describe.each(['SQLite', 'PostgreSQL'])('on %s, a worker over HTTP', (name) => {
  let folder: string;
  let server: World;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stint-limits-'));
    const store = name === 'SQLite' ? `sqlite:${join(folder, 'jobs.db')}` : await migratedDatabase();
    await using program = new Engine({ store, types: [mail, single] });
    await program.resume();
    server = await world({ store, engine: { types: [], defs: [] } });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const create = async (type: string, input: object): Promise<number> =>
    (await server.post(`${api}/runs`, { type, input })).body.id;
  const claim = async (type: string): Promise<{ id: number; fence: number }[]> =>
    (await server.post(`${api}/work/claim`, { worker: 'w', types: [type], limit: 10 })).body.items;

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

  test('claims no more runs of a type than the type allows', async () => {
    const first = await create('single', {});
    await create('single', {});
    expect((await claim('single')).map(({ id }) => id)).toEqual([first]);
    expect(await claim('single')).toEqual([]);
  });
});
