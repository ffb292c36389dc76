// The list of runs in a real browser: search, filters, paging, live updates, selection, actions and export.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { api, ended } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, type Dashboard } from './world.ts';

let board: Dashboard;
const mails: number[] = [];
const invoices: number[] = [];
beforeAll(async () => {
  board = await dashboard();
  for (let number = 0; number < 60; number++) {
    const tags = { team: number % 2 ? 'red' : 'blue' };
    mails.push(await board.start({ type: 'mail.send', input: { to: `user${number}@example.org` }, tags }));
  }
  for (let number = 0; number < 6; number++) {
    invoices.push(await board.start({ type: 'invoice.render', input: { number } }));
  }
  await Promise.all([...mails, ...invoices].map((id) => ended(board, id)));
});
afterAll(() => board.close());

const rows = (page: Page) => page.locator('tbody tr');
const ids = (page: Page): Promise<string[]> => page.locator('tbody td.id').allTextContents();
const row = (page: Page, id: number) =>
  page.locator('tbody tr', { has: page.getByRole('link', { name: String(id), exact: true }) });

test('the list shows the newest runs first, pages by key, and the URL holds the page', async () => {
  const page = await board.visit('/runs');
  await expect.poll(() => rows(page).count()).toBe(50);
  const first = await ids(page);
  expect(first[0]).toBe(String(invoices.at(-1)));
  await page.getByRole('link', { name: 'Next' }).click();
  await expect.poll(async () => (await ids(page)).some((id) => !first.includes(id))).toBe(true);
  const second = await ids(page);
  expect(second.some((id) => first.includes(id))).toBe(false);
  await page.reload();
  await expect.poll(() => ids(page)).toEqual(second);
  await page.goBack();
  await expect.poll(() => ids(page)).toEqual(first);
  await page.getByRole('button', { name: 'Order: newest first' }).click();
  await expect.poll(() => page.url()).toContain('order=oldest');
  await picture(page, 'runs-light');
});

test('the search suggests qualifiers, filters the list, and explains an error', async () => {
  const page = await board.visit('/runs');
  await rows(page).first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('sta');
  await page.getByRole('option', { name: /^state:/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type('fail');
  await page.getByRole('option', { name: 'state:failed' }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => rows(page).count()).toBe(0);
  await page.getByText('unknown state "fail"; use pending').waitFor();
  await page.getByRole('combobox', { name: 'Search runs' }).fill('state:failed type:invoice*');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows(page).count()).toBe(6);
  expect(new URL(page.url()).searchParams.get('search')).toBe('state:failed type:invoice*');
  await picture(page, 'runs-search-light');

  for (const [search, count] of [
    ['tag:team=red', 30], ['payload.to:user7@example.org', 1], ['error:"has no block"', 6],
    ['created:<1h type:mail.send', 50], ['created:>1h', 0],
  ] as const) {
    await page.goto(`${board.url}/runs?search=${encodeURIComponent(search)}`);
    await expect.poll(() => rows(page).count(), { message: search }).toBe(count);
  }
  await page.getByText('No matching runs').waitFor();
  await page.getByRole('combobox', { name: 'Search runs' }).fill(String(mails[0]));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `mail.send ${mails[0]}` }).waitFor();
});

detail('state buttons change the search, a view is saved, and columns are hidden', async () => {
  const page = await board.visit('/runs');
  await page.getByRole('group', { name: 'States' }).getByRole('button', { name: 'failed' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe('state:failed');
  await expect.poll(() => rows(page).count()).toBe(6);
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Broken');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Broken' }).waitFor();
  await page.getByRole('group', { name: 'States' }).getByRole('button', { name: 'failed' }).click();
  await expect.poll(() => rows(page).count()).toBe(50);
  await page.getByRole('link', { name: 'Broken' }).click();
  await expect.poll(() => rows(page).count()).toBe(6);
  await page.getByLabel('Choose columns').click();
  await page.getByLabel('Attempts').uncheck();
  await expect.poll(() => page.getByRole('columnheader', { name: 'Attempts' }).count()).toBe(0);
  await page.reload();
  await rows(page).first().waitFor();
  expect(await page.getByRole('columnheader', { name: 'Attempts' }).count()).toBe(0);
});

test('a new run appears while updates are live, and not while they are paused', async () => {
  const page = await board.visit('/runs?search=type:nobody.does');
  await page.getByText('No matching runs').waitFor();
  await page.getByRole('switch', { name: 'Live' }).getByText('Live').waitFor();
  const first = await board.start({ type: 'nobody.does' });
  await row(page, first).waitFor();
  await page.keyboard.press('p');
  await page.getByText('Paused').waitFor();
  const second = await board.start({ type: 'nobody.does' });
  await page.getByRole('switch', { name: 'Live' }).click();
  // It appears only because the switch was turned on again.
  await row(page, second).waitFor();
});

