// Named limits in a real browser: use, the value in the code beside the override, and an override with a reason.
import { afterAll, beforeAll, expect } from 'vitest';
import { jobType, limit, RateLimited, typed } from '../../src/index.ts';
import { test } from '../support/browser.ts';
import { api, until } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

const openai = limit('openai', { rate: '500/1h', concurrency: 20 });
const perTenant = limit('tenant', { key: 'tenant', concurrency: 1 });
const refused = limit('refused', { concurrency: 5 });
const summarize = jobType('summarize', {
  input: typed<{ tenant: string }>(),
  limits: [openai, perTenant],
  run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
});
const deliver = jobType('deliver', {
  input: typed<{ tenant: string; plan: number }>(),
  fairness: { key: 'tenant', weight: 'plan' },
  run: summarize.options.run!,
});
const call = jobType('call', {
  limits: [refused],
  run: () => {
    throw new RateLimited(refused, '2h');
  },
});

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard({ engine: { types: [summarize, deliver, call], slots: 8 } });
  for (const tenant of ['acme', 'globex', 'acme']) await board.start({ type: 'summarize', input: { tenant } });
  for (const [tenant, plan] of [['acme', 1], ['globex', 2], ['acme', 1]]) await board.start({ type: 'deliver', input: { tenant, plan } });
  await board.start({ type: 'call' });
  await until(async () => (await board.get(`${api}/limits/openai`)).body.use[0].admitted === 2);
  await until(async () => (await board.get(`${api}/types/deliver`)).body.shares.length === 2);
  await until(async () => (await board.get(`${api}/limits/refused`)).body.use[0].closedUntil !== null);
});
afterAll(() => board.close());

test('the page of a type with fairness shows the parts of its keys in the running jobs beside those of their weights', async () => {
  const page = await board.visit('/types?name=deliver');
  const rows = page.getByRole('region', { name: 'Shares' }).locator('tbody tr');
  await expect.poll(() => rows.allTextContents()).toEqual(['acmeruns1267 %33 %', 'globexruns2133 %67 %']);
  expect(await violations(page)).toEqual([]);
});

test('a limit shows its use, and is overridden with a reason and reset', async () => {
  const page = await board.visit('/limits');
  const card = page.getByRole('region', { name: 'Limit openai' });
  await expect.poll(() => card.textContent()).toContain('2 of 20');
  await expect.poll(() => page.getByRole('region', { name: 'Limit tenant' }).textContent()).toMatch(/acme1 of 1 full/);
  const refusedCard = page.getByRole('region', { name: 'Limit refused' });
  await expect.poll(() => refusedCard.textContent()).toContain('closed in');
  await refusedCard.getByRole('button', { name: 'Reopen' }).click();
  await page.getByRole('button', { name: 'Reopen limit' }).click();
  await expect.poll(() => refusedCard.textContent()).not.toContain('closed in');
  await card.getByRole('button', { name: 'Override' }).click();
  const dialog = page.getByRole('dialog', { name: 'Override the limit openai' });
  await dialog.getByLabel(/^Rate/).fill('often');
  await dialog.getByRole('button', { name: 'Override limit' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel(/^Rate/).fill('100/1h');
  await dialog.getByLabel('Reason').fill('the quota is shared today');
  await picture(page, 'limit-dialog-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Override limit' }).click();
  await expect.poll(() => card.textContent()).toContain('100/1h, 10 at once in the code: 500/1h, 50 at once');
  await expect.poll(() => card.textContent()).toContain('the quota is shared today');
  await picture(page, 'limits-light');
  expect((await board.get(`${api}/limits/openai`)).body.values).toEqual({ rate: '100/1h', burst: 10, concurrency: 20 });

  const night = await board.visit('/limits', { ...dark, ...phone });
  await night.getByRole('region', { name: 'Limit openai' }).waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'limits-dark-phone');

  await page.bringToFront();
  await card.getByRole('button', { name: 'Reset' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reset limit' }).click();
  await expect.poll(() => card.textContent()).not.toContain('in the code');
});

test('a limit that no code declares is created and deleted', async () => {
  const page = await board.visit('/limits');
  await page.getByRole('button', { name: 'New limit' }).click();
  const dialog = page.getByRole('dialog', { name: 'New limit' });
  await dialog.getByLabel('Name').fill('crm');
  await dialog.getByLabel(/^Rate/).fill('10/s');
  await dialog.getByLabel('Reason').fill('asked for by the vendor');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Create limit' }).click();
  const card = page.getByRole('region', { name: 'Limit crm' });
  await expect.poll(() => card.textContent()).toMatch(/10\/1?s.*Created by .*asked for by the vendor/);
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete limit' }).click();
  await card.waitFor({ state: 'detached' });
  expect((await board.get(`${api}/limits/crm`)).status).toBe(404);
});

test('the browser reported no error on the pages of limits', () => expect(board.faults).toEqual([]));
