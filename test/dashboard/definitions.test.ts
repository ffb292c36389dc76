// The list of definitions in a real browser: filters, switching many, clones, new names, and documents.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { api, ended } from '../http/world.ts';
import { dark, dashboard, invoice, mail, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard({ engine: { types: [mail, invoice], defs: [] } });
  for (const [name, type, team] of [
    ['mail the news', 'mail.send', 'web'], ['mail invoices', 'mail.send', 'shop'], ['Print invoices', 'invoice.render', 'shop'],
  ]) {
    const { status } = await board.post(`${api}/defs`, { name, type, tags: { team }, schedules: [{ cron: '0 3 * * *' }] });
    expect(status).toBe(201);
  }
  await ended(board, (await board.post(`${api}/defs/Print%20invoices/run`, {})).body.run.id);
});
afterAll(() => board.close());

const names = (page: Page): Promise<string[]> => page.locator('tbody td a.strong').allTextContents();
const enabledNames = async (): Promise<string[]> =>
  (await board.get(`${api}/defs?status=enabled`)).body.items.map(({ name }: { name: string }) => name).toSorted();

test('the list is filtered by name, status, last outcome and tag, and its URL can be shared', async () => {
  const page = await board.visit('/definitions');
  await expect.poll(() => names(page)).toHaveLength(3);
  await page.getByLabel('Filter by name').fill('INVOICE');
  await expect.poll(() => names(page)).toEqual(['mail invoices', 'Print invoices']);
  await page.getByLabel('Last run').selectOption('FAILED');
  await expect.poll(() => names(page)).toEqual(['Print invoices']);
  await page.getByLabel('Last run').selectOption('');
  await page.getByLabel('Filter by tag').fill('team=shop');
  await page.getByLabel('Filter by name').fill('');
  await expect.poll(() => names(page)).toEqual(['mail invoices', 'Print invoices']);
  await page.getByLabel('Status').selectOption('disabled');
  await page.getByText('No matching definitions').waitFor();
  await page.goto(`${board.url}/definitions?tag=team%3Dweb&status=enabled`);
  await expect.poll(() => names(page)).toEqual(['mail the news']);
  expect(await page.getByLabel('Filter by tag').inputValue()).toBe('team=web');
});

test('selected definitions, and all that match, are disabled and enabled with a reason', async () => {
  const page = await board.visit('/definitions');
  await page.getByLabel('Select mail the news').check();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Disable' }).click();
  await page.getByLabel('Reason').fill('no news today');
  await page.getByRole('button', { name: 'Disable 1 definition' }).click();
  await expect.poll(enabledNames).toEqual(['Print invoices', 'mail invoices']);

  await page.goto(`${board.url}/definitions?q=mail`);
  await page.getByLabel('Select mail invoices').check();
  await page.getByRole('button', { name: 'Select all matching definitions' }).click();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Disable' }).click();
  await page.getByText(/These change: mail invoices\./).waitFor();
  await page.getByLabel('Reason').fill('the relay moves');
  await picture(page, 'definitions-switch-light');
  await page.getByRole('button', { name: 'Disable 1 definition' }).click();
  await expect.poll(enabledNames).toEqual(['Print invoices']);
  const audit = (await board.get(`${api}/audit?action=disable`)).body.items;
  expect(audit.map(({ def, why }: { def: string; why: string }) => [def, why])).toEqual([
    ['mail invoices', 'the relay moves'], ['mail the news', 'no news today'],
  ]);

  await page.getByLabel('Select all on this page').check();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Enable 2 definitions' }).click();
  await expect.poll(enabledNames).toHaveLength(3);
});

test('a definition is cloned and renamed, and a taken name is refused in the form', async () => {
  const page = await board.visit('/definitions?name=mail%20invoices');
  await page.getByRole('button', { name: 'Clone' }).click();
  const dialog = page.getByRole('dialog', { name: 'Clone mail invoices' });
  await dialog.getByLabel('New name').fill('mail the news');
  await dialog.getByRole('button', { name: 'Create clone' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('New name').fill('mail reminders');
  await dialog.getByLabel('Enabled').uncheck();
  await dialog.getByLabel('Reason').fill('a second letter');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Create clone' }).click();
  await page.getByRole('heading', { name: 'mail reminders', exact: true }).waitFor();
  expect((await board.get(`${api}/defs/mail%20reminders`)).body).toMatchObject({ enabled: false, spec: { tags: { team: 'shop' } } });

  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('New name').fill('remind');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'remind', exact: true }).waitFor();
  expect((await board.get(`${api}/defs/mail%20reminders`)).status).toBe(404);
});

test('the exported document is applied after its plan was shown', async () => {
  const page = await board.visit('/definitions?tag=team%3Dweb');
  await expect.poll(() => names(page)).toEqual(['mail the news']);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const text = await readFile(await (await downloading).path(), 'utf8');
  const document = JSON.parse(text) as { definitions: { name: string }[] };
  expect(document.definitions.map(({ name }) => name)).toEqual(['mail the news']);

  await page.getByRole('button', { name: 'Apply a document' }).click();
  const dialog = page.getByRole('dialog', { name: 'Apply a document' });
  await dialog.getByLabel('File').setInputFiles({ name: 'same.json', mimeType: 'application/json', buffer: Buffer.from(text) });
  await dialog.getByRole('button', { name: 'Show plan' }).click();
  await dialog.getByText('Nothing changes').waitFor();

  const changed = { definitions: [{ ...document.definitions[0], priority: 7 }, { name: 'count', type: 'mail.send' }] };
  await dialog.getByLabel(/^Document/).fill(JSON.stringify(changed));
  await dialog.getByRole('button', { name: 'Show plan' }).click();
  await expect.poll(() => dialog.getByRole('region', { name: 'Plan' }).textContent()).toMatch(/change mail the newspriority: .*→ 7create count/);
  await dialog.getByLabel('Reason').fill('as in git');
  await picture(page, 'definitions-apply-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Apply 2 changes' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await board.get(`${api}/defs/mail%20the%20news`)).body.spec.priority).toBe(7);
  expect((await board.get(`${api}/defs/count`)).body).toMatchObject({ type: 'mail.send', enabled: true });
});

detail('the list of definitions fits a phone, and axe finds no violation in either theme', async () => {
  for (const [name, context] of Object.entries({ light: {}, dark, phone })) {
    const page = await board.visit('/definitions', context);
    await expect.poll(async () => (await names(page)).length).toBeGreaterThan(2);
    expect([await sidewaysScroll(page), await violations(page)], name).toEqual([0, []]);
    await picture(page, `definitions-${name}`);
  }
});

test('the browser reported no error on the pages of definitions', () => expect(board.faults).toEqual([]));

test('the list shows after which definitions one without a schedule runs', async () => {
  const { status } = await board.post(`${api}/defs`, { name: 'count the mail', type: 'mail.send', after: ['mail the news'] });
  expect(status).toBe(201);
  const page = await board.visit('/definitions?q=count');
  const row = page.locator('tbody tr', { hasText: 'count the mail' });
  await row.getByText('after mail the news').waitFor();
  await row.getByText('follows').waitFor();
});
