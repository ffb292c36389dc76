// The layout of the dashboard in a real browser: nothing covers data, and nothing moves while it is being used.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { jobType } from '../../src/index.ts';
import { api, ended } from '../http/world.ts';
import { dashboard, mail, phone, picture, type Dashboard } from './world.ts';

let board: Dashboard;
const longName = 'warehouse.inventory.reconciliation.with.external.suppliers';
const longItems = jobType('long.items', {
  run: ({ progress, signal }) => {
    progress.startingStage('Accounts', { total: 2 });
    progress.startingItem(`reconciling ${'every account of every region '.repeat(6)}`);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  },
});
beforeAll(async () => {
  board = await dashboard({ engine: { types: [mail, longItems], defs: [] } });
  for (let number = 0; number < 12; number++) await board.start({ type: 'mail.send' });
  await board.start({ type: longName });
});
afterAll(() => board.close());

const rowIds = (page: Page): Promise<string[]> => page.locator('tbody td.id').allTextContents();
const updateBar = (page: Page) => page.locator('.update-bar');

/** Texts of table cells that a button or menu of the same row lies on. */
const coveredTexts = `[...document.querySelectorAll('.table tbody tr')].flatMap((row) => {
  const controls = [...row.querySelectorAll('button, summary')].map((e) => e.getBoundingClientRect());
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const covered = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.textContent.trim() === '' || node.parentElement.closest('button, summary, details')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const isCovered = [...range.getClientRects()].some((text) => controls.some((c) =>
      text.left < c.right && c.left < text.right && text.top < c.bottom && c.top < text.bottom));
    if (isCovered) covered.push(node.textContent);
  }
  return covered;
})`;

for (const path of ['/types', '/queues']) detail(`on a phone no button of ${path} covers data`, async () => {
  const page = await board.visit(path, phone);
  await page.locator('tbody tr', { hasText: longName }).waitFor();
  expect(await page.locator('tbody button, tbody summary').count()).toBeGreaterThan(0);
  await picture(page, `layout${path.replace('/', '-')}-phone`);
  expect(await page.evaluate<string[]>(coveredTexts)).toEqual([]);
  await page.close();
});

for (const width of [1024, 820, 768, 640]) detail(`at a width of ${width} px the figures fill every row of their box`, async () => {
  const page = await board.visit('/');
  await page.setViewportSize({ width, height: 1000 });
  await page.locator('.figures > div').first().waitFor();
  const gaps = await page.evaluate<number[]>(`[...document.querySelectorAll('.figures')].flatMap((box) => {
    const right = box.getBoundingClientRect().right;
    const rows = Map.groupBy([...box.children].map((e) => e.getBoundingClientRect()), (rect) => rect.top);
    return [...rows.values()].map((rects) => Math.round(right - Math.max(...rects.map((rect) => rect.right))));
  })`);
  await picture(page, `layout-overview-${width}`);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(1);
});

for (const width of [1440, 1024]) detail(`at ${width} px a long name of a definition leaves the other columns in view`, async () => {
  await board.post(`${api}/defs`, { name: `the quarterly ${'x'.repeat(150)}`, type: 'mail.send' });
  const page = await board.visit('/definitions');
  await page.setViewportSize({ width, height: 900 });
  await page.getByRole('link', { name: 'the quarterly' }).waitFor();
  await picture(page, `layout-definitions-${width}`);
  const hidden = await page.evaluate<number>(
    `(() => { const box = document.querySelector('.table-box'); return box.scrollWidth - box.clientWidth; })()`);
  expect(hidden).toBe(0);
  expect((await page.getByRole('columnheader', { name: 'Schedule' }).boundingBox())!.width).toBeGreaterThan(100);
});

detail('a right-to-left name does not move the number of its run before it', async () => {
  const id = await board.start({ type: 'تقرير.يومي', delay: '1h', input: { one: { two: { three: { four: 4 } } } } });
  const page = await board.visit(`/runs/${id}?tab=payload`);
  await page.getByText('{ 1 member }').waitFor();
  const [name, number] = await page.evaluate<[number, number]>(`(() => {
    const heading = document.querySelector('h1');
    const left = (node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect().left;
    };
    return [left(heading.firstElementChild), left(heading.querySelector('.run-id'))];
  })()`);
  expect(name).toBeLessThan(number);
});

detail('a long item of a progress tree stays beside its state', async () => {
  const id = await board.start({ type: 'long.items' });
  const page = await board.visit(`/runs/${id}?tab=progress`);
  const item = page.locator('.item', { hasText: 'reconciling' });
  const [state, name] = await Promise.all([item.locator('.item-state').boundingBox(), item.getByText('reconciling').boundingBox()]);
  expect(name!.x).toBeGreaterThan(state!.x + state!.width - 1);
  expect(name!.y).toBeLessThan(state!.y + state!.height);
});