test('keys move over the rows, select them and open one', async () => {
  const page = await board.visit('/runs?search=state:failed');
  await expect.poll(() => rows(page).count()).toBe(6);
  // All in one task of the page, before it can render.
  await page.evaluate(`for (const key of ['j', 'j', 'k', 'x', 'j', 'x'])
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));`);
  await page.getByText('2 selected').waitFor();
  expect(await rows(page).nth(1).getAttribute('data-active')).toBe('true');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `invoice.render ${invoices[4]}` }).waitFor();
});

test('an action on selected runs takes a reason and skips runs to which it does not apply', async () => {
  const later = { type: 'mail.send', delay: '1h' };
  const [one, other] = [await board.start(later), await board.start(later)];
  const page = await board.visit('/runs');
  for (const id of [one, other, mails.at(-1)!]) await row(page, id).getByRole('checkbox').check();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Cancel' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel 2 runs?' });
  await dialog.getByText('It does not apply to 1 of the selected runs').waitFor();
  await picture(page, 'runs-confirm-light');
  await dialog.getByLabel('Reason').fill('the mails are not needed');
  await dialog.getByRole('button', { name: 'Cancel runs' }).click();
  await page.getByText('2 of 2 runs cancelled').waitFor();
  const { body } = await board.get(`${api}/runs/${one}`);
  expect(body).toMatchObject({ standing: 'cancelled', cancel: { why: 'the mails are not needed' } });
});

detail('an action on all matching runs shows their number first and runs as an operation', async () => {
  const later = { type: 'mail.send', delay: '2h', tags: { bulk: 'yes' } };
  for (let number = 0; number < 3; number++) await board.start(later);
  const page = await board.visit('/runs?search=tag:bulk%3Dyes');
  await expect.poll(() => rows(page).count()).toBe(3);
  await row(page, Number((await ids(page))[0])).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Select all matching runs' }).click();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause 3 matching runs?' });
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  expect((await board.get(`${api}/runs?tag=bulk:yes&state=held`)).body.items).toEqual([]);
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Pause' }).click();
  await dialog.getByRole('button', { name: 'Pause runs' }).click();
  await page.getByRole('link', { name: 'View operation' }).waitFor();
  await expect.poll(async () => (await board.get(`${api}/runs?tag=bulk:yes&state=held`)).body.items.length).toBe(3);
  await expect.poll(() => page.locator('tbody .badge', { hasText: 'paused' }).count()).toBe(3);
});

detail('matching runs are exported as CSV, without formulas, and as JSON lines', async () => {
  const page = await board.visit('/runs?search=type:invoice.render');
  await rows(page).first().waitFor();
  const save = async (name: string): Promise<string> => {
    await page.getByLabel('Export matching runs').click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    return readFile(await download.path(), 'utf8');
  };
  const csv = (await save('CSV')).split('\r\n');
  expect(csv[0]).toMatch(/^id,type,/);
  expect(csv).toHaveLength(7);
  expect(csv[1]).toContain('"template invoice-2026 has no block ""total"""');
  const formulas = ['=HYPERLINK("http://evil.example")', '+cmd', '-cmd', '@cmd'];
  for (const tag of formulas) await board.start({ type: 'formula', tags: { [tag]: 'x' }, delay: '1h' });
  await page.goto(`${board.url}/runs?search=type:formula`);
  await expect.poll(() => rows(page).count()).toBe(4);
  const tags = (await save('CSV')).split('\r\n').slice(1).map((line) => line.split(',').at(-1));
  expect(tags.toReversed()).toEqual([`"'=HYPERLINK(""http://evil.example"")=x"`, `'+cmd=x`, `'-cmd=x`, `'@cmd=x`]);
  await page.goto(`${board.url}/runs?search=type:invoice.render`);
  await rows(page).first().waitFor();
  const lines = (await save('JSON lines')).trimEnd().split('\n').map((line) => JSON.parse(line) as { id: number });
  expect(lines.map(({ id }) => id)).toEqual(invoices.toReversed());
});

test('a run is started from the list, and a refusal is shown in the dialog', async () => {
  const page = await board.visit('/runs');
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Start a run' });
  await dialog.getByLabel('Job type').fill('mail.send');
  await dialog.getByLabel('Input').fill('{ "to": ');
  expect(await dialog.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Input').fill('{ "to": "new@example.org" }');
  await dialog.getByLabel('Delay').fill('soon');
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Delay').fill('1h');
  await dialog.getByLabel('Tags').fill('team=green');
  await picture(page, 'start-light');
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await page.getByRole('heading', { name: /^mail.send \d+$/ }).waitFor();
  await page.getByText('team=green').waitFor();
});

detail('the list of runs fits a phone and has a dark theme', async () => {
  const contexts = { 'runs-dark': dark, 'runs-phone': phone, 'runs-phone-dark': { ...phone, ...dark } };
  for (const [name, context] of Object.entries(contexts)) {
    const page = await board.visit('/runs', context);
    await rows(page).first().waitFor();
    expect(await sidewaysScroll(page), name).toBe(0);
    await picture(page, name);
    await page.close();
  }
  expect(board.faults).toEqual([]);
});
