// The inbox in a real browser: a refused request shows its code and reason, is retried and deleted.
import { afterAll, beforeAll, expect } from 'vitest';
import { test } from '../support/browser.ts';
import { api, until } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard();
  const requests = ['mail.send', 'mail.send'].map((type) => ({ type, input: '{}', options: '{"priority":"high"}' }));
  await board.engine.jobs.store.enqueue(requests);
  await until(async () => (await board.get(`${api}/inbox?standing=refused`)).body.items.length === 2);
});
afterAll(() => board.close());

test('refused requests show why, and are retried and deleted', async () => {
  const [first, second] = (await board.get(`${api}/inbox`)).body.items as { id: number; refused: { message: string } }[];
  const page = await board.visit('/inbox');
  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: `Delete request ${first!.id}` }) });
  await expect.poll(() => row.textContent()).toContain('malformed.');
  await expect.poll(() => row.textContent()).toContain(first!.refused.message);
  await picture(page, 'inbox-light');
  expect(await violations(page)).toEqual([]);
  const night = await board.visit('/inbox', { ...dark, ...phone });
  await night.getByRole('button', { name: `Retry request ${first!.id}` }).waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'inbox-dark-phone');
  await night.close();

  await page.bringToFront();
  const before = (await board.get(`${api}/inbox`)).body.items[1].refused.at as number;
  await page.getByRole('button', { name: `Retry request ${second!.id}` }).click();
  await until(async () => {
    const again = (await board.get(`${api}/inbox`)).body.items[1].refused as { at: number } | null;
    return again !== null && again.at > before;
  });
  await page.getByRole('button', { name: `Delete request ${first!.id}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete request' }).click();
  await until(async () => (await board.get(`${api}/inbox`)).body.items.length === 1);
  await expect.poll(() => page.getByRole('button', { name: `Delete request ${first!.id}` }).count()).toBe(0);
  expect(board.faults).toEqual([]);
});
