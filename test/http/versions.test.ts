// Versions of types over HTTP: what workers claim, and what the page of a type shows.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { api, as, records, world, type Reply, type World } from './world.ts';

const mail = jobType('mail', { version: 3, upgrade: { 2: (old: unknown) => old }, run: () => null });

let server: World;
beforeAll(async () => {
  server = await world({ access: { tokens: records }, engine: { types: [mail], defs: [] } });
  await server.engine.suspend();
});
afterAll(() => server.close());

const create = async (body: object): Promise<Reply['body']> =>
  (await server.post(`${api}/runs`, body, as('operator'))).body;
const claimed = async (body: object): Promise<number[]> =>
  (await server.post(`${api}/work/claim`, { worker: 'w1', types: ['mail'], limit: 9, ...body }, as('worker'))).body.items
    .map(({ id }: { id: number }) => id);

test('a run has the version of the catalogue, and a worker gets the versions that it states', async () => {
  const { id } = await create({ type: 'mail' });
  expect((await server.get(`${api}/runs/${id}`, as('operator'))).body.typeVersion).toBe(3);
  expect(await claimed({ versions: [{ type: 'mail', from: 1, to: 2 }] })).toEqual([]);
  expect(await claimed({ versions: [{ type: 'mail', from: 3, to: 4 }] })).toEqual([id]);
  const other = await create({ type: 'mail' });
  expect(await claimed({})).toEqual([other.id]);
});

test('a range of versions that ends before it begins is refused, and so is one that is too long', async () => {
  for (const range of [{ from: 2, to: 1 }, { from: 1, to: 100_000 }, { from: 0, to: 1 }]) {
    const body = { worker: 'w1', types: ['mail'], versions: [{ type: 'mail', ...range }] };
    expect((await server.post(`${api}/work/claim`, body, as('worker'))).status).toBeGreaterThanOrEqual(400);
  }
});

test('a type shows which versions wait, who knows them, and whether old instances can be stopped', async () => {
  await create({ type: 'mail' });
  const { body } = await server.get(`${api}/types/mail`, as('operator'));
  expect(body).toMatchObject({ version: 3, oldInstances: [], isSafeToStopOld: false });
  const known = expect.arrayContaining([server.engine.instance]) as string[];
  expect(body.versions).toContainEqual({ version: 3, waiting: 1, instances: known });
});
