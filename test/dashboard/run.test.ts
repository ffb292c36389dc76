// One run in a real browser: its tabs, the task matrix, and every action on it.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { api, ended, until } from '../http/world.ts';
import { dark, dashboard, allowTiles, phone, picture, sidewaysScroll, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => void (board = await dashboard()));
afterAll(() => board.close());

const badge = (page: Page) => page.locator('.run-head .badge');
const actionButton = (page: Page, name: string) => page.locator('.page-actions').getByRole('button', { name, exact: true });
const figure = (page: Page, title: string) => page.locator('.task-figures div', { hasText: title }).locator('dd');
const matrix = (page: Page, count: string) => page.getByRole('application', { name: `Matrix of ${count} tasks` });

/** Opens the dialog of an action and confirms it. */
async function perform(page: Page, name: string, confirm = `${name} run`, why?: string): Promise<void> {
  await actionButton(page, name).click();
  const dialog = page.getByRole('dialog');
  if (why !== undefined) await dialog.getByLabel('Reason').fill(why);
  await dialog.getByRole('button', { name: confirm, exact: true }).click();
}

test('a run that was handed off is completed or failed in a dialog', async () => {
  const [approved, declined] = [await board.start({ type: 'approval' }), await board.start({ type: 'approval' })];
  for (const id of [approved, declined]) await until(async () => (await board.get(`${api}/runs/${id}`)).body.isHandedOff);
  const page = await board.visit(`/runs/${approved}`);
  await page.getByText('Handed off').waitFor();
  await actionButton(page, 'Finish…').click();
  const dialog = page.getByRole('dialog', { name: `Finish run ${approved}` });
  await dialog.getByLabel('Result').fill('{"by":"phone"}');
  await picture(page, 'run-finish-light');
  await dialog.getByRole('button', { name: 'Complete run' }).click();
  await expect.poll(() => badge(page).textContent()).toBe('succeeded');
  expect((await board.get(`${api}/runs/${approved}`)).body.result).toEqual({ by: 'phone' });
  await page.goto(`${board.url}/runs/${declined}`);
  await actionButton(page, 'Finish…').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Fail', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Error').fill('the bank said no');
  await page.getByRole('dialog').getByRole('button', { name: 'Fail run' }).click();
  await expect.poll(() => badge(page).textContent()).toBe('failed');
  await page.getByText('the bank said no').first().waitFor();
});

detail('arrow keys move over the task matrix and Enter opens a task; a state filters the table', async () => {
  const id = await board.start({ type: 'map.tiles', input: { count: 120 } });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}`);
  await matrix(page, '120').focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  await page.getByText(/^Task 3 \(run \d+\): succeeded, took \d/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(`task of run ${id}`).waitFor();
  await page.goBack();
  await page.getByRole('group', { name: 'Task states' }).getByRole('button', { name: 'failed' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
  await page.getByText('tile 100 is outside of the map').waitFor();
  expect(page.url()).toContain('state=failed');
  await picture(page, 'run-tasks-light');
});

test('only the failed tasks are retried, with the reason in the history', async () => {
  const id = await board.start({ type: 'map.tiles', input: { count: 100 } });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}`);
  await perform(page, 'Retry failed tasks', 'Retry failed tasks', 'the map has grown');
  await page.getByText(`Retrying the failed tasks of run ${id}`).waitFor();
  const events = async (): Promise<{ why: string | null }[]> => (await board.get(`${api}/runs/${id}/events`)).body.items;
  await expect.poll(async () => (await events()).map(({ why }) => why))
    .toContain('the map has grown');
  await expect.poll(() => badge(page).textContent()).toBe('succeeded');
  await page.getByRole('tab', { name: /^Events/ }).click();
  await page.getByText('Reopened for a retry').first().waitFor();
  await page.getByText('the map has grown').first().waitFor();
});

test('a running run shows its progress and log, and a cancel until the handler has stopped', async () => {
  const id = await board.start({ type: 'ledger.sync', tags: { book: 'main' } });
  const page = await board.visit(`/runs/${id}`);
  // On a busy machine its lease may lapse: then there is a second process of progress.
  for (const text of ['12 of 40', 'account 7 is locked', 'account 13']) await page.getByText(text).first().waitFor();
  await picture(page, 'run-progress-light');
  await page.getByRole('tab', { name: /^Log/ }).click();
  await page.getByText('twelve of forty accounts are through').waitFor();
  expect(page.url()).toContain('tab=log');
  await page.getByRole('tab', { name: 'Output' }).click();
  const output = page.getByRole('log', { name: 'Output' });
  for (const text of ['Balance: 1,024 € so far', '{"account":12}']) await output.getByText(text).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: `Cancel run ${id}?` });
  await dialog.getByLabel('Reason').fill('month is closed');
  await page.keyboard.press('Enter');
  await page.getByText(/Cancel requested by .*month is closed.*It ended .* later/).waitFor();
  await expect.poll(() => badge(page).textContent()).toBe('cancelled');
  await picture(page, 'run-cancelled-light');
});

