// A real server with the built dashboard and a few job types, and a browser.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { buildIfStale, builtFolder } from '../../dashboard/build.ts';
import { cron, every, jobDef, jobType, typed } from '../../src/index.ts';
import { plainPage, sharedBrowser } from '../support/browser.ts';
import { waitMs } from '../support/patience.ts';
import { bySize } from '../support/size.ts';
import { api, world, type World, type WorldOptions } from '../http/world.ts';

export interface Dashboard extends World {
  readonly browser: Browser;
  /**
   * Opens a path of the dashboard, in the light theme and 1360 px wide, for a user who was never there before. The page
   * is that of the visit before, since a new one starts a process and costs twice the CPU. With options it is a new one,
   * which the test closes.
   */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Starts a run; returns its number. */
  start(ask: Record<string, unknown>): Promise<number>;
  /** Exceptions in the browser, violations of the content policy, and requests to other hosts. */
  readonly faults: readonly string[];
}

const artefacts = join(import.meta.dirname, '..', '..', 'artefacts', 'dashboard');

/** Keeps a handler running until it is aborted. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

export const mail = jobType('mail.send', {
  run: ({ input, log }) => {
    log.info(`sending to ${(input as { to?: string } | null)?.to ?? 'nobody'}`);
    log.warn('the relay is slow today');
    return { accepted: true, messageId: '<20261115.8841@example>' };
  },
});
export const invoice = jobType('invoice.render', {
  retry: { attempts: 1 },
  run: () => {
    throw new Error('template invoice-2026 has no block "total"');
  },
});
export const sync = jobType('ledger.sync', {
  run: async ({ signal, progress, log, output }) => {
    progress.startingStage('Accounts', { total: 40, onFailure: 'SKIP_ITEM' });
    for (let number = 1; number <= 12; number++) {
      progress.startingItem(`account ${number}`);
      if (number === 7) progress.failedItem(new Error('account 7 is locked'));
      else progress.completedItem();
    }
    progress.startingItem('account 13');
    log.info('twelve of forty accounts are through');
    for (const text of ['Balance: ', '1,024 € ', 'so far']) await output.write(text);
    await output.write({ account: 12 });
    return untilAborted(signal);
  },
});
/** Each retry writes something else. */
export const story = jobType('story', { run: ({ output, fence }) => output.write(`chapter ${fence}`) });
/** Ignores a cancel. */
export const deaf = jobType('deaf', { run: () => new Promise(() => {}) });
/** Handed off until someone approves. */
export const approval = jobType('approval', { retry: { attempts: 1 }, run: ({ handOff }) => handOff() });
const tilesAllowedFirst = 20;
/** Slow tiles with a higher number wait. */
let tilesAllowed = tilesAllowedFirst;
let nextAllowance = Promise.withResolvers<void>();

/** Lets slow tiles up to a number continue. */
export function allowTiles(upTo: number): void {
  tilesAllowed = upTo;
  nextAllowance.resolve();
  nextAllowance = Promise.withResolvers();
}

/** Counts five of thirty items; a cancel skips the rest. */
export const rows = jobType('rows.copy', {
  run: async ({ signal, progress }) => {
    const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
    await progress.runStage(numbers, (number) => `row ${number}`, async (number) => {
      if (number > 5) await untilAborted(signal);
    });
  },
});
/** Every 50th task fails. */
export const tiles = jobType('map.tiles', {
  input: typed<{ count: number; slow?: boolean }>(),
  retry: { attempts: 1 },
  *taskDetails({ input }) {
    for (let number = 1; number <= input.count; number++) yield { number, slow: input.slow ?? false };
  },
  taskResults: async ({ task, signal }) => {
    while (task.slow && task.number > tilesAllowed) await Promise.race([nextAllowance.promise, untilAborted(signal)]);
    if (task.number % 50 === 0) throw new Error(`tile ${task.number} is outside of the map`);
    return task.number;
  },
  jobResults: ({ counts }) => counts,
});
export const nightly = jobDef('nightly invoices', invoice, { schedules: [cron('30 2 * * *')] });
export const heartbeat = jobDef('heartbeat', mail, { params: { to: 'ops@example.org' }, schedules: [every('1h')] });

export async function dashboard(options: WorldOptions = {}): Promise<Dashboard> {
  allowTiles(tilesAllowedFirst); // another file of this process may have allowed more
  await buildIfStale();
  const server = await world({
    dashboard: builtFolder,
    engine: { types: [mail, invoice, sync, story, deaf, tiles, rows, approval], defs: [nightly, heartbeat], slots: 8 },
    ...options,
  });
  const browser = await sharedBrowser();
  const pages: Page[] = [];
  const faults: string[] = [];
  let usual: Page | undefined;
  const open = async (settings: BrowserContextOptions): Promise<Page> => {
    const page = await browser.newPage({ ...plainPage, viewport, ...settings });
    pages.push(page);
    page.setDefaultTimeout(waitMs);
    watch(page, server.url, faults);
    return page;
  };
  const usualPage = async (): Promise<Page> => {
    if (usual === undefined) usual = await open({});
    else await forgetVisit(usual);
    return usual;
  };
  return {
    ...server,
    browser,
    faults,
    async visit(path, options) {
      const page = options === undefined ? await usualPage() : await open(options);
      await page.goto(server.url + path);
      return page;
    },
    async start(ask) {
      const { status, body } = await server.post(`${api}/runs`, ask);
      if (status !== 201) throw new Error(`cannot start a run: ${JSON.stringify(body)}`);
      return body.id;
    },
    async close() {
      for (const page of pages) await page.close();
      await server.close();
    },
  };
}

const viewport = { width: 1360, height: 860 };

/** Removes what a visit leaves in the browser beyond its document. */
async function forgetVisit(page: Page): Promise<void> {
  await page.evaluate('localStorage.clear()');
  await page.context().clearCookies();
  await page.unrouteAll();
  await page.mouse.move(0, 0);
  await page.setViewportSize(viewport);
}

function watch(page: Page, home: string, faults: string[]): void {
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(home) && !request.url().startsWith('data:')) faults.push(`requested ${request.url()}`);
  });
}

const hasPictures = bySize({ small: false, ci: true });

/** Saves a screenshot for people, in the proof only; no test compares it. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!hasPictures) return;
  mkdirSync(artefacts, { recursive: true });
  await page.screenshot({ path: join(artefacts, `${name}.png`), fullPage: true });
}

/** The serious and critical violations that axe finds in the page, or only in the elements that match a selector. */
export async function violations(page: Page, selector = 'html'): Promise<string[]> {
  // Evaluated, because the content policy refuses an added script.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axeSource);
  return page.evaluate(async ({ selector: checked, options }) => {
    const { axe } = globalThis as unknown as { axe: { run: (checked: string, options: object) => Promise<AxeResults> } };
    const { violations: found } = await axe.run(checked, options);
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  }, { selector, options: axeOptions });
}

/** The two rules that are off are of moderate impact, which `serious` leaves out, and take long. */
const axeOptions = {
  resultTypes: ['violations'],
  preload: false,
  rules: { region: { enabled: false }, 'landmark-unique': { enabled: false } },
};

/** By how many pixels the page can be scrolled sideways; must be 0 on a phone. */
export const sidewaysScroll = async (page: Page): Promise<number> => {
  // Not innerWidth: the browser of a phone zooms out until a page that is too wide fits.
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  return Math.max(0, width - page.viewportSize()!.width);
};

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const dark: BrowserContextOptions = { colorScheme: 'dark' };
