// A week of operators with three hundred definitions: by command line, HTTP and browser in turns, each under a name of
// its own. Each day builds on the day before.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { jobType } from '../../src/index.ts';
import { verify, violationText } from '../../src/verify.ts';
import { Receiver } from '../alerts/receiver.ts';
import { Place, type Ended } from '../cli/stint.ts';
import { dashboard, type Dashboard } from '../dashboard/world.ts';
import { api, newToken, until, type Reply } from '../http/world.ts';
import { test } from '../support/browser.ts';

const cliToken = newToken({ name: 'carla', role: 'operator' });
const httpToken = newToken({ name: 'henry', role: 'operator' });
const browserToken = newToken({ name: 'bruno', role: 'operator' });

let isBroken = false;
const report = jobType('report', {
  retry: { attempts: 1 },
  run: () => {
    if (isBroken) throw new Error('the warehouse is away');
    return 'reported';
  },
});

const teams = ['billing', 'search', 'mail', 'stock', 'staff', 'sales'];
interface Definition {
  readonly name: string;
  readonly [setting: string]: unknown;
}
/** At hours that are not now, so that only the day that wants a tick sees one. */
const definitions: readonly Definition[] = Array.from({ length: 300 }, (_, index) => ({
  name: `${teams[index % teams.length]}-${String(index).padStart(3, '0')}`,
  type: 'report',
  schedules: [{ cron: `${index % 60} 3 1 1 *`, zone: index % 2 === 0 ? 'UTC' : 'Europe/Berlin' }],
  tags: { team: teams[index % teams.length]! },
  priority: index % 5,
}));

const place = new Place();
const target = new Receiver();
let board: Dashboard;
let page: Page;

/** The command line of carla. */
const stint = (...words: string[]): Promise<Ended> =>
  place.stint(...words, '--url', board.url, '--token', cliToken.token);
const succeeds = async (...words: string[]): Promise<string> => {
  const { code, out, err } = await stint(...words);
  expect([words.join(' '), code, err]).toEqual([words.join(' '), 0, '']);
  return out;
};
/** The requests of henry. */
const ask = async (method: string, path: string, body?: unknown): Promise<Reply['body']> => {
  const headers = { authorization: `Bearer ${httpToken.token}` };
  const reply = await board.send(method, `${api}${path}`, body, { headers });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
};
const write = (file: string, content: readonly Definition[]): void =>
  writeFileSync(join(place.folder, file), JSON.stringify({ definitions: content }));
const runsOf = async (def: string): Promise<{ readonly id: number; readonly state: string }[]> =>
  (await ask('GET', `/runs?def=${def}&limit=500`)).items;

beforeAll(async () => {
  await target.listen();
  board = await dashboard({
    access: { tokens: [cliToken, httpToken, browserToken].map(({ record }) => record) },
    engine: { types: [report], defs: [], alertAllow: ['127.0.0.0/8'] },
  });
});

afterAll(async () => {
  await board.close();
  target.close();
  place[Symbol.dispose]();
});

test('Monday: three hundred definitions are planned and applied from a file', async () => {
  write('definitions.json', definitions);
  expect(await succeeds('defs', 'diff', 'definitions.json')).toContain('Plan: 300 to create');
  expect(await succeeds('defs', 'apply', 'definitions.json', '--yes', '--why', 'first rollout')).toContain('Applied 300 changes');
  expect((await stint('defs', 'diff', 'definitions.json', '--exit-code')).code).toBe(0);
  const listed: { readonly name: string }[] = [];
  for (let after: number | null = 0; after !== null;) {
    const answer: Reply['body'] = await ask('GET', `/defs?limit=100${after === 0 ? '' : `&after=${after}`}`);
    listed.push(...answer.items);
    after = answer.next;
  }
  expect(listed.map(({ name }) => name).toSorted()).toEqual(definitions.map(({ name }) => name).toSorted());
});

