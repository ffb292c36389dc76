// Steps over HTTP: listed page by page, and forgotten by a retry.
import { expect, onTestFinished, test } from 'vitest';
import { routes } from '../../src/http/contract.ts';
import { jobType } from '../../src/index.ts';
import { api, ended, world } from './world.ts';

const stepping = jobType('stepping', {
  run: async ({ step, sleep }) => {
    await step('a', () => ({ made: 1 }));
    await sleep('nap', '0s');
    await step('b', () => 2);
  },
});

test('the steps of a run are listed, and a retry executes them again from one on', async () => {
  const server = await world({ engine: { types: [stepping] } });
  onTestFinished(() => server.close());
  const { id } = (await server.post(`${api}/runs`, { type: 'stepping' })).body as { id: number };
  await ended(server, id);
  const all = await server.get(`${api}/runs/${id}/steps`);
  expect(routes.getSteps.answer.parse(all.body)).toEqual(all.body);
  expect(all.body).toMatchObject({
    items: [
      { n: 1, name: 'a', kind: 'step', result: { made: 1 } }, { n: 2, name: 'nap', kind: 'sleep', result: null },
      { n: 3, name: 'b', kind: 'step', result: 2 },
    ],
    next: null,
  });
  expect((await server.get(`${api}/runs/${id}/steps?after=1&limit=1`)).body).toMatchObject({ items: [{ n: 2 }], next: 2 });
  expect((await server.get(`${api}/runs/999999/steps`)).status).toBe(404);
  expect(await server.post(`${api}/runs/${id}/retry`, { from: 'c' })).toMatchObject({ status: 404, body: { code: 'unknown.step' } });
  expect((await server.post(`${api}/runs/${id}/retry`, { from: 'b' })).status).toBe(200);
  await ended(server, id);
  const again = (await server.get(`${api}/runs/${id}/steps`)).body as { items: { n: number; name: string; fence: number }[] };
  expect(again.items.map(({ name, fence }) => [name, fence])).toEqual([['a', 1], ['nap', 1], ['b', 2]]);
});
