// Pauses of types and keys in a real browser: the dialog, the marks in lists, the banners, and the resume.
import { afterAll, beforeAll, expect } from 'vitest';
import { jobType, typed } from '../../src/index.ts';
import { test } from '../support/browser.ts';
import { api } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

const charge = jobType('charge', {
  input: typed<{ customer: string }>(),
  limit: { key: 'customer', concurrency: 1 },
  run: () => 'charged',
});
const mail = jobType('mail', { run: () => 'sent' });

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard({ engine: { types: [charge, mail], slots: 2 } });
});
afterAll(() => board.close());

const pauses = async (): Promise<unknown[]> => (await board.get(`${api}/pauses`)).body.items;

test('a type is paused with a reason and an end, marked in lists and on waiting runs, and resumed', async () => {
  const page = await board.visit('/types');
  await page.getByRole('button', { name: 'Pause mail' }).click();
  const ofMail = page.getByRole('dialog', { name: 'Pause mail' });
  await ofMail.getByLabel('Reason').fill('the relay is down');
  await ofMail.getByLabel('The pause ends').selectOption('at a time');
  await ofMail.getByLabel(/^End/).fill('2020-01-01T12:00');
  await ofMail.getByRole('button', { name: 'Pause type' }).click();
  await ofMail.getByRole('alert').waitFor();
  expect(await ofMail.getByLabel(/^Key/).count()).toBe(0);
  await ofMail.getByLabel('The pause ends').selectOption('after 2 hours');
  await picture(page, 'pause-dialog-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await ofMail.getByRole('button', { name: 'Pause type' }).click();
  const row = page.getByRole('row', { name: /mail/ });
  await expect.poll(() => row.textContent()).toMatch(/paused ends in .*, by http:local: the relay is down/);
  expect(await pauses()).toMatchObject([{ type: 'mail', key: null, why: 'the relay is down' }]);

  await board.post(`${api}/types/charge/pause`, { why: 'customer b moves', key: 'b' });
  await expect.poll(() => page.getByRole('row', { name: /charge/ }).textContent())
    .toMatch(/key b paused until resumed, by http:local: customer b moves/);
  await picture(page, 'pauses-types-light');

  const run = await board.start({ type: 'mail' });
  await page.goto(`${board.url}/queues`);
  await expect.poll(() => row.textContent()).toContain('the relay is down');
  await picture(page, 'pauses-queues-light');
  const night = await board.visit('/queues', { ...dark, ...phone });
  await night.getByRole('button', { name: 'Resume mail' }).waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'pauses-queues-dark-phone');
  await night.goto(`${board.url}/runs/${run}`);
  await night.getByRole('button', { name: 'Resume mail' }).waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'pauses-run-dark-phone');
  await night.close();

  await page.goto(`${board.url}/runs/${run}`);
  await expect.poll(() => page.getByRole('status').allTextContents())
    .toContainEqual(expect.stringMatching(/mail was paused by http:local .*the relay is down/));
  await picture(page, 'pauses-run-light');
  await page.getByRole('button', { name: 'Resume mail' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume type' }).click();
  await page.getByText('succeeded').first().waitFor();
  expect(await pauses()).toMatchObject([{ type: 'charge', key: 'b' }]);
  expect(board.faults).toEqual([]);
});

test('a resume is spread over a time, shows how long it lasts, and all is let go at once', async () => {
  await board.post(`${api}/types/mail/pause`, { why: 'the relay is down' });
  const runs = [await board.start({ type: 'mail' }), await board.start({ type: 'mail' }), await board.start({ type: 'mail' })];
  const page = await board.visit('/types?name=mail');
  await page.getByRole('button', { name: 'Resume mail' }).click();
  const dialog = page.getByRole('dialog', { name: 'Resume mail?' });
  await dialog.getByLabel(/^Spread over/).fill('often');
  await dialog.getByRole('button', { name: 'Resume type' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel(/^Spread over/).fill('2h');
  await picture(page, 'resume-dialog-light');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Resume type' }).click();
  await page.getByRole('button', { name: 'Let go of all of mail' }).waitFor();
  expect(await page.getByRole('status').allTextContents())
    .toContainEqual(expect.stringMatching(/mail was resumed by http:local .*the last of it starts in 2 h/));
  await picture(page, 'spread-type-light');
  await page.goto(`${board.url}/runs/${runs[2]}`);
  await page.getByText(/held until .* by the spread of the resume/).waitFor();
  await page.goto(`${board.url}/types`);
  await page.getByRole('button', { name: 'Let go of all of mail' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Let all go' }).click();
  await expect.poll(async () => (await pauses()).some((pause) => (pause as { type: string }).type === 'mail')).toBe(false);
  await expect.poll(async () => (await board.get(`${api}/runs/${runs[2]}`)).body.state).toBe('ended');
  expect(board.faults).toEqual([]);
});

test('the page of a type pauses one key, follows pauses by others, and resumes each', async () => {
  await board.post(`${api}/types/charge/pause`, { why: 'customer b moves', key: 'b' });
  const page = await board.visit('/types?name=charge');
  await page.getByRole('button', { name: 'Resume the key b of charge' }).waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause charge' });
  await dialog.getByLabel(/^Key/).fill('c');
  await dialog.getByLabel('Reason').fill('customer c asked for it');
  await picture(page, 'pause-key-dialog-light');
  await dialog.getByRole('button', { name: 'Pause key' }).click();
  await page.getByRole('button', { name: 'Resume the key c of charge' }).waitFor();
  await board.post(`${api}/types/charge/pause`, { why: 'the bank is down', until: '1h' });
  await page.getByText('the bank is down').waitFor();
  await page.getByRole('button', { name: 'Change pause' }).waitFor();
  await picture(page, 'pauses-type-light');
  await page.getByRole('button', { name: 'Resume the key c of charge' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume key' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Resume the key c of charge' }).count()).toBe(0);
  expect(await pauses()).toMatchObject([{ key: null }, { key: 'b' }]);
  await board.post(`${api}/types/charge/resume`, {});
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await board.post(`${api}/types/charge/resume`, { key: 'b' });
  await expect.poll(() => page.locator('.strip-notice').count()).toBe(0);
  expect(board.faults).toEqual([]);
});
