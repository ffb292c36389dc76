// The documentation site: it has every page of docs/, finds what is searched, and is accessible in both themes.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test as anyTest } from 'vitest';
import { version } from '../../src/version.ts';
import { picture, violations } from '../dashboard/world.ts';
import { cleanEnvironment } from '../package/clean-environment.ts';
import { plainPage, sharedBrowser, test } from '../support/browser.ts';

const checkout = mkdtempSync(join(tmpdir(), 'stint-site-'));
const built = join(checkout, 'built');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.woff2': 'font/woff2',
};
let server: Server;
let url = '';

beforeAll(async () => {
  for (const path of ['docs', 'site', 'package.json', 'tsconfig.json']) {
    cpSync(path, join(checkout, path), { recursive: true, filter: (source) => !source.includes('node_modules') });
  }
  const options = { cwd: join(checkout, 'site'), env: cleanEnvironment(), stdio: 'pipe' } as const;
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], options);
  execFileSync(process.execPath, ['build.ts', built], options);
  server = createServer(({ url: path = '/' }, response) => {
    const name = decodeURI(path.split(/[?#]/)[0]!).replace(`/${version}`, '').replace(/\/$/, '/index');
    const file = join(built, extname(name) in types ? name : `${name}.html`);
    try {
      response.setHeader('content-type', types[extname(file)]!).end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${version}`;
});

afterAll(() => {
  server?.close();
  rmSync(checkout, { recursive: true, force: true });
});

anyTest('every page of docs/ is on the site', () => {
  const pages = globSync('**/*.md', { cwd: 'docs' }).map((page) => page.replace(/(README)?\.md$/, (_, index) => (index ? 'index.html' : '.html')));
  expect(pages.filter((page) => !globSync('**/*.html', { cwd: built }).includes(page))).toEqual([]);
});

anyTest('pages have no link that leads out of the site', () => {
  for (const page of globSync('**/*.html', { cwd: built })) {
    const links = [...readFileSync(join(built, page), 'utf8').matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href!);
    const outer = links.filter((href) => !/^(https?:|#)/.test(href) && !new URL(href, `${url}/${page}`).href.startsWith(url));
    expect({ page, outer }).toEqual({ page, outer: [] });
  }
});

test.each(['light', 'dark'] as const)('axe finds no serious violation, %s', async (colorScheme) => {
  const context = await (await sharedBrowser()).newContext({ ...plainPage, colorScheme });
  const page = await context.newPage();
  for (const path of ['/', '/guides/define', '/reference/options']) {
    await page.goto(`${url}${path}`);
    await page.locator('main h1').waitFor();
    expect({ path, found: await violations(page) }).toEqual({ path, found: [] });
    await picture(page, `site${path.replaceAll('/', '-')}-${colorScheme}`);
  }
  await context.close();
});

test('a search leads to the page', async () => {
  const context = await (await sharedBrowser()).newContext(plainPage);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(`${url}/`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByPlaceholder('Search').fill('fairness');
  await page.getByRole('option').first().click();
  await page.waitForURL(/\/(guides|reference)\//);
  expect(errors).toEqual([]);
  await context.close();
});
