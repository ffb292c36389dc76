import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { mountHttp, startBedrock, type Mounted } from '../../src/server.ts';
import { Engine, jobType } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { shakyStore } from './world.ts';

const echo = jobType('echo', { run: ({ input }) => input });

interface House {
  readonly url: string;
  readonly engine: Engine;
  readonly mounted: Mounted;
  readonly server: Server;
}
const houses: House[] = [];

/** The server of another program, with Stint mounted below /jobs. */
async function house(
  options: Partial<Parameters<typeof mountHttp>[0]> = {},
  store: string | Store = 'memory:',
): Promise<House> {
  const engine = new Engine({ store, types: [echo] });
  await engine.resume();
  const mounted = mountHttp({ engine, path: '/jobs', ...options });
  const server = createServer((request, response) => {
    if (!mounted.handle(request, response)) response.end('mine');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const built = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, engine, mounted, server };
  houses.push(built);
  return built;
}

afterEach(async () => {
  for (const { engine, mounted, server } of houses.splice(0)) {
    await mounted.close();
    server.closeAllConnections();
    server.close();
    await engine.close();
  }
});

test('a mounted server answers below its path and leaves other paths to its host', async () => {
  const { url } = await house({ dashboard: null });
  for (const path of ['/', '/jobsite', '/other/jobs', '/?a=/jobs']) {
    expect(await (await fetch(url + path)).text()).toBe('mine');
  }
  expect(await (await fetch(`${url}/jobs/health`)).json()).toMatchObject({ status: 'ok' });
  const created = await fetch(`${url}/jobs/api/v1/runs`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'echo', input: 7 }),
  });
  expect(created.status).toBe(201);
});

test('the mount path without a slash redirects to the one with it', async () => {
  const { url } = await house({ dashboard: null });
  const moved = await fetch(`${url}/jobs?live=1`, { redirect: 'manual' });
  expect([moved.status, moved.headers.get('location')]).toEqual([308, '/jobs/?live=1']);
  expect(await (await fetch(`${url}/jobs`)).text()).toContain('Stint');
});

test('the links of the plain page stay below the mount path', async () => {
  const { url } = await house({ dashboard: null });
  const page = await fetch(`${url}/jobs`);
  const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => new URL(link!, page.url));
  expect(links.length).toBeGreaterThan(5);
  for (const link of links) expect((await fetch(link)).status, link.pathname).toBe(200);
  expect(links.every(({ pathname }) => pathname.startsWith('/jobs/'))).toBe(true);
});

test('authenticate assigns a role to known callers, and unknown ones are refused', async () => {
  const { url } = await house({
    access: { authenticate: (request) => (request.headers.get('x-user') === 'ada' ? { name: 'ada', role: 'viewer' } : null) },
  });
  const me = await fetch(`${url}/jobs/api/v1/me`, { headers: { 'x-user': 'ada' } });
  expect(await me.json()).toEqual({ name: 'ada', role: 'viewer', isLocal: false, seesPayloads: false, expires: null, priorityMax: null });
  expect((await fetch(`${url}/jobs/api/v1/me`)).status).toBe(401);
});

test.each(['jobs', '/', '/jobs/', '', '/a b'])('the mount path "%s" is refused', async (path) => {
  const engine = new Engine({ store: 'memory:' });
  expect(() => mountHttp({ engine, path })).toThrow('begins with a slash and ends without');
  await engine.close();
});

test('startBedrock listens on a free port', async () => {
  const { engine } = await house({ dashboard: null });
  const bedrock = await startBedrock({ engine, port: 0 });
  expect(bedrock).toMatchObject({ host: '127.0.0.1', port: expect.any(Number) as number });
  await bedrock.close();
});

test.each(['lead', 'find', 'eventsAfter'])('an outage of the store (%s) at the first request affects no later one', async (method) => {
  const failing = new Set<string>();
  const { url, engine } = await house({ dashboard: null }, shakyStore(failing));
  const run = await engine.createJobRun(echo, { input: 1 });
  await run.result();
  failing.add(method);
  expect((await fetch(`${url}/jobs/api/v1/series`)).status).toBe(500);
  expect((await fetch(`${url}/jobs/api/v1/series`)).status).toBe(500);
  failing.clear();
  const series = await fetch(`${url}/jobs/api/v1/series`);
  expect(series.status).toBe(200);
  const { types } = await series.json() as { types: unknown[] };
  expect(types).toMatchObject([{ type: 'echo', created: 1, succeeded: 1 }]);
  const stop = new AbortController();
  const stream = await fetch(`${url}/jobs/api/v1/stream`, { signal: stop.signal });
  const { value } = await stream.body!.getReader().read();
  expect(new TextDecoder().decode(value)).toContain('retry:');
  stop.abort();
});
