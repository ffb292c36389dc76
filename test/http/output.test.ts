// Output over HTTP: pages, and a stream that continues at the last event id.
import { expect, onTestFinished, test } from 'vitest';
import { Client } from '../../src/client.ts';
import { routes, type OutputChunkView } from '../../src/http/contract.ts';
import { jobType } from '../../src/index.ts';
import { Door } from '../engine/api/kit.ts';
import { api, as, records, tokens, world } from './world.ts';

const door = new Door();
const tokensType = jobType('tokens', {
  run: async ({ output }) => {
    for (const text of ['a', 'b', 'c']) await output.write(text);
    await door.pass();
    await output.write({ done: true, password: 'hunter2' });
  },
});

test('a client reads live, breaks off and continues; pages and streams of an ended run have all of it', async () => {
  const server = await world({ engine: { types: [tokensType] }, access: { tokens: records } });
  onTestFinished(() => server.close());
  const client = new Client({ url: server.url, token: tokens.admin.token });
  const run = await client.createRun({ type: 'tokens' });
  const got: OutputChunkView[] = [];
  for await (const chunk of run.output()) if (got.push(chunk) === 2) break;
  door.open();
  for await (const chunk of run.output({ after: got.at(-1)!.position })) got.push(chunk);
  expect(got.map(({ position, value }) => [position, value])).toEqual([
    ['1.1', 'a'], ['1.2', 'b'], ['1.3', 'c'], ['1.4', { done: true, password: 'hunter2' }],
  ]);

  const path = `${api}/runs/${run.id}/output`;
  await run.result();
  const page = await server.get(`${path}?after=1.1&limit=2`, as('admin'));
  expect(routes.getOutput.answer.parse(page.body)).toEqual(page.body);
  expect(page.body).toEqual({ items: got.slice(1, 3), next: '1.3' });
  expect((await server.get(`${path}?after=1.4`, as('admin'))).body).toEqual({ items: [], next: null });
  const { headers } = as('admin');
  const told = await server.get(`${path}/stream?after=1.1`, { headers: { ...headers, 'last-event-id': '1.3' } });
  expect(told.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(told.body).toMatch(/^retry: 2000\n\nid: 1\.4\nevent: chunk\ndata: .*\n\nevent: end\ndata: \{"standing":"succeeded"\}\n\n$/);
  expect((await server.get(path, as('viewer'))).body.items.at(-1).value).toMatchObject({ password: '[redacted]' });
});

test('who may read a run may read its output, and wrong requests are refused', async () => {
  const server = await world({ access: { tokens: records } });
  onTestFinished(() => server.close());
  const { id } = (await server.post(`${api}/runs`, { type: 'echo' }, as('producer'))).body as { id: number };
  const statusOf = async (path: string, who: keyof typeof tokens): Promise<number> =>
    (await server.get(`${api}/runs/${path}`, as(who))).status;
  await expect.poll(() => statusOf(`${id}/output`, 'producer')).toBe(200);
  expect(await statusOf(`${id}/output`, 'worker')).toBe(403);
  expect(await statusOf(`${id}/output/stream`, 'worker')).toBe(403);
  expect(await statusOf('999999/output', 'viewer')).toBe(404);
  expect(await statusOf('999999/output/stream', 'viewer')).toBe(404);
  for (const path of [`${id}/output?after=x`, `${id}/output/stream?after=x`, `${id}/output?limit=0`]) {
    expect(await statusOf(path, 'viewer'), path).toBe(400);
  }
});
