// Job types and definitions in a real browser: forms, schedules, the simulator, overrides and new definitions.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { api, ended } from '../http/world.ts';
import { bySize } from '../support/size.ts';
import { planBoard } from './plan-world.ts';
import { dark, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => {
  board = await planBoard();
});
afterAll(() => board.close());

const def = (name: string, rest = ''): string => `/definitions?name=${encodeURIComponent(name)}${rest}`;
const defOf = async (name: string) => (await board.get(`${api}/defs/${encodeURIComponent(name)}`)).body;
const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

test('job types show their open jobs, and which have no worker', async () => {
  const page = await board.visit('/types');
  await row(page, 'legacy.export').getByText('no worker').waitFor();
  await expect.poll(() => row(page, 'site.crawl').locator('td').nth(1).textContent()).toBe('2');
  expect(await row(page, 'stint.bulk').getByRole('button').count()).toBe(0);
  await picture(page, 'types-light');
  await page.getByLabel('Filter by name').fill('report');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  expect(page.url()).toContain('q=report');
  for (const key of ['Tab', 'j', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('heading', { name: 'report.build' }).waitFor();
  await page.getByText('2 min').waitFor();
  await picture(page, 'type-light');
});

test('a run is started with a form made from the schema, and an invalid field is named', async () => {
  const page = await board.visit('/types?name=report.build');
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Start a run' });
  await dialog.getByLabel('title *').fill('Year');
  await dialog.getByLabel('format').selectOption('html');
  await dialog.getByLabel('copies').fill('12');
  await dialog.getByLabel('draft').selectOption('true');
  await dialog.getByRole('group', { name: 'period *' }).getByLabel('from *').fill('2026-01-01');
  await dialog.getByLabel('recipients').fill('["a@example.org",');
  expect(await dialog.getByLabel('recipients').getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('recipients').fill('["a@example.org"]');
  await picture(page, 'start-form-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await dialog.getByText(/copies: Too big/).waitFor();
  await dialog.getByLabel('copies').fill('3');
  await dialog.getByRole('button', { name: 'JSON', exact: true }).click();
  const json = JSON.parse(await dialog.getByRole('textbox', { name: /^Input/ }).inputValue()) as unknown;
  const said = {
    title: 'Year', format: 'html', copies: 3, draft: true, period: { from: '2026-01-01' }, recipients:
    ['a@example.org'],
  };
  expect(json).toEqual(said);
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await page.waitForURL(/\/runs\/\d+/);
  const id = Number(/\d+$/.exec(new URL(page.url()).pathname)![0]);
  expect((await board.get(`${api}/runs/${id}`)).body).toMatchObject({ type: 'report.build', input: said });
});

detail('typed JSON stays in its field when the schema arrives', async () => {
  const page = await board.visit('/types?name=report.build');
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  const late = Promise.withResolvers<void>();
  await page.route(/\/types(\/report\.build)?$/, async (route) => {
    await late.promise;
    await route.continue();
  });
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Start a run' });
  const json = dialog.getByRole('textbox', { name: /^Input/ });
  await json.fill('{ "title":');
  late.resolve();
  await dialog.getByRole('button', { name: 'JSON', exact: true }).waitFor();
  await page.keyboard.type(' "Year" }');
  expect(await json.inputValue()).toBe('{ "title": "Year" }');
  await dialog.getByRole('button', { name: 'Form', exact: true }).click();
  expect(await dialog.getByLabel('title *').inputValue()).toBe('Year');
});

test('a definition shows its calendar, and the reason of each skipped tick', async () => {
  const page = await board.visit('/definitions');
  await row(page, 'monthly report').getByText('every day at 02:30 Europe/Berlin; Monday to Friday at 18:00 Europe/Berlin').waitFor();
  await picture(page, 'definitions-light');
  await page.goto(board.url + def('monthly report'));
  const calendar = page.getByRole('region', { name: 'Calendar' });
  await calendar.getByRole('button', { name: 'Next month' }).click();
  // In winter Berlin is an hour ahead of UTC, which is this browser's zone.
  await expect.poll(() => calendar.getByText('01:30').count()).toBeGreaterThanOrEqual(28);
  expect(page.url()).toMatch(/month=\d{4}-\d\d/);
  await picture(page, 'definition-light');
  await page.goto(board.url + def('poll the mirror', '&tab=ticks'));
  await page.getByText('the previous run had not ended').waitFor();
  await expect.poll(() => page.locator('tbody').textContent()).toMatch(/in a row/);
  const [first] = (await board.get(`${api}/runs?def=${encodeURIComponent('poll the mirror')}`)).body.items;
  await page.getByRole('link', { name: `run ${first.id}`, exact: true }).waitFor();
  await picture(page, 'ticks-light');
});

detail('past ticks without a run are shown, counted and backfilled', async () => {
  const range = '&from=2026-03-28T00:00Z&to=2026-03-31T00:00Z';
  const page = await board.visit(def('monthly report', `&tab=backfill${range}`));
  await page.getByText('4 of 4 ticks have no run').waitFor();
  await row(page, '2026-03-29').getByText('does not exist in Europe/Berlin').waitFor();
  expect(await page.locator('tbody').getByText('missing').count()).toBe(4);
  await picture(page, 'backfill-light');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('textbox', { name: /^To / }).fill('2999-01-01T00:00Z');
  await page.getByText('the range ends in the future').first().waitFor();
  await page.getByRole('textbox', { name: /^To / }).fill('2026-03-31T00:00Z');
  await page.getByRole('button', { name: 'Backfill 4 ticks' }).click();
  const dialog = page.getByRole('dialog', { name: 'Backfill monthly report?' });
  await dialog.getByLabel(/^Reason/).fill('a new report');
  await dialog.getByRole('button', { name: 'Start backfill' }).click();
  await page.waitForURL(/\/runs\/\d+/);
  const id = Number(/\d+$/.exec(new URL(page.url()).pathname)![0]);
  expect(await ended(board, id)).toMatchObject({ type: 'stint.backfill', result: { created: 4 } });
  await page.goto(board.url + def('monthly report', `&tab=backfill${range}`));
  await page.getByText('0 of 4 ticks have no run').waitFor();
  await expect.poll(() => page.locator('tbody').getByText('succeeded').count()).toBe(4);
});

test('the calendar shows the ticks of each hour over all definitions', async () => {
  const page = await board.visit('/definitions');
  await page.getByRole('link', { name: 'Calendar' }).click();
  const hours = page.getByRole('region', { name: 'Ticks per hour' });
  await expect.poll(() => hours.locator('tbody tr').count()).toBe(24);
  expect(await hours.locator('tbody').textContent()).toContain('poll the mirror 3,600');
  await picture(page, 'schedule-calendar-light');
  expect(await violations(page)).toEqual([]);
  await page.getByLabel('Range').selectOption('168');
  await expect.poll(() => hours.locator('tbody tr').count()).toBe(168);
  await row(page, 'monthly report').first().waitFor();
});

detail('the simulator shows the effect of daylight saving, long runs and other policies', async () => {
  const page = await board.visit(def('monthly report', '&tab=simulator'));
  const next = page.getByRole('region', { name: 'Next ticks' });
  await expect.poll(() => next.locator('tbody tr').count()).toBe(20);
  expect(await next.getByText('waits').count()).toBe(0);
  await page.getByLabel('Duration of a run').fill('20h');
  await expect.poll(() => next.getByText('waits').count()).toBeGreaterThan(0);
  expect(page.url()).toContain('lasts=20h');

  const tried = page.getByRole('region', { name: 'Ticks of the new schedule' });
  await page.getByLabel('Start at').fill('2027-03-27T00:00:00Z');
  await tried.getByText('2027-03-28 02:30:00 does not exist in Europe/Berlin: it runs at 03:00:00.').waitFor();
  const own = page.locator('.schedule-fields');
  await own.getByLabel('If the time is skipped (DST)').selectOption('skip');
  await tried.getByText('does not exist in Europe/Berlin: it is skipped.').waitFor();
  await expect.poll(() => tried.locator('tbody tr', { hasText: '2027-03-28' }).textContent()).toContain('skipped');
  await picture(page, 'simulator-light');
  await own.getByLabel(/^When/).fill('30 25 * * *');
  await page.getByRole('alert').getByText(/hour/i).waitFor();
});

test('an override is shown beside the declared setting, with user and reason, and is reset', async () => {
  const page = await board.visit(def('monthly report', '&tab=settings'));
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit monthly report' });
  expect(await dialog.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
  await dialog.getByLabel('If the previous run has not ended').selectOption('skip');
  await dialog.getByLabel(/^When/).first().fill('45 3 * * *');
  await dialog.getByText('every day at 03:45 Europe/Berlin').waitFor();
  await dialog.getByLabel('Priority').fill('7');
  await dialog.getByLabel('Reason').fill('the printer is slow');
  await picture(page, 'edit-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await expect.poll(() => row(page, 'Overlap').textContent()).toBe('Overlap overriddenqueueskip');
  expect((await defOf('monthly report')).override).toMatchObject({ overlap: 'skip', priority: 7 });
  expect(Object.keys((await defOf('monthly report')).override).sort((a, b) => a.localeCompare(b))).toEqual(['overlap', 'priority', 'schedules']);
  await picture(page, 'override-light');
  await page.getByRole('tab', { name: 'Changes' }).click();
  await page.getByText('“the printer is slow”').waitFor();
  await page.getByRole('button', { name: 'Reset overrides' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('the printer is new');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset overrides' }).click();
  await expect.poll(async () => (await defOf('monthly report')).override).toBeNull();
  await page.getByText('“the printer is new”').waitFor();
});

test('a definition is disabled with a reason, enabled, run now and deleted', async () => {
  const page = await board.visit(def('poll the mirror'));
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await page.keyboard.press('h');
  await page.getByLabel('Reason').fill('the mirror moves');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  const { id } = await defOf('poll the mirror');
  expect((await board.get(`${api}/runs/${id}/events?from=1&limit=1000`)).body.items.at(-1)).toMatchObject({ kind: 'paused', why: 'the mirror moves' });
  await page.keyboard.press('h');
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Disable' }).waitFor();

  await page.goto(board.url + def('monthly report'));
  await page.getByRole('button', { name: 'Run now' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run monthly report' });
  await expect.poll(() => dialog.getByLabel('title *').inputValue()).toBe('Month');
  await dialog.getByLabel('title *').fill('By hand');
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await page.waitForURL(/\/runs\/\d+/);
  await page.getByRole('link', { name: 'monthly report' }).first().waitFor();

  await page.goto(board.url + def('poll the mirror'));
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('the mirror is gone');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete definition' }).click();
  await page.waitForURL(/\/definitions$/);
  const [entry] = (await board.get(`${api}/audit?action=undefine`)).body.items;
  expect(entry).toMatchObject({ def: 'poll the mirror', why: 'the mirror is gone' });
  await expect.poll(() => row(page, 'poll the mirror').count()).toBe(0);
});

test('a definition is created, and a taken name is refused in the form', async () => {
  const page = await board.visit('/definitions');
  await page.getByRole('button', { name: 'New definition' }).click();
  const dialog = page.getByRole('dialog', { name: 'New definition' });
  await dialog.getByLabel('Name', { exact: true }).fill('monthly report');
  await dialog.getByLabel('Job type').fill('shop.order');
  await dialog.getByLabel('Kind').selectOption('every');
  await dialog.getByLabel(/^When/).fill('6h');
  await dialog.getByText('every 6 hours').waitFor();
  await dialog.getByRole('button', { name: 'Create definition' }).click();
  await dialog.getByText(/there is a definition monthly report already/).waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('count the stock');
  await dialog.getByRole('button', { name: 'Create definition' }).click();
  await page.getByRole('heading', { name: 'count the stock' }).waitFor();
  expect(await defOf('count the stock')).toMatchObject({ type: 'shop.order', schedules: [{ words: 'every 6 hours' }] });
});

detail('a new definition takes what was left untouched from its job type', async () => {
  const page = await board.visit('/definitions');
  await page.getByRole('button', { name: 'New definition' }).click();
  const dialog = page.getByRole('dialog', { name: 'New definition' });
  await dialog.getByLabel('Name', { exact: true }).fill('close the month');
  await dialog.getByLabel('Job type').fill('ledger.close');
  await dialog.getByRole('button', { name: /^Create/ }).click();
  await page.getByRole('heading', { name: 'close the month' }).waitFor();
  expect((await defOf('close the month')).spec).toMatchObject({ onePerType: true, priority: 5, overlap: 'skip' });
});

// Every fourth page in the light theme; in the proof all, and the fullest ones also in the dark theme and on a phone.
const isOfRun = (_: unknown, index: number): boolean => index % bySize({ small: 4, ci: 1 }) === 0;
const themes = [['light', undefined, 0], ['dark', dark, 3], ['phone', phone, 3]] as const;
test.each(themes.slice(0, bySize({ small: 0, ci: 3 })))('axe finds no serious violation on the pages of types and definitions, %s', async (name, context, from) => {
  const page = await board.visit('/', context);
  const tabs = ['history', 'ticks', 'backfill', 'simulator', 'schedule', 'settings'];
  const paths = [
    '/types', '/types?name=report.build', '/definitions', '/definitions?view=calendar', ...tabs.map((tab) => def('monthly report', `&tab=${tab}`)),
  ];
  for (const path of paths.slice(from).filter(isOfRun)) {
    await page.goto(board.url + path);
    await page.locator('main h1').waitFor();
    await page.locator('.loading').waitFor({ state: 'detached' });
    expect(await violations(page), path).toEqual([]);
    expect(await sidewaysScroll(page), path).toBe(0);
    if (name !== 'light') await picture(page, `plan${path.replaceAll(/[^a-z]+/gi, '-')}-${name}`);
  }
});

test('the browser reported no error on the pages of types and definitions', () => expect(board.faults).toEqual([]));
