// Queues, failures, instances, operations, audit and settings in a real browser, on SQLite and PostgreSQL.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, ended } from '../http/world.ts';
import { bySize } from '../support/size.ts';
import { planBoard } from './plan-world.ts';
import { dark, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

describe('the pages of the machine on SQLite', () => {
  let board: Dashboard;
  beforeAll(async () => {
    board = await planBoard();
  });
  afterAll(() => board.close());

  test('queues show the waiting jobs, the longest wait and the limits', async () => {
    const page = await board.visit('/queues');
    await expect.poll(() => row(page, 'site.crawl').textContent()).toMatch(/^site\.crawl1[\d.]+ m?s0026/);
    await row(page, 'legacy.export').getByText('no worker').waitFor();
    expect(await row(page, 'report.build').count()).toBe(0);
    const limits = page.getByRole('region', { name: 'Limits' });
    await expect.poll(() => limits.textContent()).toContain('runs of this type2 of 2 full');
    await expect.poll(() => limits.textContent()).toContain('key a.example1 of 1 full');
    await picture(page, 'queues-light');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await row(page, 'report.build').waitFor();
  });

  test('the paused jobs of a queue are resumed with a reason, as an operation', async () => {
    const page = await board.visit('/queues');
    await row(page, 'legacy.export').getByText('Actions').click();
    await page.getByRole('button', { name: 'Resume paused jobs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume 2 matching runs?' });
    await dialog.getByLabel('Reason').fill('the export has moved');
    await dialog.getByRole('button', { name: 'Resume runs' }).click();
    await expect.poll(async () => (await board.get(`${api}/runs?type=legacy.export&state=held`)).body.items.length).toBe(0);
    await page.goto(`${board.url}/operations`);
    const operation = row(page, 'the export has moved');
    await expect.poll(() => operation.textContent()).toMatch(/resume \d+succeeded2 done.*type legacy\.export.*http:local/);
    await expect.poll(() => row(page, 'the export moves').textContent()).toMatch(/pause \d+succeeded2 done/);
    await picture(page, 'operations-light');
  });

  test('failures with the same cause form one group, and the whole group is retried', async () => {
    const page = await board.visit('/failures?type=shop.order');
    const group = page.locator('.failure-group', { hasText: 'is gone' });
    await group.getByText('3 failed').waitFor();
    await expect.poll(() => page.locator('.failure-group').count()).toBe(2);
    await picture(page, 'failures-light');
    await group.getByRole('button', { name: 'Retry all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry 3 failures of shop.order?' });
    await dialog.getByLabel('Reason').fill('the shop is back');
    await dialog.getByRole('button', { name: 'Retry all' }).click();
    await page.getByRole('link', { name: 'View operation' }).waitFor();
    const generations = async (): Promise<number[]> =>
      (await board.get(`${api}/runs?type=shop.order`)).body.items.map((run: { generation: number }) => run.generation).sort();
    await expect.poll(generations).toEqual([1, 2, 2, 2]);
    await page.getByRole('button', { name: 'Show all types' }).click();
    await page.getByText('connect ECONNREFUSED').waitFor();
  });

  detail('the retrying jobs of a failure group are cancelled together', async () => {
    const page = await board.visit('/failures');
    const group = page.locator('.failure-group', { hasText: 'ECONNREFUSED' });
    await group.getByText('1 retrying').waitFor();
    await group.getByRole('button', { name: 'Cancel all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
    expect((await board.get(`${api}/runs?type=relay.push&state=open`)).body.items).toHaveLength(1);
    await group.getByRole('button', { name: 'Cancel all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel all' }).click();
    await expect.poll(async () => (await board.get(`${api}/runs?type=relay.push&state=cancelled`)).body.items.length).toBe(1);
  });

  detail('an instance shows its heartbeat, lease, slots and running jobs', async () => {
    const page = await board.visit('/instances');
    const own = page.getByRole('region', { name: `Instance ${board.engine.instance}` });
    await own.getByText('this server').waitFor();
    await expect.poll(() => own.textContent()).toMatch(/Heartbeat[\d.]+ m?s ago.*expires in [\d.]+ s.*2 of 6 busy.*Running 2/);
    await expect.poll(() => own.getByText('fence 1').count()).toBe(2);
    await board.post(`${api}/work/claim`, { worker: 'remote-1', types: ['legacy.export'] });
    await page.getByRole('region', { name: /remote-1$/ }).getByText('remote worker').waitFor();
    await picture(page, 'instances-light');
  });

  test('an instance is drained with a reason, shows it, and is resumed', async () => {
    const page = await board.visit('/instances');
    const own = page.getByRole('region', { name: `Instance ${board.engine.instance}` });
    await own.getByRole('button', { name: 'Drain' }).click();
    await page.getByLabel('Reason').fill('the machine is to be moved');
    await page.getByRole('dialog').getByRole('button', { name: 'Drain instance' }).click();
    await own.getByText('starts no new jobs').waitFor();
    await own.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume instance' }).click();
    await own.getByText('alive').waitFor();
  });

  test('the audit shows user, action, target, reason and changes', async () => {
    const name = encodeURIComponent('monthly report');
    await board.send('PATCH', `${api}/defs/${name}`, { overlap: 'skip', why: 'the printer is slow' });
    const waiting = await board.start({ type: 'shop.order', delay: '1h', input: { says: '' } });
    const other = await board.start({ type: 'shop.order', delay: '1h', input: { says: '' } });
    await board.send('PATCH', `${api}/runs/${waiting}`, { priority: 4 });
    const page = await board.visit('/audit');
    await expect.poll(() => row(page, 'the printer is slow').textContent()).toMatch(/http:localoverridemonthly report.*skip/);
    await expect.poll(() => row(page, `run ${waiting}`).textContent()).toMatch(/edit.*priority 0 → 4/);
    await picture(page, 'audit-light');
    await page.getByLabel('Run', { exact: true }).fill(String(waiting));
    await board.send('PATCH', `${api}/runs/${other}`, { priority: 5 });
    await row(page, `run ${other}`).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(page.url()).toContain(`job=${waiting}`);
  });

  detail('the settings store display preferences and show the session and the running versions', async () => {
    const page = await board.visit('/settings');
    await page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'dark' }).click();
    expect(await page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark');
    await page.getByRole('group', { name: 'Times' }).getByRole('button', { name: 'UTC' }).click();
    await page.getByText('No tokens are set up').waitFor();
    await page.getByText(/on 1 instance/).first().waitFor();
    const store = page.getByRole('region', { name: 'Store' });
    await store.getByText('Size').waitFor();
    expect(await store.locator('dd').allTextContents()).toEqual(expect.arrayContaining([
      expect.stringMatching(/^\d[\d.,]* .?B$/), expect.stringMatching(/^\d[\d,]* live, \d[\d,]* dead$/),
    ]));
    await picture(page, 'settings-dark');
    await page.reload();
    await expect.poll(() => page.getByRole('group', { name: 'Times' }).getByRole('button', { name: 'UTC' }).getAttribute('aria-pressed')).toBe('true');
  });

  detail('hostile names, errors, reasons and workers are shown as text on every page', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    const name = `${evil} of a definition`;
    const runs = [await board.start({ type: 'shop.order', input: { says: `${evil} failed` } })];
    runs.push((await board.engine.jobs.create({ type: `${evil} type` }, 'test')).id);
    await ended(board, runs[0]!);
    await board.post(
      `${api}/defs`, { name, type: 'shop.order', params: { [evil]: evil }, tags: { [evil]: evil }, enabled: false },
    );
    await board.post(`${api}/bulk`, { action: 'pause', filter: { type: [`${evil} type`] }, why: `${evil} reason` });
    await board.post(`${api}/work/claim`, { worker: `${evil} worker`, types: [`${evil} type`] });
    const page = await board.visit('/');
    const definition = `/definitions?name=${encodeURIComponent(name)}`;
    for (const [path, text] of [
      ['/failures', `${evil} failed`], ['/types', `${evil} type`], [`/types?name=${encodeURIComponent(`${evil} type`)}`,
      `${evil} type`],
      ['/definitions', name], [definition, name], [`${definition}&tab=settings`, evil], [`${definition}&tab=history`,
      name], ['/queues', `${evil} type`],
      ['/operations', `${evil} reason`], ['/instances', `${evil} worker`],
    ] as const) {
      await page.goto(board.url + path);
      await page.getByText(text).first().waitFor();
      expect(await page.evaluate<number>("document.querySelectorAll('main img, main script').length"), path).toBe(0);
    }
  });

  detail('a remote worker is no second version of Stint, and no idle slot', async () => {
    await board.post(`${api}/work/claim`, { worker: 'python', types: ['elsewhere'], limit: 3, waitMs: 0 });
    const page = await board.visit('/instances');
    await page.locator('.instance', { hasText: 'python' }).getByText('claims up to 3 jobs at a time').waitFor();
    await page.goto(`${board.url}/settings`);
    await page.getByText('Running versions').waitFor();
    await page.getByText('on 1 instance').waitFor();
    expect(await page.getByText('Several versions').count()).toBe(0);
    expect((await board.get(`${api}/stats`)).body.instances).toMatchObject({ slots: 6 });
  });

  // Every third page in the light theme; in the proof all, and the fullest ones also in the dark theme and on a phone.
  const isOfRun = (_: unknown, index: number): boolean => index % bySize({ small: 3, ci: 1 }) === 0;
  const paths = ['/settings', '/audit', '/operations', '/queues', '/failures', '/instances'];
  const themes = [['light', undefined, 0], ['dark', dark, 4], ['phone', phone, 3]] as const;
  const axe = test.each(themes.slice(0, bySize({ small: 0, ci: 3 })));
  axe('axe finds no serious violation on the pages of the machine, %s', async (name, context, from) => {
    const page = await board.visit('/', context);
    for (const path of paths.slice(from).filter(isOfRun)) {
      await page.goto(board.url + path);
      await page.locator('main h1').waitFor();
      await page.locator('.loading').waitFor({ state: 'detached' });
      expect(await violations(page), path).toEqual([]);
      expect(await sidewaysScroll(page), path).toBe(0);
      if (name !== 'light') await picture(page, `machine${path.replace('/', '-')}-${name}`);
    }
  });

  test('the browser reported no error on the pages of the machine', () => expect(board.faults).toEqual([]));
});

// In the proof: postgres.test.ts shows a page of PostgreSQL in npm test.
describe.runIf(bySize({ small: false, ci: true }))('the pages of the machine on PostgreSQL', () => {
  test('show the same', async () => {
    const board = await planBoard({ store: await migratedDatabase() });
    const page = await board.visit('/queues');
    const limits = page.getByRole('region', { name: 'Limits' });
    await expect.poll(() => limits.textContent()).toContain('key a.example1 of 1 full');
    await page.goto(`${board.url}/failures`);
    await page.locator('.failure-group', { hasText: 'is gone' }).getByText('3 failed').waitFor();
    await page.goto(`${board.url}/definitions?name=${encodeURIComponent('poll the mirror')}&tab=ticks`);
    await page.getByText('the previous run had not ended').waitFor();
    await page.goto(`${board.url}/operations`);
    await expect.poll(() => row(page, 'the export moves').textContent()).toMatch(/pause \d+succeeded2 done/);
    expect(board.faults).toEqual([]);
    await board.close();
  });
});
