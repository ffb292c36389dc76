// Alerts in a real browser: created with a form, tested with a button, failing, and what was sent.
import { afterAll, beforeAll, expect } from 'vitest';
import { jobType } from '../../src/index.ts';
import { Receiver } from '../alerts/receiver.ts';
import { api, until } from '../http/world.ts';
import { test } from '../support/browser.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

const broken = jobType('broken', { retry: { attempts: 1 }, run: () => { throw new Error('no'); } });

let board: Dashboard;
let to: Receiver;
beforeAll(async () => {
  to = await new Receiver().listen();
  board = await dashboard({ engine: { types: [broken], alertAllow: ['127.0.0.0/8'] } });
});
afterAll(async () => {
  await board.close();
  to.close();
});

test('an alert is created, tested and seen failing, without its target', async () => {
  const page = await board.visit('/alerts');
  await page.getByText('No alerts').waitFor();
  await page.getByRole('button', { name: 'New alert' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  await dialog.getByLabel('Name').fill('broken-fails');
  await dialog.getByLabel(/^Types/).fill('broken');
  await dialog.getByLabel('URL').fill('ftp://example.com');
  await dialog.getByRole('button', { name: 'Create alert' }).click();
  await expect.poll(() => dialog.getByRole('alert').textContent()).toContain('must begin with http');
  await dialog.getByLabel('URL').fill(`${to.url}/T0KEN`);
  await picture(page, 'alert-dialog-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Create alert' }).click();
  const card = page.getByRole('region', { name: 'Alert broken-fails' });
  await expect.poll(() => card.textContent()).toContain(`slack ${new URL(to.url).host}, at most every 1m`);

  await card.getByRole('button', { name: 'Test' }).click();
  await to.until((received) => received.length === 1);
  expect(to.received[0]!.body).toEqual({ text: 'Alert broken-fails: this is a test message' });
  await board.start({ type: 'broken' });
  await to.until((received) => received.length === 2);
  await expect.poll(() => card.textContent()).toContain('type broken since');
  await expect.poll(() => card.textContent()).toContain('1 failing');
  expect(await page.content()).not.toContain('T0KEN');
  await picture(page, 'alerts-light');

  await card.getByRole('button', { name: 'Messages' }).click();
  const messages = page.getByRole('dialog', { name: 'Messages of the alert broken-fails' });
  await expect.poll(() => messages.textContent()).toMatch(/succeeded.*type broken is failing.*succeeded.*a test/);
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await page.keyboard.press('Escape');

  const night = await board.visit('/alerts', { ...dark, ...phone });
  await night.getByRole('region', { name: 'Alert broken-fails' }).waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'alerts-dark-phone');

  await page.bringToFront();
  await card.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Change the alert broken-fails' });
  await edit.getByLabel('When').selectOption('failedInARow');
  await edit.getByLabel(/^Times/).fill('3');
  await edit.getByRole('button', { name: 'Change alert' }).click();
  await expect.poll(() => card.textContent()).toContain('failed 3 times in a row');
  await card.getByRole('button', { name: 'Disable' }).click();
  await expect.poll(() => card.textContent()).toContain('disabled');
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete alert' }).click();
  await page.getByText('No alerts').waitFor();
  await until(async () => (await board.get(`${api}/alerts`)).body.items.length === 0);
  expect(board.faults).toEqual([]);
});
