// Saved views in a real browser: one person saves a view, another sees it; links, names, and views of the browser alone.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { api, as, records, tokens } from '../http/world.ts';
import { detail, test } from '../support/browser.ts';
import { dark, dashboard, phone, picture, sidewaysScroll, violations, type Dashboard } from './world.ts';

let board: Dashboard;
beforeAll(async () => {
  board = await dashboard({ access: { tokens: records } });
});
afterEach(async () => {
  for (const { name } of await board.engine.savedViews()) await board.engine.deleteView(name);
  expect(board.faults).toEqual([]);
});
afterAll(() => board.close());

type Role = 'operator' | 'viewer';

/** Opens a path in a browser of its own, for a person who signs in. */
async function visit(role: Role, path: string, options = {}): Promise<Page> {
  const page = await board.visit(path, options);
  await page.getByLabel('Token').fill(tokens[role].token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Token').waitFor({ state: 'hidden' });
  return page;
}

const save = (name: string, page: 'runs' | 'definitions', query: string): Promise<unknown> =>
  board.send('PUT', `${api}/views/${encodeURIComponent(name)}`, { page, query }, as('operator'));
const stored = async (): Promise<unknown> =>
  (await board.engine.savedViews()).map(({ name, page, query }) => ({ name, page, query }));

test('a view that one person saves is there for another, with a link to copy', async () => {
  const olga = await visit('operator', '/runs?search=state:failed&order=oldest&after=99');
  await olga.getByRole('button', { name: 'Save view' }).click();
  const dialog = olga.getByRole('dialog', { name: 'Save view' });
  await dialog.getByLabel('Name', { exact: true }).fill('Broken ones');
  await dialog.getByRole('button', { name: 'Save view' }).click();
  await olga.getByRole('link', { name: 'Broken ones' }).waitFor();
  expect(await olga.getByRole('button', { name: 'Save view' }).count()).toBe(0);
  const query = 'search=state%3Afailed&order=oldest';
  expect(await stored()).toEqual([{ name: 'Broken ones', page: 'runs', query }]);

  const vera = await visit('viewer', '/runs');
  await vera.getByRole('link', { name: 'Broken ones' }).click();
  await expect.poll(() => new URL(vera.url()).search).toBe(`?${query}`);
  await vera.getByRole('button', { name: 'Details of view Broken ones' }).click();
  const details = vera.getByRole('dialog', { name: 'View Broken ones' });
  await details.getByText('Saved by http:olga').waitFor();
  expect(await details.getByLabel('Link').inputValue()).toBe(`${board.url}/runs?${query}`);
  expect(await details.getByRole('button', { name: /Rename|Delete/ }).count()).toBe(0);
  await Promise.all([olga.close(), vera.close()]);
});

detail('an operator renames, replaces and deletes a view', async () => {
  await save('Old', 'definitions', 'status=DISABLED');
  await save('Other', 'runs', 'search=a');
  const page = await visit('operator', '/definitions?status=DISABLED', {});
  await page.getByRole('button', { name: 'Details of view Old' }).click();
  const details = page.getByRole('dialog', { name: 'View Old' });
  await details.getByLabel('Name', { exact: true }).fill('Other');
  await details.getByRole('button', { name: 'Rename view' }).click();
  await details.getByRole('alert').getByText('already').waitFor();
  await details.getByLabel('Name', { exact: true }).fill('Switched off');
  await details.getByRole('button', { name: 'Rename view' }).click();
  await page.getByRole('link', { name: 'Switched off' }).waitFor();

  await page.goto(`${board.url}/definitions?q=night`);
  await page.getByRole('button', { name: 'Save view' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save view' });
  await dialog.getByLabel('Name', { exact: true }).fill('Switched off');
  await dialog.getByText('This replaces the view of the page definitions').waitFor();
  await dialog.getByRole('button', { name: 'Replace view' }).click();
  await expect.poll(stored).toEqual([
    { name: 'Other', page: 'runs', query: 'search=a' }, { name: 'Switched off', page: 'definitions', query: 'q=night' },
  ]);

  await page.getByRole('button', { name: 'Details of view Switched off' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click();
  const confirmation = page.getByRole('dialog', { name: 'Delete the view Switched off?' });
  await confirmation.getByRole('button', { name: 'Delete view' }).click();
  await expect.poll(() => page.getByRole('link', { name: 'Switched off' }).count()).toBe(0);
  expect(await stored()).toEqual([{ name: 'Other', page: 'runs', query: 'search=a' }]);
  await page.close();
});

detail('views that were stored in the browser are shared once, each under a name of its own', async () => {
  await save('Broken', 'runs', 'search=somebody');
  await save('Same', 'runs', 'search=same');
  const page = await visit('operator', '/runs', {});
  const local = [{ name: 'Broken', search: 'state:failed' }, { name: 'Same', search: 'same' }, { name: 'Mine', search: 'tag:a=b' }];
  await page.evaluate((views) => localStorage.setItem('stint.views', JSON.stringify(views)), local);
  await page.reload();
  await page.getByRole('button', { name: 'Share 3 views of this browser' }).click();
  await page.getByText('Shared 3 views').waitFor();
  expect(await stored()).toEqual([
    { name: 'Broken', page: 'runs', query: 'search=somebody' },
    { name: 'Broken (olga)', page: 'runs', query: 'search=state%3Afailed' },
    { name: 'Mine', page: 'runs', query: 'search=tag%3Aa%3Db' },
    { name: 'Same', page: 'runs', query: 'search=same' },
  ]);
  await page.reload();
  await page.getByRole('link', { name: 'Mine' }).waitFor();
  expect(await page.getByRole('button', { name: /^Share/ }).count()).toBe(0);
  await page.close();
});

detail('many views fit, and axe finds nothing, in both themes and on a phone', async () => {
  for (let number = 1; number <= 12; number += 1) await save(`View ${number} of many with a long name`, 'runs', `search=${number}`);
  for (const [name, options] of [['light', {}], ['dark', dark], ['phone', phone]] as const) {
    const page = await visit('operator', '/runs?search=1', { ...options });
    await page.getByText('4 more').click();
    await page.getByRole('link', { name: 'View 9 of many' }).waitFor();
    await picture(page, `saved-views-menu-${name}`);
    expect([name, await sidewaysScroll(page), await violations(page)]).toEqual([name, 0, []]);
    await page.getByRole('link', { name: 'View 9 of many' }).click();
    await page.getByText('3 more').waitFor();
    await page.getByRole('button', { name: 'Details of view View 9 of' }).click();
    await page.getByRole('dialog').waitFor();
    await picture(page, `saved-views-${name}`);
    expect([name, await violations(page, 'dialog[open]')]).toEqual([name, []]);
    await page.keyboard.press('Escape');
    await page.goto(`${board.url}/runs?search=new`);
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('dialog', { name: 'Save view' }).waitFor();
    expect([name, await violations(page, 'dialog[open]')]).toEqual([name, []]);
    await page.close();
  }
});
