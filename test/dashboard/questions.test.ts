// Questions of runs in a real browser: answered on their page, on the page of the run, and with a link without signing in.
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { jobType } from '../../src/index.ts';
import { test } from '../support/browser.ts';
import { until } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

const tokens: string[] = [];
const schema = z.object({ ok: z.boolean(), note: z.string().optional(), amount: z.int().min(1).max(500) });
const refund = jobType('refund', {
  run: async ({ step, sleep, waitFor }) => {
    await step('plan', () => ({ amount: 120, account: 'NL91 ABNA' }));
    await sleep('cool off', '0s');
    return waitFor('refund', { ask: 'Refund 120 € to Ada?', schema, timeout: '7d', notify: ({ token }) => void tokens.push(token) });
  },
});
const yesNo = jobType('yes-no', { run: ({ waitFor }) => waitFor('go', { schema: z.boolean() }) });
const free = jobType('free', { run: ({ waitFor }) => waitFor('go') });

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard({ engine: { types: [refund, yesNo, free], slots: 4 } });
});
afterAll(() => board.close());

async function waiting(type: string): Promise<number> {
  const id = await board.start({ type });
  await until(async () => (await board.engine.explain(id))[0]?.code === 'waits.answer');
  return id;
}

const resultOf = async (id: number): Promise<unknown> => {
  await until(async () => (await board.engine.get(id)).state === 'ended');
  return JSON.parse((await board.engine.get(id)).result!);
};

test('questions are answered by forms from their schemas, and leave the page', async () => {
  const first = await waiting('refund');
  const page = await board.visit('/questions');
  const card = page.getByRole('region', { name: `Question refund of run ${first}` });
  await card.getByRole('heading', { name: 'Refund 120 € to Ada?' }).waitFor();
  await picture(page, 'questions-light');
  expect(await violations(page)).toEqual([]);
  const night = await board.visit('/questions', { ...dark, ...phone });
  await night.getByRole('heading', { name: 'Refund 120 € to Ada?' }).waitFor();
  expect([await sidewaysScroll(night), await violations(night)]).toEqual([0, []]);
  await picture(night, 'questions-dark-phone');
  await night.close();

  await page.bringToFront();
  const second = await waiting('yes-no');
  await page.getByRole('region', { name: `Question go of run ${second}` }).waitFor();
  await card.getByRole('button', { name: 'Answer' }).click();
  await card.getByLabel('amount').fill('700');
  await card.getByRole('button', { name: 'Answer' }).click();
  await expect.poll(() => card.getByRole('alert').textContent()).toContain('does not match its schema');
  await card.getByLabel('ok').selectOption('true');
  await card.getByLabel('amount').fill('120');
  await card.getByRole('button', { name: 'Answer' }).click();
  expect(await resultOf(first)).toEqual({ ok: true, amount: 120 });
  await expect.poll(() => card.count()).toBe(0);
  const other = page.getByRole('region', { name: `Question go of run ${second}` });
  await other.getByLabel('Answer').first().selectOption('false');
  await other.getByRole('button', { name: 'Answer' }).click();
  expect(await resultOf(second)).toBe(false);
  await page.getByText('Nothing waits for an answer').waitFor();
  expect(board.faults).toEqual([]);
});

test('the page of a run shows its steps and its question', async () => {
  const id = await waiting('refund');
  const page = await board.visit(`/runs/${id}?tab=steps`);
  await page.getByRole('region', { name: `Question refund of run ${id}` }).waitFor();
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'cool off' }).textContent()).toContain('Sleep');
  await picture(page, 'run-steps-light');
  expect(await violations(page)).toEqual([]);
  expect(board.faults).toEqual([]);
});

test('an answer without a schema must be written, also null', async () => {
  const id = await waiting('free');
  const list = await board.visit('/runs?type=free&hide=Priority');
  await list.getByRole('row').filter({ hasText: 'when answered' }).waitFor();
  const page = await board.visit(`/runs/${id}?tab=steps`);
  const card = page.getByRole('region', { name: `Question go of run ${id}` });
  const button = card.getByRole('button', { name: 'Answer' });
  await button.waitFor();
  expect(await button.isDisabled()).toBe(true);
  await card.getByLabel('Answer').first().fill('null');
  await button.click();
  expect(await resultOf(id)).toBe(null);
  expect(board.faults).toEqual([]);
});

test('a link answers its question without signing in', async () => {
  const id = await waiting('refund');
  const page = await board.visit(`/answer#${tokens.at(-1)!}`);
  await page.getByRole('heading', { name: 'Refund 120 € to Ada?' }).waitFor();
  await picture(page, 'answer-link-light');
  expect(await violations(page)).toEqual([]);
  await page.getByLabel('ok').selectOption('false');
  await page.getByLabel('amount').fill('1');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('Your answer is stored.').waitFor();
  expect(await resultOf(id)).toEqual({ ok: false, amount: 1 });
  await page.reload();
  await page.getByText('this link was used already').waitFor();
  expect(board.faults).toEqual([]);
});
