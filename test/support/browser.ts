// A real Chromium for tests: the one that CHROME_PATH names, else the one inside the npm package, else an installed
// one.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type LaunchOptions } from 'playwright-core';
import { test as anyTest } from 'vitest';
import { browserAdvice, browserSource } from './browser-source.ts';
import { detailIf } from './detail.ts';

const modules = join(import.meta.dirname, '..', '..', 'node_modules');
const chromiumPackage = join(modules, '@sparticuz', 'chromium');

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--font-render-hinting=none',
  '--lang=en-US',
];

/**
 * For `browser.newPage(…)`: without a locale of its own the browser takes `en-US@posix`, on which Intl throws. Every
 * frame of an animation would be drawn by the CPU.
 */
export const plainPage: BrowserContextOptions = { locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' };

/** `test` for what needs a browser: skipped where the machine has none. */
export const test = anyTest.skipIf(browserSource() === null);

/** `test` for details of pages: only in the proof. npm test has what users do on each page. */
export const detail = detailIf(browserSource() !== null);

let shared: Promise<Browser> | undefined;

/** One browser for all test files of this process; it ends with the process. */
export const sharedBrowser = (): Promise<Browser> => (shared ??= launchBrowser());

export async function launchBrowser(): Promise<Browser> {
  const source = browserSource();
  if (source === null) throw new Error(`cannot start a browser: none was found. ${browserAdvice}`);
  const options = source === 'npm' ? await executableFromNpm() : { executablePath: source };
  return chromium.launch({ args: flags, ...options });
}

async function executableFromNpm(): Promise<LaunchOptions> {
  const home = join(modules, '.cache', `chromium-${packageVersion()}`);
  if (!existsSync(home)) await unpackInto(home);
  const libraries = [process.env['LD_LIBRARY_PATH'], join(home, 'al2023', 'lib')].filter(Boolean).join(':');
  const env = {
    ...(process.env as Record<string, string>),
    LC_ALL: 'en_US.UTF-8',
    FONTCONFIG_FILE: join(home, 'fonts.conf'),
    LD_LIBRARY_PATH: libraries,
  };
  return { executablePath: join(home, 'chromium'), env };
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(chromiumPackage, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Unpacks beside and renames at the end, so that two test files at once see a whole browser or none. */
async function unpackInto(home: string): Promise<void> {
  mkdirSync(dirname(home), { recursive: true });
  const part = mkdtempSync(`${home}-`);
  await withTemporaryFolder(part, async () => {
    const { default: sparticuz, inflate } = await import('@sparticuz/chromium');
    sparticuz.setGraphicsMode = false;
    await sparticuz.executablePath();
    await inflate(join(chromiumPackage, 'bin', 'al2023.tar.br'));
  });
  writeFileSync(join(part, 'fonts.conf'), fontConfiguration(home));
  try {
    renameSync(part, home);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(home)) throw error; // else another process was quicker
  }
}

/** The package unpacks into os.tmpdir(), and has no option for another folder. */
async function withTemporaryFolder(folder: string, work: () => Promise<void>): Promise<void> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    await work();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

/** Without a font configuration of our own a page would show no text at all. */
function fontConfiguration(home: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${home}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${home}/fonts-cache</cachedir>
</fontconfig>
`;
}