test('Tuesday: single definitions are edited, cloned and renamed, and a team is switched off and on', async () => {
  await succeeds('defs', 'edit', 'billing-000', '--priority', '9', '--why', 'month end');
  await ask('POST', '/defs/search-001/clone', { name: 'search-copy', enabled: false, why: 'try a new index' });
  await succeeds('defs', 'rename', 'search-copy', 'search-trial', '--why', 'a better name');
  const off = await ask('POST', '/definitions/switch', { match: 'stock-*', enabled: false, why: 'stocktaking' });
  expect(off.names).toHaveLength(50);
  const { items } = JSON.parse(await succeeds('defs', 'ls', '--match', 'stock-*', '--json')) as { items: { enabled: boolean }[] };
  expect(items.filter(({ enabled }) => enabled)).toEqual([]);

  page = await board.visit('/definitions');
  await page.getByLabel('Token').fill(browserToken.token);
  await page.keyboard.press('Enter');
  await page.locator('.sign-in').waitFor({ state: 'detached' });
  await page.goto(`${board.url}/definitions?name=mail-002`);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByLabel('Reason').fill('the relay moves');
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  await succeeds('defs', 'enable', 'mail-002', '--why', 'the relay is back');
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await succeeds('defs', 'enable', '--match', 'stock-*', '--why', 'counted');
});

test('Wednesday: what breaks is alerted once, and so is its recovery', async () => {
  const alert = ['--when', 'failed', '--definition', 'sales-*', '--webhook', target.url, '--every', '1s'];
  await succeeds('alerts', 'create', 'sales-reports', ...alert, '--why', 'sales asked for it');
  isBroken = true;
  await ask('POST', '/defs/sales-005/run', {});
  await target.until((received) => received.length === 1);
  for (let count = 0; count < 5; count += 1) await ask('POST', '/defs/sales-005/run', {});
  await until(async () => (await runsOf('sales-005')).every(({ state }) => state === 'ended'));
  isBroken = false;
  await page.goto(`${board.url}/definitions?name=sales-005`);
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start run' }).click();
  await target.until((received) => received.length === 2);
  const changes = target.received.map(({ body }) =>
    body.changes.map(({ subject, isFailing }: { subject: string; isFailing: boolean }) => [subject, isFailing]));
  expect(changes).toEqual([[['definition sales-005', true]], [['definition sales-005', false]]]);
  expect(await succeeds('alerts', 'history', 'sales-reports')).toContain('sales-005');
});

test('Thursday: a lost night is backfilled, each tick once', async () => {
  // A week ago, and only then: no tick of today is among its runs.
  const evening = new Date(Date.now() - 7 * 86_400_000);
  evening.setUTCHours(22, 0, 0, 0);
  const morning = new Date(evening.getTime() + 8 * 3_600_000);
  const listed = (of: (date: Date) => number): string => [...new Set([evening, morning].map(of))].join();
  const [from, to] = [evening.toISOString(), morning.toISOString()];
  const quarters = `*/15 * ${listed((date) => date.getUTCDate())} ${listed((date) => date.getUTCMonth() + 1)} *`;
  await succeeds('defs', 'edit', 'staff-004', '--cron', quarters, '--why', 'a report each quarter of an hour');
  const night = ['--from', from, '--to', to];
  expect(await succeeds('defs', 'backfill', 'staff-004', ...night, '--dry-run')).toMatch(/\b32\b/);
  await succeeds('defs', 'backfill', 'staff-004', ...night, '--concurrency', '4', '--why', 'the night was lost');
  // A colleague who does not know of it does the same.
  await ask('POST', '/defs/staff-004/backfill', { from, to, concurrency: 4, why: 'the night was lost' });
  await until(async () => (await ask('GET', '/runs?type=stint.backfill&state=open')).items.length === 0);
  const { items } = await ask('GET', `/defs/staff-004/past-ticks?from=${from}&to=${to}&limit=100`);
  const runs = items.flatMap(({ run }: { readonly run: unknown }) => run ?? []).map((run: unknown) => JSON.stringify(run));
  expect([items.length, new Set(runs).size, (await runsOf('staff-004')).length]).toEqual([32, 32, 32]);
  expect(await succeeds('defs', 'backfill', 'staff-004', ...night, '--dry-run')).toMatch(/\b0\b/);
});

