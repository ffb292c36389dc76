// The overview in a real browser: problems, figures, charts and running runs.
import { afterAll, beforeAll, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { ended } from '../http/world.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => void (board = await dashboard()));
afterAll(() => board.close());

test('the overview lists a failing type and a type without a worker, each with a link', async () => {
  const page = await board.visit('/');
  await page.getByText('No problems.').waitFor();
  await picture(page, 'overview-well-light');
  const failed = await board.start({ type: 'invoice.render' });
  await board.start({ type: 'of.another.time' });
  const problems = page.getByRole('list', { name: 'Problems' });
  await problems.getByText('invoice.render: 100 % failing').waitFor();
  await problems.getByText('No worker for type of.another.time').waitFor();
  expect(await problems.locator('li').first().textContent()).toContain('No worker');
  await problems.locator('li', { hasText: 'invoice.render' }).getByRole('link').click();
  await page.getByRole('link', { name: String(failed), exact: true }).waitFor();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
});

test('figures and charts follow events, over the period in the URL', async () => {
  const page = await board.visit('/');
  const ended = page.locator('.figures div', { hasText: 'Ended' }).locator('dd');
  await expect.poll(() => ended.textContent()).toMatch(/^1/);
  for (let number = 0; number < 20; number++) await board.start({ type: 'mail.send' });
  await expect.poll(() => ended.textContent()).toMatch(/^21/);
  await page.getByRole('img', { name: 'Ended: succeeded 20, failed 1, cancelled 0' }).waitFor();
  await page.getByRole('group', { name: 'Period' }).getByRole('button', { name: '15m' }).click();
  expect(page.url()).toContain('range=15m');
  await page.getByRole('img', { name: 'Ended: succeeded 20, failed 1, cancelled 0' }).waitFor();
  const chart = (await page.locator('.chart .u-over').first().boundingBox())!;
  await page.mouse.move(chart.x + chart.width - 80, chart.y + 40);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width - 2, chart.y + 40, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => new URL(page.url()).searchParams.get('search')).toMatch(/^created:>2.*Z created:<2.*Z$/);
});

detail('schedules that are late are problems; of many the first are listed, and a link leads to all', async () => {
  const page = await board.visit('/');
  const items = [{ name: 'nightly invoices', nextExecutionTime: Date.now() - 3_600_000 }];
  await page.route('**/api/v1/defs?status=late*', (route) => route.fulfill({ json: { items, next: 7 } }));
  await page.reload();
  const problems = page.getByRole('list', { name: 'Problems' });
  await problems.getByText(/nightly invoices is .* late/).waitFor();
  await page.unrouteAll();
  await problems.getByRole('link', { name: 'View late definitions' }).click();
  await page.getByText('No matching definitions').waitFor();
  expect(new URL(page.url()).searchParams.get('status')).toBe('late');
});

detail('running runs are listed with their progress', async () => {
  const id = await board.start({ type: 'map.tiles', input: { count: 60, slow: true } });
  const page = await board.visit('/');
  const running = page.locator('.card', { hasText: 'Running and held' });
  await running.getByRole('link', { name: `map.tiles ${id}` }).waitFor();
  await running.getByText('20 of 60').waitFor();
  await picture(page, 'overview-light');
  for (const [name, context] of [['overview-dark', dark], ['overview-phone', phone]] as const) {
    const seen = await board.visit('/', context);
    await seen.getByText('20 of 60').waitFor();
    await picture(seen, name);
    expect(await sidewaysScroll(seen), name).toBe(0);
    await seen.close();
  }
  await board.engine.cancelJobRun(id, { by: 'test' });
  await ended(board, id);
  await expect.poll(() => running.getByRole('link', { name: `map.tiles ${id}` }).count()).toBe(0);
  expect(board.faults).toEqual([]);
});
