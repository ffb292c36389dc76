// Pages of other sites, in a real browser: they can neither change anything on a server of this machine nor read from it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { startBedrock, type StartedBedrock } from '../../src/bedrock/start.ts';
import { plainPage, test } from '../support/browser.ts';
import { waitMs } from '../support/patience.ts';
import { api, everyRoute, pathOf } from '../http/world.ts';
import { dashboard, type Dashboard } from './world.ts';

let board: Dashboard;
let bedrock: StartedBedrock;
let id: number;
const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>x</title>'));
beforeAll(async () => {
  // Without tokens, every request of this machine is an admin's: only the browser's own rules and ours are in the way.
  board = await dashboard();
  bedrock = await startBedrock({ engine: board.engine, port: 0 });
  id = await board.start({ type: 'mail.send', delay: '1h' });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  site.close();
  site.closeAllConnections();
  await bedrock.close();
  await board.close();
});

interface Attack {
  readonly home: string;
  readonly bedrock: string;
  /** Paths that change something by POST. */
  readonly changes: readonly string[];
  readonly reads: readonly string[];
  readonly bodies: readonly string[];
}

/** Runs in the browser; returns what the page could read. */
async function attack({ home, bedrock: jobs, changes, reads, bodies }: Attack): Promise<unknown[]> {
  // The types of the browser are not those of the tests.
  const { document, fetch: ask, navigator, EventSource: Events } = globalThis as unknown as {
    document: { createElement(tag: string): Record<string, unknown> & { append(child: object): void; submit(): void }; body: { append(child: object): void } };
    fetch: typeof fetch;
    navigator: { sendBeacon(url: string, body?: unknown): boolean };
    EventSource: new (url: string) => { onmessage: (event: unknown) => void; onerror: () => void; close(): void };
  };
  const got: unknown[] = [];
  const element = (tag: string, more: object) => {
    const made = Object.assign(document.createElement(tag), more);
    document.body.append(made);
    return made;
  };
  let frames = 0;
  const form = (action: string, enctype: string, name: string, value: string): Promise<unknown> => {
    const target = `frame${frames++}`;
    const frame = element('iframe', { name: target });
    const sent = element('form', { action, method: 'POST', enctype, target });
    sent.append(Object.assign(document.createElement('textarea'), { name, value }));
    const loaded = new Promise((resolve) => Object.assign(frame, { onload: resolve, onerror: resolve }));
    sent.submit();
    return loaded;
  };
  const read = (url: string, init: RequestInit): Promise<void> =>
    ask(url, init).then(async (response) => {
      const text = await response.text();
      if (text !== '') got.push([url, text]);
    }, () => undefined);

  for (const path of changes) {
    await ask(home + path, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(() => undefined);
    await read(home + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: bodies[0]! });
    await form(home + path, 'application/x-www-form-urlencoded', 'why', 'x');
  }
  for (const body of bodies) {
    await ask(`${home}/api/v1/runs`, { method: 'POST', mode: 'no-cors', body }).catch(() => undefined);
    await form(`${home}/api/v1/runs`, 'text/plain', body, '');
    navigator.sendBeacon(`${home}/api/v1/runs`, body);
    await form(jobs, 'text/plain', body, '');
    await ask(jobs, { method: 'POST', mode: 'no-cors', body }).catch(() => undefined);
  }
  for (const path of reads) {
    await read(home + path, { credentials: 'include' });
    await ask(home + path, { mode: 'no-cors' }).catch(() => undefined);
  }
  await new Promise<void>((resolve) => {
    const events = new Events(`${home}/api/v1/stream`);
    events.onmessage = (event) => got.push(event);
    events.onerror = () => {
      events.close();
      resolve();
    };
  });
  return got;
}

/** A page of the other site. */
async function pageOn(host: string): Promise<Page> {
  const page = await board.browser.newPage(plainPage);
  onTestFinished(() => page.close());
  page.setDefaultTimeout(waitMs);
  await page.goto(`http://${host}:${(site.address() as AddressInfo).port}/`);
  return page;
}

/** Counts the POSTs that the server has answered. */
function countPosts(): () => number {
  let posts = 0;
  const count = (message: unknown): void => {
    const { request: { method, socket } } = message as { readonly request: IncomingMessage };
    if (method === 'POST' && socket.localPort === Number(new URL(board.url).port)) posts += 1;
  };
  subscribe('http.server.response.finish', count);
  onTestFinished(() => void unsubscribe('http.server.response.finish', count));
  return () => posts;
}

test.each(['localhost', '127.0.0.1'])('a page of http://%s on another port changes nothing and reads nothing', async (host) => {
  const before = await board.engine.jobs.store.feedEnd();
  const [page, posts] = [await pageOn(host), countPosts()];
  const actions = ['cancel', 'stop', 'pause', 'retry'].map((action) => `${api}/runs/${id}/${action}`);
  const others = everyRoute.filter(([, { method, roles }]) => method === 'post' && roles !== null).map(([, route]) => pathOf(route));
  const changes = [...actions, ...others.slice(0, 6)];
  const bodies = ['{"type":"evil"}', '\n\nCreateJob\nname: evil\n\n', 'CreateJob\r\nname: evil\r\n\r\n'];
  const read = await page.evaluate(attack, {
    home: board.url,
    bedrock: `http://127.0.0.1:${bedrock.port}/`,
    changes,
    reads: ['/', '/metrics', `${api}/me`, `${api}/runs`, `${api}/runs/${id}`, `${api}/openapi.json`],
    bodies,
  });
  // Nobody tells the page when a beacon has arrived. The JSON does not arrive: the browser asks first, by OPTIONS.
  await expect.poll(posts).toBe(2 * changes.length + 3 * bodies.length);
  expect(read).toEqual([]);
  expect(await board.engine.jobs.store.feedEnd()).toBe(before);
  expect((await board.get(`${api}/runs`)).body.items.map((run: { id: number }) => run.id)).toEqual([id]);
});

test('a page of another site cannot show the dashboard in a frame', async () => {
  const page = await pageOn('localhost');
  const refused = page.waitForEvent('console', { predicate: (message) => message.text().includes('frame-ancestors') });
  await page.setContent(`<iframe src="${board.url}/"></iframe>`);
  expect((await refused).text()).toContain("frame-ancestors 'none'");
});