test('Friday: a rollout from a file, planned by one and applied by another, and its rollback', async () => {
  const exported = JSON.parse(await succeeds('defs', 'export', '--json')) as { definitions: readonly Definition[] };
  write('before.json', exported.definitions);
  expect((await stint('defs', 'diff', 'before.json', '--exit-code')).code).toBe(0);
  const added = Array.from({ length: 5 }, (_, index) => ({ ...exported.definitions[0]!, name: `new-${index}` }));
  const rollout = exported.definitions.slice(5).map((one, index) => (index < 50 ? { ...one, priority: 11 } : one)).concat(added);
  write('rollout.json', rollout);
  expect(await succeeds('defs', 'diff', 'rollout.json', '--prune')).toContain('Plan: 5 to create, 50 to change, 5 to delete');
  const plan = await ask('POST', '/definitions/apply', { definitions: rollout, prune: true, dryRun: true });
  await ask('POST', '/definitions/apply', { definitions: rollout, prune: true, digest: plan.digest, why: 'quarterly rollout' });
  expect((await stint('defs', 'diff', 'rollout.json', '--prune', '--exit-code')).code).toBe(0);
  await succeeds('defs', 'apply', 'before.json', '--prune', '--yes', '--why', 'roll back');
  expect((await stint('defs', 'diff', 'before.json', '--prune', '--exit-code')).code).toBe(0);
});

test('Saturday: every act is in the audit, with who and why', async () => {
  const entries: { readonly by: string; readonly why: string | null; readonly action: string }[] = [];
  for (let after: number | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const answer: Reply['body'] = await ask('GET', `/audit?limit=500${after === null ? '' : `&after=${after}`}`);
    entries.push(...answer.items);
    after = answer.next;
  }
  const acts = entries.filter(({ by }) => /carla|henry|bruno/.test(by));
  const why = (text: string): string[] => [...new Set(acts.filter((entry) => entry.why === text).map(({ by }) => by))];
  expect([...new Set(acts.map(({ by }) => by))].toSorted()).toEqual(['http:bruno', 'http:carla', 'http:henry']);
  expect(acts.filter((entry) => entry.why === 'first rollout')).toHaveLength(300);
  expect(acts.filter((entry) => entry.why === 'quarterly rollout')).toHaveLength(60);
  expect(acts.filter((entry) => entry.why === 'roll back')).toHaveLength(60);
  for (const text of ['month end', 'a better name', 'the relay is back', 'sales asked for it', 'a report each quarter of an hour']) {
    expect([text, ...why(text)]).toEqual([text, 'http:carla']);
  }
  for (const text of ['try a new index', 'stocktaking']) expect([text, ...why(text)]).toEqual([text, 'http:henry']);
  expect(why('the night was lost').toSorted()).toEqual(['http:carla', 'http:henry']);
  expect(why('the relay moves')).toEqual(['http:bruno']);
  expect(acts.filter((entry) => entry.why === null).map(({ action }) => action)).toEqual(['sign in']);
  await page.goto(`${board.url}/audit`);
  await page.getByText('roll back').first().waitFor();
});

test('Sunday: nothing is left to apply, the store verifies, and the browser saw no error', async () => {
  expect((await stint('defs', 'diff', 'before.json', '--prune', '--exit-code')).code).toBe(0);
  const found: string[] = [];
  for await (const violation of verify(board.engine.jobs.store)) found.push(violationText(violation));
  expect([found, board.faults]).toEqual([[], []]);
});
