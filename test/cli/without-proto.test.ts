// Node without `__proto__` on objects: nothing in Stint or its dependencies reads or writes prototypes by that name.
import { expect, onTestFinished } from 'vitest';
import { detail } from '../support/detail.ts';
import { Place } from './stint.ts';

detail('a server works in a process whose objects have no __proto__', async () => {
  using place = new Place();
  const words = ['serve', '--http', '127.0.0.1:0', '--bedrock', 'off', '--allow-exec', 'echo'];
  const server = place.startWith({ NODE_OPTIONS: '--disable-proto=throw' }, ...words);
  onTestFinished(async () => void (await server.kill()));
  const url = (await server.says(/HTTP +(http:\S+)/))[1]!;
  const created = await fetch(`${url}/api/v1/runs`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"type":"exec","input":{"command":["echo","hello"]}}',
  });
  const { id } = (await created.json()) as { id: number };
  const run = async (): Promise<unknown> => (await fetch(`${url}/api/v1/runs/${id}`)).json();
  await expect.poll(run).toMatchObject({ standing: 'succeeded' });
  expect((await fetch(url)).status).toBe(200);
  expect((await server.stop()).code).toBe(0);
});
