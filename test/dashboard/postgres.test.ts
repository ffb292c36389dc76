// One pass over the dashboard on PostgreSQL: pages and actions do not depend on the store.
import { afterAll, beforeAll, expect } from 'vitest';
import { detail } from '../support/browser.ts';
import { api, ended } from '../http/world.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { dashboard, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => void (board = await dashboard({ store: await migratedDatabase() })));
afterAll(() => board.close());

detail('on PostgreSQL a run with tasks is started, followed and retried in part, and selected runs are cancelled', async () => {
  const page = await board.visit('/');
  await page.getByText('No problems.').waitFor();
  for (const key of ['g', 'r']) await page.keyboard.press(key);
  await page.getByText('No runs yet').waitFor();
  await page.getByRole('button', { name: 'Start a run' }).first().waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Start a run' });
  await dialog.getByLabel('Job type').fill('map.tiles');
  await dialog.getByLabel('Input').fill('{ "count": 200 }');
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await page.getByRole('application', { name: 'Matrix of 200 tasks' }).waitFor();
  const badge = page.locator('.run-head .badge');
  await expect.poll(() => badge.textContent()).toBe('succeeded');
  const id = Number(new URL(page.url()).pathname.split('/').at(-1));
  await page.getByRole('button', { name: 'Retry failed tasks' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry failed tasks' }).click();
  await expect.poll(async () => (await board.get(`${api}/runs/${id}`)).body.generation).toBeGreaterThan(0);
  await ended(board, id);
  await page.getByRole('tab', { name: /^Events/ }).click();
  await page.getByText('Reopened for a retry').first().waitFor();

  const busy = await board.start({ type: 'ledger.sync' });
  await page.goto(`${board.url}/runs/${busy}`);
  await page.getByText('12 of 40').first().waitFor();
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByLabel('Reason').fill('enough');
  await page.keyboard.press('Enter');
  await page.getByText(/It ended .* later/).waitFor();

  const later = { type: 'mail.send', delay: '2h', tags: { bulk: 'yes' } };
  for (let number = 0; number < 3; number++) await board.start(later);
  await page.goto(`${board.url}/runs?search=tag:bulk%3Dyes%20state:pending`);
  await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Cancel' }).click();
  const question = page.getByRole('dialog', { name: 'Cancel 3 runs?' });
  await question.getByRole('button', { name: 'Cancel runs' }).click();
  await page.getByText('No matching runs').waitFor();

  const failed = await board.start({ type: 'invoice.render' });
  await ended(board, failed);
  await page.goto(board.url);
  await page.getByRole('list', { name: 'Problems' }).getByText('invoice.render: 100 % failing').waitFor();
  expect(board.faults).toEqual([]);
});
