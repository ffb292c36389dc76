// Hostile names, payloads, errors, logs, tags and reasons are rendered as text.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { jobType } from '../../src/index.ts';
import { api, ended } from '../http/world.ts';
import { dashboard, picture, type Dashboard } from './world.ts';

const corpus = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '</textarea><iframe srcdoc="<script>parent.alert(1)</script>">',
  '{{constructor.constructor("alert(1)")()}}',
  '<style>*{display:none}</style>',
  '<a href="//evil.example">here</a>',
  `\u202Eevil\u202C \u2028 𝕏 ${'é'.repeat(50)}`,
  'x'.repeat(3_000),
];
const shown = corpus[1]!;
const type = 'hostile';

const echo = jobType(type, {
  retry: { attempts: 1 },
  run: ({ input, log, progress }) => {
    const text = String((input as { text: string }).text);
    log.error(text);
    progress.startingStage(text, { total: 2 });
    progress.startingItem(text);
    throw Object.assign(new Error(text), { stack: text });
  },
});

let board: Dashboard;
let runs: number[];
beforeAll(async () => {
  board = await dashboard({ engine: { types: [echo], defs: [] } });
  runs = [];
  for (let from = 0; from < corpus.length; from += 4) {
    const texts = corpus.slice(from, from + 4);
    const names = Object.fromEntries(texts.map((text) => [`${text.slice(0, 30)} as a name`, [text]]));
    const tags = Object.fromEntries(texts.map((text) => [text.slice(0, 40), text.slice(0, 100)]));
    runs.push(await board.start({ type, input: { text: texts.join(' '), ...names }, tags }));
  }
  await Promise.all(runs.map((id) => ended(board, id)));
});
afterAll(() => board.close());

/** Elements that can only come from markup in the data. */
const injected = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(injectedSelector)})].map((e) => e.outerHTML)`);

const injectedSelector = [
  'script', 'iframe', 'img', 'style', 'object', 'embed', '[onmouseover]', '[onload]', '[onerror]', 'a[href*="evil"]',
  'a[href^="javascript"]',
].map((one) => `main ${one}`).join();

test('a list shows hostile values as text', async () => {
  const search = encodeURIComponent(`error:"${shown.replaceAll('"', '\\"')}"`);
  for (const path of ['/', '/runs', `/runs?search=${search}`, '/runs?search=state:failed']) {
    const page = await board.visit(path);
    await page.getByText(shown).first().waitFor();
    expect(await injected(page)).toEqual([]);
  }
});

detail('every tab and dialog of a run shows hostile values as text', async () => {
  for (const [index, id] of runs.entries()) {
    const page = await board.visit(`/runs/${id}`);
    for (const tab of ['payload', 'progress', 'timeline', 'log', 'events', 'relations', 'explain']) {
      await page.getByRole('tab', { name: new RegExp(`^${tab}`, 'i') }).click();
      await page.getByRole('tabpanel').waitFor();
      expect(await injected(page), `${tab} of run ${id}`).toEqual([]);
    }
    await page.keyboard.press('l');
    await page.getByRole('dialog').getByLabel('Input').waitFor();
    if (index === 0) await picture(page, 'hostile-light');
    expect(await injected(page)).toEqual([]);
  }
  expect(board.faults).toEqual([]);
});

detail('a hostile reason and a hostile search are shown as text', async () => {
  const id = await board.start({ type: 'nobody.knows', delay: '1h' });
  await board.engine.cancelJobRun(id, { by: corpus[1]!, why: corpus[0]! });
  const page = await board.visit(`/runs/${id}?tab=events`);
  await page.getByText(corpus[0]!).first().waitFor();
  expect(await injected(page)).toEqual([]);
  await page.goto(`${board.url}/runs?search=${encodeURIComponent('state:<img src=x onerror=alert(1)>')}`);
  await page.getByText('unknown state').waitFor();
  expect(await injected(page)).toEqual([]);
  await page.goto(`${board.url}/nowhere/%3Cscript%3E`);
  await page.getByText('Page not found').waitFor();
  expect((await board.get(`${api}/runs/${id}`)).body.cancel.why).toBe(corpus[0]);
  expect(board.faults).toEqual([]);
});

test('names of jobs, definitions, views, workers, tags and callers are shown as text on every page', async () => {
  const name = '<img src=x onerror=alert(1)>';
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const { status, body: answer } = await board.send(method, `${api}${path}`, body);
    expect([path, status < 300 ? null : answer]).toEqual([path, null]);
  };
  await board.engine.jobs.create({ kind: 'bedrock', type: name }, name);
  await send('POST', '/defs', { name, type, schedules: [{ every: '1h' }], params: { [name]: name }, tags: { team: name } });
  await send('POST', `/defs/${encodeURIComponent(name)}/disable`, { why: name });
  await send('PUT', `/views/${encodeURIComponent(name)}`, { page: 'runs', query: `search=${encodeURIComponent(name)}` });
  await send('POST', `/types/${type}/pause`, { why: name });
  await send('POST', '/work/claim', { worker: name, types: ['nothing'] });
  await board.engine.cancelJobRun(await board.start({ type: 'nobody.knows', delay: '1h' }), { by: name, why: name });
  const pages = [
    '/', '/runs', '/definitions', `/definitions?name=${encodeURIComponent(name)}`, '/types', `/types?name=${type}`, '/queues', '/failures', '/audit',
    '/instances', '/limits', '/alerts', '/operations', '/flows', '/inbox', '/questions', '/settings',
  ];
  const shownOn: string[] = [];
  for (const path of pages) {
    const page = await board.visit(path);
    await page.locator('main h1').waitFor();
    await expect.poll(() => page.locator('.loading').count()).toBe(0);
    expect(await injected(page), path).toEqual([]);
    if ((await page.locator('main').textContent())!.includes(name)) shownOn.push(path);
  }
  expect(shownOn.length).toBeGreaterThanOrEqual(7);
});

test('hostile values opened no dialog, broke no content policy and caused no request to another host', () => {
  expect(board.faults).toEqual([]);
});
