// Lists with 10,000 definitions and a million runs: how fast they answer. Only at the size `long`: its setup takes minutes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { test } from '../support/browser.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, ended } from '../http/world.ts';
import { bySize } from '../support/size.ts';
import { copyRuns, defCount, defName, document, isUnlucky } from './million-rows.ts';
import { dashboard, picture, type Dashboard } from './world.ts';

const runs = 1_000_000;
const pages = 20;
const asked = 30;
const firstCopy = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'stint-million-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const stores = [
  ['SQLite', async () => `sqlite:${join(folder, 'jobs.db')}`],
  ['PostgreSQL', migratedDatabase],
] as const;

describe.runIf(bySize({ small: false, long: true })).each(stores)('%s, 10,000 definitions and a million runs', (name, open) => {
  let board: Dashboard;
  beforeAll(async () => {
    const store = await open();
    board = await dashboard({ store });
    const usual = await board.start({ type: 'mail.send', input: { to: 'user@example.org' }, tags: { team: 'red' } });
    const unlucky = await board.start({ type: 'invoice.render', input: { number: 7 } });
    await Promise.all([usual, unlucky].map((id) => ended(board, id)));
    await board.engine.applyDefinitions(document());
    await copyRuns(store, runs, { usual, unlucky, first: firstCopy });
  });
  afterAll(() => board.close());

  test(`${pages} pages of runs forward and back show each run once, in order`, async () => {
    const page = await board.visit('/runs');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(50);
    const cell = 'tbody td.id';
    const first = await textOf(page, cell);
    const forward = await turns(page, cell, 'Next', first);
    const back = await turns(page, cell, 'Previous', forward.at(-1)!.text);
    expect(back.map(({ text }) => text)).toEqual([first, ...forward.map(({ text }) => text)].slice(0, pages).toReversed());
    expect(new Set(forward.map(({ text }) => text)).size).toBe(pages);
    await picture(page, `million-runs-${name}`);
    tell(name, 'a page of runs forward', forward);
    tell(name, 'a page of runs back', back);
    expect(board.faults).toEqual([]);
  });

  test(`${pages} pages of definitions forward and back show each definition once, in order`, async () => {
    const page = await board.visit('/definitions');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(50);
    const cell = 'tbody a.name';
    const first = await textOf(page, cell);
    const forward = await turns(page, cell, 'Next', first);
    const back = await turns(page, cell, 'Previous', forward.at(-1)!.text);
    expect(back.map(({ text }) => text)).toEqual([first, ...forward.map(({ text }) => text)].slice(0, pages).toReversed());
    // Two definitions of the code come first.
    expect(forward.map(({ text }) => text)).toEqual(Array.from({ length: pages }, (_, n) => defName(50 * (n + 1) - 2)));
    await picture(page, `million-definitions-${name}`);
    tell(name, 'a page of definitions forward', forward);
    tell(name, 'a page of definitions back', back);
    expect(board.faults).toEqual([]);
  });

  test('filters find all definitions that match', async () => {
    const numbers = Array.from({ length: defCount }, (_, n) => n);
    const named = async (query: string): Promise<string[]> => {
      const names: string[] = [];
      for (let after = ''; ;) {
        const { body } = await board.get(`${api}/defs?limit=1000${query}${after}`);
        names.push(...body.items.map((def: { name: string }) => def.name).filter((each: string) => each.startsWith('job ')));
        if (body.next === null) return names;
        after = `&after=${body.next}`;
      }
    };
    const hasRuns = (n: number): boolean => n < defCount - 100;
    const expected: readonly (readonly [string, (n: number) => boolean])[] = [
      ['', () => true],
      ['&lastOutcome=FAILED', (n) => isUnlucky(n) && hasRuns(n)],
      ['&lastOutcome=COMPLETED', (n) => !isUnlucky(n) && hasRuns(n)],
      ['&lastOutcome=NOT_STARTED', (n) => !hasRuns(n)],
      ['&type=invoice.render', isUnlucky],
      ['&tag=team:red', (n) => n % 100 === 7],
      ['&status=disabled', (n) => n % 50 === 1],
      ['&status=undeclared', () => false],
      ['&q=job%20099', (n) => n >= 9_900],
    ];
    for (const [query, isWanted] of expected) {
      expect([query, ...await named(query)]).toEqual([query, ...numbers.filter(isWanted).map(defName)]);
    }
  });

  test('every answer that a page asks for is told with its duration', async () => {
    for (const path of await requests(board)) {
      const all: Timed[] = [];
      for (let count = 0; count < asked; count += 1) {
        const start = performance.now();
        const { status } = await board.get(api + path);
        all.push({ ms: performance.now() - start });
        expect([path, status]).toEqual([path, 200]);
      }
      tell(name, `GET ${path}`, all);
    }
  });
});