detail('the output of an ended run is read on when the run is retried', async () => {
  const id = await board.start({ type: 'story' });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}?tab=output`);
  const output = page.getByRole('log', { name: 'Output' });
  for (const chapter of ['chapter 1', 'chapter 2', 'chapter 3']) {
    await output.getByText(chapter).waitFor();
    await board.engine.retryJobRun(id, { by: 'test' });
  }
});

detail('a run whose handler ignores a cancel can be stopped by force', async () => {
  const id = await board.start({ type: 'deaf' });
  const page = await board.visit(`/runs/${id}`);
  await expect.poll(() => badge(page).textContent()).toBe('running');
  await perform(page, 'Cancel');
  await page.getByText('Waiting for the handler').waitFor();
  await expect.poll(() => badge(page).textContent()).toBe('cancelling');
  await picture(page, 'run-cancelling-light');
  await page.getByRole('button', { name: 'Stop now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop run', exact: true }).click();
  await page.getByText(`Stopped run ${id}`).waitFor();
  await expect.poll(() => badge(page).textContent()).toBe('cancelled');
});

test('a waiting run shows why it waits, and is edited, paused, resumed and stopped', async () => {
  const id = await board.start({ type: 'mail.send', delay: '3h', input: { to: 'a@example.org' } });
  const page = await board.visit(`/runs/${id}`);
  await page.getByText(/Why is it not running\? It is due in/).waitFor();
  await actionButton(page, 'Edit').click();
  await page.getByRole('dialog').getByLabel('Priority').fill('9');
  await page.getByRole('dialog').getByLabel('Tags').fill('team=red');
  await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('team=red').waitFor();
  const priority = page.locator('.facts-strip div', { hasText: 'Priority' }).locator('dd');
  await expect.poll(() => priority.textContent()).toBe('9');
  await perform(page, 'Pause');
  await expect.poll(() => badge(page).textContent()).toBe('paused');
  await page.getByRole('tab', { name: 'Explain' }).click();
  await page.getByText('It is paused: resume it.').first().waitFor();
  await perform(page, 'Resume');
  await expect.poll(() => badge(page).textContent()).toBe('scheduled');
  await perform(page, 'Stop');
  await expect.poll(() => badge(page).textContent()).toBe('cancelled');
});

test('a failed run shows its error and attempts, and is retried, run again and deleted', async () => {
  const id = await board.start({ type: 'invoice.render', input: { number: 1 } });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}?tab=timeline`);
  const message = 'template invoice-2026 has no block "total"';
  await page.getByRole('region', { name: 'Error' }).getByText(message, { exact: true }).waitFor();
  await page.getByText('Attempt 1').waitFor();
  await picture(page, 'run-failed-light');
  await perform(page, 'Retry');
  await page.getByText('Attempt 2').waitFor();
  await actionButton(page, 'Run again with this input…').click();
  const dialog = page.getByRole('dialog', { name: 'Start a run' });
  expect(await dialog.getByLabel('Job type').inputValue()).toBe('invoice.render');
  expect(JSON.parse(await dialog.getByLabel('Input').inputValue())).toEqual({ number: 1 });
  await dialog.getByLabel('Input').fill('{ "number": 2 }');
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await expect.poll(() => page.url()).not.toContain(`/runs/${id}`);
  const [newest] = (await board.get(`${api}/runs?type=invoice.render&limit=1`)).body.items;
  expect((await board.get(`${api}/runs/${newest.id}`)).body.input).toEqual({ number: 2 });
  await ended(board, newest.id);
  await perform(page, 'Delete');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.goto(`${board.url}/runs/${newest.id}`);
  await page.getByRole('alert').getByText(`There is no run ${newest.id}`).waitFor();
});

