// Flows in a real browser: the list, the graph of a flow as it changes, its groups, and a definition that follows another.
import { afterAll, beforeAll, expect } from 'vitest';
import { test } from '../support/browser.ts';
import { api, until } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard();
});
afterAll(() => board.close());

type Ask = Record<string, unknown>;

async function createFlow(runs: readonly Ask[]): Promise<{ readonly id: number; readonly of: (name: string) => number }> {
  const { status, body } = await board.post(`${api}/flows`, { runs });
  expect(status).toBe(201);
  const { id, runs: created } = body as { id: number; runs: { name: string; id: number }[] };
  return { id, of: (name) => created.find((run) => run.name === name)!.id };
}

const countsOf = async (id: number): Promise<Record<string, number>> =>
  (await board.get(`${api}/flows/${id}/graph`)).body.counts as Record<string, number>;

test('the graph shows each run in its layer, follows changes, and leads to the run', async () => {
  const flow = await createFlow([
    { name: 'approve', type: 'approval' },
    { name: 'mail', type: 'mail.send', after: ['approve'] },
    { name: 'invoice', type: 'invoice.render', after: ['approve'] },
    { name: 'close', type: 'mail.send', after: ['mail', 'invoice'] },
    { name: 'complain', type: 'mail.send', after: ['mail', 'invoice'], on: 'failed' },
  ]);
  await until(async () => (await countsOf(flow.id))['running'] === 1);
  const page = await board.visit('/flows');
  await page.getByRole('link', { name: String(flow.id), exact: true }).click();
  const graph = page.getByRole('region', { name: 'Graph of the flow' });
  await expect.poll(() => graph.locator('.flow-node').count()).toBe(5);
  expect(await graph.locator('.flow-layers > ol > li').allTextContents()).toEqual([
    expect.stringContaining('Layer 1'), expect.stringContaining('Layer 2'), expect.stringContaining('Layer 3'),
  ]);
  await expect.poll(() => graph.locator('path[data-on]').count()).toBe(6);
  expect(await graph.locator('path[data-on=failed]').count()).toBe(2);
  await board.post(`${api}/runs/${flow.of('approve')}/complete`, { result: null });
  await expect.poll(() => graph.locator('.flow-node[data-status=failed]').count()).toBe(1);
  await expect.poll(() => graph.locator('path[data-outcome=failed]').count()).toBe(2);
  await expect.poll(() => graph.locator('.flow-node[data-status=cancelled]').count()).toBe(1);
  const dueOf = (name: string) => page.getByRole('row').filter({ hasText: String(flow.of(name)) }).first().getByRole('cell').last();
  await expect.poll(() => dueOf('approve').textContent()).toBe('–');
  await picture(page, 'flow-light');
  expect(await violations(page)).toEqual([]);

  const night = await board.visit(`/flows/${flow.id}`, { ...dark, ...phone });
  await night.locator('.flow-node[data-status=failed]').waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'flow-dark-phone');
  await night.close();

  await page.bringToFront();
  await page.getByRole('button', { name: 'Retry failed runs' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry failed runs' }).click();
  await page.getByText(/Retried 2 runs of flow/).waitFor();
  await graph.locator(`.flow-node[href$="/runs/${flow.of('invoice')}"]`).click();
  await page.getByRole('link', { name: `flow ${flow.id}` }).waitFor();
  expect(board.faults).toEqual([]);
});

test('a large flow is shown by groups of the same type and state', async () => {
  const parts = Array.from({ length: 200 }, (_, index) => ({ name: `part ${index}`, type: 'mail.send', after: ['approve'] }));
  const flow = await createFlow([
    { name: 'approve', type: 'approval' }, ...parts,
    { name: 'end', type: 'mail.send', after: parts.map(({ name }) => name) },
  ]);
  const page = await board.visit(`/flows/${flow.id}`);
  const nodes = page.locator('.flow-node');
  await expect.poll(() => nodes.count()).toBe(3);
  expect(await nodes.allTextContents()).toEqual([
    expect.stringContaining('approval'), expect.stringContaining('200 runs'), expect.stringContaining('mail.send'),
  ]);
  await board.post(`${api}/runs/${flow.of('approve')}/complete`, { result: null });
  await until(async () => (await countsOf(flow.id))['succeeded'] === 202);
  await expect.poll(() => page.locator('.flow-node[data-status=succeeded]').count()).toBe(3);
  await picture(page, 'flow-groups');
  expect(board.faults).toEqual([]);
});

test('a definition is created so that it follows another one, and both pages show it', async () => {
  const page = await board.visit('/definitions');
  await page.getByRole('button', { name: 'New definition' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('after the heartbeat');
  await dialog.getByLabel('Job type').fill('mail.send');
  await dialog.getByLabel('Follows').fill('heartbeat');
  await dialog.getByLabel('Start a run').selectOption('ended');
  expect(await dialog.getByText('Schedule 1').count()).toBe(0);
  expect(await violations(page, 'dialog')).toEqual([]);
  await dialog.getByRole('button', { name: 'Create definition' }).click();
  await page.getByRole('heading', { name: 'after the heartbeat' }).waitFor();
  await page.getByRole('link', { name: 'heartbeat', exact: true }).click();
  await page.getByRole('heading', { name: 'heartbeat', exact: true }).waitFor();
  await page.getByRole('link', { name: 'after the heartbeat' }).waitFor();
  await picture(page, 'definition-followed');
  expect((await board.get(`${api}/defs/${encodeURIComponent('after the heartbeat')}`)).body.spec).toMatchObject({ after: ['heartbeat'], on: 'ended' });
  await page.getByRole('button', { name: 'Run now' }).click();
  await dialog.getByLabel('Also run what follows it: after the heartbeat').uncheck();
  expect(await violations(page, 'dialog')).toEqual([]);
  const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/runs'));
  await dialog.getByRole('button', { name: 'Start run' }).click();
  expect((await asked).postDataJSON()).toMatchObject({ def: 'heartbeat', followers: false });
  expect((await board.send('DELETE', `${api}/defs/heartbeat`)).body).toMatchObject({ code: 'followed.definition' });
  expect(board.faults).toEqual([]);
});