const endlessAnimations = `document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime === Infinity)
  .map(({ animationName, effect }) => animationName + ' of ' + effect.target.parentElement.outerHTML)`;

detail('no page animates endlessly, even while a run is running', async () => {
  const id = await board.start({ type: 'long.items' });
  const page = await board.visit(`/runs/${id}?tab=progress`, { reducedMotion: 'no-preference' });
  await page.getByRole('switch', { name: 'Live' }).getByText('Live').waitFor();
  await page.locator('.item-state[data-status=running]').waitFor();
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
  expect(await page.evaluate<string[]>(endlessAnimations)).toEqual([]);
  await page.close();
});

detail('the icon of the page is found after a run is opened from the list', async () => {
  const page = await board.visit('/runs');
  await page.locator('tbody td.id a').first().click();
  await page.waitForURL(/\/runs\/\d+$/);
  const status = await page.evaluate<number>(
    `fetch(document.querySelector('link[rel=icon]').href).then((answer) => answer.status)`);
  expect(status).toBe(200);
});

test('a new run does not move the row under the pointer; it appears when the pointer leaves the table', async () => {
  const page = await board.visit('/runs');
  await page.getByRole('switch', { name: 'Live' }).getByText('Live').waitFor();
  const pointed = page.locator('tbody tr').nth(3);
  const id = await pointed.locator('td.id').textContent();
  const { x, y } = (await pointed.boundingBox())!;
  await page.mouse.move(x + 200, y + 10);
  await page.mouse.move(x + 204, y + 12);
  const first = (await rowIds(page))[0];
  const created = await board.start({ type: 'mail.send' });
  await expect.poll(async () => (await updateBar(page).count()) > 0 || (await rowIds(page))[0] !== first).toBe(true);
  const under = await page.evaluate<string>(
    `document.elementFromPoint(${x + 204}, ${y + 12}).closest('tr').querySelector('td.id').textContent`);
  expect(under).toBe(id);
  await updateBar(page).getByText(/^1 new row/).waitFor();
  await page.mouse.move(5, 5);
  await expect.poll(async () => (await rowIds(page))[0]).toBe(String(created));
});

detail('the keys act on the same run when a new one appears above it', async () => {
  const page = await board.visit('/runs');
  await page.getByRole('switch', { name: 'Live' }).getByText('Live').waitFor();
  for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
  const active = page.locator('tr[data-active=true] td.id');
  const id = await active.textContent();
  const created = await board.start({ type: 'mail.send' });
  await expect.poll(async () => (await rowIds(page))[0]).toBe(String(created));
  expect(await active.textContent()).toBe(id);
});

test('a selected run stays in the list when it no longer matches, and leaves the selection with the update', async () => {
  const id = await board.start({ type: 'mail.send', delay: '1h', tags: { selected: 'yes' } });
  const page = await board.visit('/runs?search=tag:selected%3Dyes%20state:pending');
  await page.getByRole('switch', { name: 'Live' }).getByText('Live').waitFor();
  await page.getByRole('checkbox', { name: `Select ${id}` }).check();
  await page.mouse.move(5, 5);
  await board.engine.cancelJobRun(id, { by: 'test' });
  await ended(board, id);
  await expect.poll(async () => (await updateBar(page).count()) > 0 || (await rowIds(page)).length === 0).toBe(true);
  expect(await page.getByText('1 selected').count()).toBe(1);
  expect(await rowIds(page)).toEqual([String(id)]);
  await updateBar(page).getByText('1 row no longer in this list').waitFor();
  await updateBar(page).getByRole('button', { name: 'Update the list' }).click();
  await page.getByText('No matching runs').waitFor();
  expect(await page.getByText('1 selected').count()).toBe(0);
});

detail('turning the page clears the selection, so that no hidden run is acted on', async () => {
  for (let number = 0; number < 45; number++) await board.start({ type: 'mail.send' });
  const page = await board.visit('/runs');
  await expect.poll(async () => (await rowIds(page)).length).toBe(50);
  await page.locator('tbody').getByRole('checkbox').first().check();
  await page.getByText('1 selected').waitFor();
  await page.locator('.pager a').last().click();
  await page.waitForURL(/after=/);
  await expect.poll(() => page.getByText('1 selected').count()).toBe(0);
});

detail('a search for a run number offers that run', async () => {
  const id = await board.start({ type: 'mail.send' });
  const page = await board.visit(`/runs?search=${id}`);
  await page.getByRole('link', { name: `Open run ${id}` }).click();
  await page.getByRole('heading', { name: `mail.send ${id}` }).waitFor();
  expect(board.faults).toEqual([]);
});
