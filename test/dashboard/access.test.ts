// Access to the dashboard: sign-in and roles, screen readers, and the keyboard alone.
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { detail, test } from '../support/browser.ts';
import { api, as, ended, records, tokens } from '../http/world.ts';
import { bySize } from '../support/size.ts';
import { dark, dashboard, phone, picture, violations, type Dashboard } from './world.ts';

describe('accessibility', () => {
  let board: Dashboard;
  let paths: readonly string[];
  let waiting: number;
  beforeAll(async () => {
    board = await dashboard();
    const tiles = await board.start({ type: 'map.tiles', input: { count: 120 } });
    const failed = await board.start({ type: 'invoice.render', input: { a: [1, { b: null }] } });
    const mail = await board.start({ type: 'mail.send', input: { to: 'a@example.org' }, tags: { team: 'red' } });
    await Promise.all([tiles, failed, mail].map((id) => ended(board, id)));
    waiting = await board.start({ type: 'mail.send', delay: '1h' });
    const busy = await board.start({ type: 'ledger.sync' });
    paths = [
      '/', '/runs', `/runs/${tiles}`, `/runs/${waiting}`, `/runs/${busy}`,
      '/runs?search=state:nonsense', '/runs?search=type:nothing', `/runs/${mail}?tab=log`,
      ...['payload', 'timeline', 'events', 'relations', 'explain'].map((tab) => `/runs/${failed}?tab=${tab}`),
      '/runs/99999999',
    ];
  });
  afterAll(() => board.close());

  // The fullest pages; in the proof all of them, and the fullest ones also in the dark theme and on a phone.
  const themes = [['light', undefined, bySize({ small: 3, ci: 99 })], ['dark', dark, 5], ['phone', phone, 5]] as const;
  test.each(themes.slice(0, bySize({ small: 1, ci: 3 })))('axe finds no serious violation on the pages of runs, %s', async (_, context, count) => {
    const page = await board.visit('/', context);
    for (const path of paths.slice(0, count)) {
      await page.goto(board.url + path);
      await settled(page);
      expect(await violations(page), path).toEqual([]);
    }
  });

  detail('axe finds no serious violation in dialogs, menus and suggestions', async () => {
    const page = await board.visit(`/runs/${waiting}`);
    await settled(page);
    const opened = 'dialog[open], .search:has(#search-list:not([hidden]))';
    for (const key of ['c', 'e', 'l', '?', ':', '/']) {
      await page.keyboard.press(key);
      await page.locator(opened).first().waitFor();
      expect(await violations(page, opened), key).toEqual([]);
      if (key === ':' || key === '?') await picture(page, key === '?' ? 'keys-light' : 'palette-light');
      await page.keyboard.press('Escape');
    }
  });

  detail('every control of a page is reachable by Tab and has a name', async () => {
    const page = await board.visit('/runs');
    await page.locator('tbody tr').first().waitFor();
    const all = await page.evaluate<number>(controlCount);
    const reached = new Set<string>();
    for (let presses = 0; presses < all + 20; presses++) {
      await page.keyboard.press('Tab');
      const [place, name] = await page.evaluate<[string, string]>(focused);
      expect(name, place).not.toBe('');
      reached.add(place);
    }
    expect(reached.size).toBeGreaterThanOrEqual(all);
  });

  test('g and a letter open a page, and the palette performs an action, without a mouse', async () => {
    const page = await board.visit('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const key of ['g', 'r']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(String(waiting));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `mail.send ${waiting}` }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('pause this');
    await page.getByRole('option', { name: /^Pause this run/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: `Pause run ${waiting}?` }).waitFor();
    await page.keyboard.type('until Monday');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await board.get(`${api}/runs/${waiting}`)).body.hold).toBe('pause');
    const { body } = await board.get(`${api}/runs/${waiting}/events`);
    expect(body.items.at(-1)).toMatchObject({ kind: 'paused', why: 'until Monday' });
  });

  detail('the format of times and the theme can be changed, and are stored', async () => {
    const context = await board.browser.newContext({ locale: 'en-US', timezoneId: 'Asia/Tokyo' });
    const page = await context.newPage();
    await page.goto(`${board.url}/runs/${waiting}`);
    const created = page.locator('.facts-strip time').first();
    await expect.poll(() => created.textContent()).toMatch(/ago$|now/);
    await page.keyboard.press('t');
    const local = (await created.textContent())!;
    await page.keyboard.press('t');
    const utc = (await created.textContent())!;
    expect(Date.parse(`${local}Z`) - Date.parse(`${utc}Z`)).toBe(9 * 3_600_000);
    const theme = (): Promise<string> => page.evaluate<string>('document.documentElement.dataset.theme');
    expect(await theme()).toBe('light');
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByRole('button', { name: /^Theme/ }).click();
    expect(await theme()).toBe('dark');
    await page.reload();
    await expect.poll(() => created.textContent()).toBe(utc);
    expect(await theme()).toBe('dark');
    await context.close();
  });

  detail('the dashboard works under a path that a proxy adds', async () => {
    const proxy = createServer((request, response) => {
      const { pathname, search } = new URL(request.url!, board.url);
      const isInside = pathname.startsWith('/tools/jobs/');
      if (!isInside) return void response.writeHead(404).end();
      const target = board.url + pathname.slice('/tools/jobs'.length) + search;
      const onward = ask(target, { headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      response.on('close', () => onward.destroy());
      onward.on('error', () => response.destroy());
      onward.end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const home = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/tools/jobs`;
    const page = await board.browser.newPage({ locale: 'en-US', timezoneId: 'UTC' });
    await page.goto(`${home}/runs/${waiting}`);
    await page.getByRole('heading', { name: `mail.send ${waiting}` }).waitFor();
    await page.getByRole('switch', { name: 'Live' }).getByText('Live').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${home}/`);
    await page.close();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  test('the browser reported no error on the pages of runs', () => expect(board.faults).toEqual([]));
});

describe('with tokens', () => {
  let board: Dashboard;
  let id: number;
  beforeAll(async () => {
    board = await dashboard({ access: { tokens: records } });
    const secret = { type: 'mail.send', delay: '1h', input: { token: 'hush' } };
    id = (await board.post(`${api}/runs`, secret, as('operator'))).body.id;
  });
  afterAll(() => board.close());

  test('a wrong token is refused, a valid one signs in, and signing out ends the session', async () => {
    const page = await board.visit('/runs');
    await page.getByLabel('Token').fill('stint_nonsense');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.locator('.field-error').textContent()).toMatch(/token/);
    expect(await violations(page)).toEqual([]);
    await picture(page, 'sign-in-light');
    await page.getByLabel('Token').fill(tokens.operator.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: String(id), exact: true }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: String(id), exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
  });

  test('a viewer sees runs without secrets and is offered no action', async () => {
    const page = await board.visit('/runs');
    await page.getByLabel('Token').fill(tokens.viewer.token);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: String(id), exact: true }).click();
    await page.getByText('"[redacted]"').waitFor();
    expect(await page.locator('.page-actions button').count()).toBe(0);
    await page.goto(`${board.url}/runs`);
    await page.getByRole('link', { name: String(id), exact: true }).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Start a run' }).count()).toBe(0);
  });
});

describe('pages and roles', () => {
  let board: Dashboard;
  beforeAll(async () => {
    board = await dashboard({ access: { tokens: records }, priorities: { operator: 50 } });
  });
  afterAll(() => board.close());

  async function signedIn(role: keyof typeof tokens, path: string): Promise<Page> {
    const page = await board.visit(path);
    await page.getByLabel('Token').fill(tokens[role].token);
    await page.keyboard.press('Enter');
    await page.locator('.sign-in').waitFor({ state: 'detached' }); // it has a heading, too
    await page.locator('main h1').waitFor();
    return page;
  }

  const pagesShown = async (page: Page): Promise<string[]> =>
    page.locator('.navigation section a').evaluateAll((links) => links.map((link) => link.childNodes[1]!.textContent!));

  detail('the navigation shows a role only the pages it may see', async () => {
    const shown = new Map<string, string[]>();
    for (const role of ['operator', 'viewer', 'producer'] as const) {
      const page = await signedIn(role, '/settings');
      await page.getByText(`${tokens[role].record.name}`, { exact: true }).first().waitFor();
      shown.set(role, await pagesShown(page));
    }
    expect(shown.get('operator')).toContain('Audit');
    expect(shown.get('viewer')).toEqual(shown.get('operator')!.filter((title) => title !== 'Audit'));
    expect(shown.get('producer')).toEqual(['Settings']);
  });

  test('a page that a role may not see names the role it requires', async () => {
    const page = await signedIn('viewer', '/audit');
    await page.getByText('This page requires the role operator').waitFor();
    await page.getByText('with the role viewer').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await picture(page, 'forbidden-light');
    for (const key of ['g', 'r']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    for (const key of ['g', 'a']) await page.keyboard.press(key);
    expect(page.url()).toBe(`${board.url}/runs`);
    const producer = await signedIn('producer', '/runs');
    await producer.getByText('This page requires the role viewer').waitFor();
  });

  test('an admin sees the tokens and their last use in the settings, but no secret', async () => {
    const page = await signedIn('admin', '/settings');
    const rows = page.getByRole('region', { name: 'Tokens' }).locator('tbody tr');
    await expect.poll(() => rows.allTextContents()).toHaveLength(records.length);
    await expect.poll(() => rows.filter({ hasText: 'ada' }).textContent())
      .toMatch(/^adaadminin fullby role–never((just )?now|(in )?\d+ (s|min|h)( ago)?)$/);
    expect(await rows.filter({ hasText: 'wim' }).textContent()).toBe('wimworkersecrets hiddenby role–never–');
    expect(await violations(page)).toEqual([]);
    await picture(page, 'tokens-light');
    const shown = await page.content();
    for (const { token, record } of Object.values(tokens)) {
      expect(shown).not.toContain(token.slice(0, 14));
      expect(shown).not.toContain(record.hash);
    }
    const operator = await signedIn('operator', '/settings');
    expect(await operator.getByRole('heading', { name: 'Tokens' }).count()).toBe(0);
  });

  test('the form of a run shows the highest priority that one may give, and that a higher one is refused', async () => {
    const page = await signedIn('operator', '/runs');
    await page.getByRole('button', { name: 'Start a run' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('you may give up to 50').waitFor();
    await dialog.getByLabel('Job type').fill('mail.send');
    await dialog.getByLabel('Priority').fill('51');
    await dialog.getByText('at most 50').waitFor();
    await dialog.getByRole('button', { name: 'Start run' }).click();
    await dialog.getByText('olga may give priorities up to 50').waitFor();
  });

  detail('an operator still sees the audit after a reload', async () => {
    const page = await signedIn('operator', '/audit');
    await page.reload();
    await page.getByText('sign in', { exact: true }).first().waitFor();
    expect(board.faults).toEqual([]);
  });
});

async function settled(page: Page): Promise<void> {
  await page.locator('main h1, main .notice').first().waitFor();
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
}

const controls = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }))
  .filter((e) => !e.closest('details:not([open]) > :not(summary)'))`;
const controlCount = `${controls}.length`;
const focused = `(() => {
  const e = document.activeElement;
  const all = ${controls};
  const name = e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent || e.title || '';
  return [String(all.indexOf(e)), e === document.body ? 'the page' : name];
})()`;