/** The requests of the pages: definitions with each filter, one definition, calendar, types, overview, runs, one run. */
async function requests(board: Dashboard): Promise<string[]> {
  const { body } = await board.get(`${api}/defs?limit=1000`);
  const def = encodeURIComponent(defName(4_242));
  const run = firstCopy + 500_000;
  return [
    '/defs?limit=50', `/defs?limit=50&after=${body.items.at(-1).id}`, '/defs?limit=500',
    ...['status=enabled', 'status=disabled', 'status=undeclared', 'status=late', 'lastOutcome=COMPLETED', 'lastOutcome=FAILED',
      'lastOutcome=STOPPED', 'lastOutcome=NOT_STARTED', 'tag=team:red', 'tag=team:none', 'q=099', 'q=none', 'match=*99',
      'type=mail.send', 'type=invoice.render'].map((filter) => `/defs?limit=50&${filter}`),
    `/defs/${def}`, `/defs/${def}/ticks?limit=20`, `/defs/${def}/preview?count=10`, `/runs?def=${def}&limit=50`,
    '/calendar?hours=24', '/calendar?hours=168', '/types', '/types/mail.send', '/stats', '/series?range=1h', '/instances',
    '/defs?status=late&limit=8', '/runs?state=running&state=held&limit=8&with=progress', '/runs?state=failed&limit=8',
    '/runs?limit=50', '/runs?limit=50&type=invoice.render', '/runs?limit=50&state=failed', '/runs/count?state=open',
    `/runs/${run}`, `/runs/${run}/events`, `/runs/${run}/log`, `/runs/${run}/progress`, `/runs/${run}/steps`,
    `/runs/${run}/explain`, '/failures', '/operations', '/flows', '/queues', '/limits', '/audit', '/questions', '/inbox', '/pauses',
    '/alerts', '/store', '/me',
  ];
}

interface Timed {
  readonly ms: number;
}

interface Turn extends Timed {
  readonly text: string;
}

async function turns(page: Page, cell: string, link: string, from: string): Promise<Turn[]> {
  const all: Turn[] = [];
  for (let number = 0; number < pages; number++) {
    const before = all.at(-1)?.text ?? from;
    const ms = await page.evaluate<number>(clickUntilOthers(link, cell, before));
    all.push({ text: await textOf(page, cell), ms });
  }
  return all;
}

const textOf = (page: Page, cell: string): Promise<string> => page.locator(cell).first().innerText();

/** The time from the click to the first frame with other rows, measured in the browser. */
const clickUntilOthers = (link: string, cell: string, before: string): string => `new Promise((resolve) => {
  const start = performance.now();
  [...document.querySelectorAll('.pager a')].find((a) => a.textContent.includes(${JSON.stringify(link)})).click();
  const check = () => {
    const text = document.querySelector(${JSON.stringify(cell)})?.innerText;
    if (text === undefined || text === ${JSON.stringify(before)}) return requestAnimationFrame(check);
    requestAnimationFrame(() => resolve(performance.now() - start));
  };
  check();
})`;

function tell(store: string, what: string, all: readonly Timed[]): void {
  const [p50, p95] = [0.5, 0.95].map((part) => quantile(all.map(({ ms }) => ms), part)) as [number, number];
  process.stdout.write(`${store}: ${what}: p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms\n`);
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!;
