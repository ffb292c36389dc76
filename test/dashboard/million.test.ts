// The list of runs with a million runs: how fast pages are turned. Only at the size `long`: its setup takes minutes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { test } from '../support/browser.ts';
import { ended } from '../http/world.ts';
import { bySize } from '../support/size.ts';
import { dashboard, picture, type Dashboard } from './world.ts';

const runs = 1_000_000;
const pages = 20;
const rowsAtOnce = 20_000;

describe.runIf(bySize({ small: false, long: true }))('the list of runs with a million runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-million-'));
  let board: Dashboard;
  beforeAll(async () => {
    const file = join(folder, 'jobs.db');
    board = await dashboard({ store: `sqlite:${file}` });
    const sent = await board.start({ type: 'mail.send', input: { to: 'user@example.org' }, tags: { team: 'red' } });
    const failed = await board.start({ type: 'invoice.render', input: { number: 7 } });
    await Promise.all([sent, failed].map((id) => ended(board, id)));
    await copyRuns(file, runs, sent, failed);
  });
  afterAll(async () => {
    await board.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test(`${pages} pages forward and back show each run once, in order`, async () => {
    const page = await board.visit('/runs');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(50);
    const first = await firstId(page);
    const forward = await turns(page, 'Next', first);
    const back = await turns(page, 'Previous', forward.at(-1)!.id);
    expect(back.map(({ id }) => id)).toEqual([first, ...forward.map(({ id }) => id)].slice(0, pages).toReversed());
    expect(new Set(forward.map(({ id }) => id)).size).toBe(pages);
    await picture(page, 'million-runs-light');
    for (const [name, all] of Object.entries({ forward, back })) {
      const [p50, p95] = [0.5, 0.95].map((part) => quantile(all.map(({ ms }) => ms), part)) as [number, number];
      process.stdout.write(`a page ${name} among ${runs} runs: p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms\n`);
    }
    expect(board.faults).toEqual([]);
  });
});

/** Copies rows inside the database, every 20th from the failed run; in batches, so that the server stays responsive. */
async function copyRuns(file: string, count: number, usual: number, unlucky: number): Promise<void> {
  const db = new DatabaseSync(file, { timeout: 30_000 });
  db.exec('PRAGMA synchronous=OFF');
  const columns = db.prepare(`SELECT name FROM pragma_table_info('ended')`).all().map(({ name }) => String(name));
  const others = columns.filter((name) => name !== 'id').join(', ');
  const copy = db.prepare(`
    WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n + 1 < ?1)
    INSERT INTO ended(id, ${others}) SELECT ?2 + n, ${others} FROM series
    JOIN ended ON ended.id = CASE WHEN n % 20 = 0 THEN ?4 ELSE ?3 END`);
  for (let done = 0; done < count; done += rowsAtOnce) {
    copy.run(rowsAtOnce, 1_000 + done, usual, unlucky);
    await turn();
  }
  db.close();
}

interface Turn {
  readonly id: string;
  readonly ms: number;
}

async function turns(page: Page, link: string, from: string): Promise<Turn[]> {
  const all: Turn[] = [];
  for (let number = 0; number < pages; number++) {
    const before = all.at(-1)?.id ?? from;
    const ms = await page.evaluate<number>(clickUntilOthers(link, before));
    all.push({ id: await firstId(page), ms });
  }
  return all;
}

const firstId = (page: Page): Promise<string> => page.locator('tbody td.id').first().innerText();

/** The time from the click to the first frame with other rows, measured in the browser. */
const clickUntilOthers = (link: string, before: string): string => `new Promise((resolve) => {
  const start = performance.now();
  [...document.querySelectorAll('.pager a')].find((a) => a.textContent.includes(${JSON.stringify(link)})).click();
  const check = () => {
    const id = document.querySelector('tbody td.id')?.innerText;
    if (id === undefined || id === ${JSON.stringify(before)}) return requestAnimationFrame(check);
    requestAnimationFrame(() => resolve(performance.now() - start));
  };
  check();
})`;

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!;