detail('payloads keep large numbers, and relations link to the tasks', async () => {
  const { job } = await board.engine.jobs.create(
    { kind: 'run', type: 'mail.send', inputText: '{"order":12345678901234567890,"list":[1,{"a":null}]}' }, 'test');
  await ended(board, job!.id);
  const page = await board.visit(`/runs/${job!.id}`);
  await page.getByText('12345678901234567890').waitFor();
  await page.getByText('"<20261115.8841@example>"').waitFor();
  await page.getByRole('button', { name: 'Collapse list' }).click();
  await page.getByText('2 items').waitFor();
  await page.keyboard.press(']');
  expect(page.url()).toContain('tab=progress');
  const tiles = await board.start({ type: 'map.tiles', input: { count: 30 } });
  await ended(board, tiles);
  await page.goto(`${board.url}/runs/${tiles}?tab=relations`);
  await page.getByRole('link', { name: 'View all 30 tasks' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(30);
});

detail('the page of a run fits a phone and has a dark theme', async () => {
  const busy = await board.start({ type: 'ledger.sync' });
  const tasks = await board.start({ type: 'map.tiles', input: { count: 400 } });
  for (const [name, id, context] of [
    ['run-dark', tasks, dark], ['run-phone', tasks, phone],
    ['run-progress-dark', busy, dark], ['run-progress-phone', busy, phone],
  ] as const) {
    const page = await board.visit(`/runs/${id}`, context);
    await page.getByRole('tab', { name: 'Payload' }).waitFor();
    await expect.poll(() => badge(page).textContent()).toMatch(/succeeded|running/);
    await picture(page, name);
    expect(await sidewaysScroll(page), name).toBe(0);
    await page.close();
  }
});

detail('the log of a run names its attempts if there was more than one', async () => {
  const id = await board.start({ type: 'mail.send' });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}?tab=log`);
  await page.getByText('the relay is slow today').waitFor();
  expect(await page.getByText(/^attempt/).count()).toBe(0);
  await board.post(`${api}/runs/${id}/retry`);
  await expect.poll(() => page.getByText(/^attempt/).allTextContents())
    .toEqual(['attempt 1', 'attempt 1', 'attempt 2', 'attempt 2']);
  await page.getByRole('tab', { name: /^Timeline/ }).click();
  expect(await page.locator('.timeline li b').allTextContents()).toEqual(['Attempt 1', 'Attempt 2']);
});

detail('a retried run has the same duration in the list and on its page', async () => {
  const id = await board.start({ type: 'invoice.render', tags: { retried: 'yes' } });
  await ended(board, id);
  const page = await board.visit('/runs?search=tag:retried%3Dyes');
  await page.locator('tbody td.id', { hasText: String(id) }).waitFor();
  await board.post(`${api}/runs/${id}/retry`);
  await until(async () => {
    const { state, attempts } = (await board.get(`${api}/runs/${id}`)).body;
    return state === 'ended' && attempts.length === 2;
  });
  await page.goto(page.url());
  const listed = page.locator(`xpath=//tbody//td[count(//thead//th[contains(., 'Duration')]/preceding-sibling::th) + 1]`);
  const inList = await listed.textContent();
  await page.goto(`${board.url}/runs/${id}`);
  const onPage = page.locator('.facts-strip div').filter({ has: page.getByText('Duration', { exact: true }) }).locator('dd');
  expect([inList, await onPage.textContent()]).toEqual([expect.stringMatching(/\d/), inList]);
});

detail('a cancelled run counts only its succeeded tasks as done', async () => {
  const id = await board.start({ type: 'map.tiles', input: { count: 40, slow: true } });
  await expect.poll(async () => (await board.get(`${api}/runs/${id}`)).body.tasks?.succeeded).toBe(20);
  await board.engine.cancelJobRun(id, { by: 'test' });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}`);
  await expect.poll(() => page.locator('.task-figures dd').first().textContent()).toBe('50 % 20 of 40');
});

detail('a cancelled stage shows how many items were processed, and the rest as skipped', async () => {
  const id = await board.start({ type: 'rows.copy' });
  await expect.poll(async () => (await board.get(`${api}/runs/${id}/progress`)).body.progress?.processes[0]?.stages[0]?.done).toBe(5);
  await board.engine.cancelJobRun(id, { by: 'test' });
  await ended(board, id);
  const page = await board.visit(`/runs/${id}?tab=progress`);
  await expect.poll(() => page.locator('.stage-figures b').textContent()).toBe('5 of 30');
});

// The last test: its tasks occupy the slots until the end.
detail('a matrix of ten thousand tasks is updated while they run', async () => {
  const id = await board.start({ type: 'map.tiles', input: { count: 10_000, slow: true } });
  await expect.poll(async () => (await board.get(`${api}/runs/${id}`)).body.tasks?.succeeded).toBe(20);
  const begun = Date.now();
  const page = await board.visit(`/runs/${id}`);
  await matrix(page, '10,000').waitFor();
  console.log(`a run of 10,000 tasks was open after ${Date.now() - begun} ms`);
  const version = (): Promise<string | null> => matrix(page, '10,000').getAttribute('data-version');
  for (const upTo of [500, 1_000, 2_000]) {
    const before = await version();
    allowTiles(upTo);
    const failed = upTo / 50;
    await expect.poll(() => figure(page, 'succeeded').textContent()).toBe((upTo - failed).toLocaleString('en'));
    await expect.poll(() => figure(page, 'failed').textContent()).toBe(String(failed));
    expect(await version()).not.toBe(before);
  }
  await picture(page, 'run-10000-light');
  expect(board.faults).toEqual([]);
});

detail('a waiting run shows its position in the queue, and the instances show who leads', async () => {
  const first = await board.start({ type: 'nobody.knows', priority: 5 });
  const second = await board.start({ type: 'nobody.knows' });
  const page = await board.visit(`/runs/${second}`);
  await page.locator('.facts-strip div', { hasText: 'Queue position' }).getByText('2').waitFor();
  await page.goto(`${board.url}/instances`);
  await page.locator('.instance-head').getByText('leader').waitFor();
  for (const id of [first, second]) await board.post(`${api}/runs/${id}/cancel`);
});
