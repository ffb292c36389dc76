// Where the tests get their browser from.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export const browserAdvice =
  'Install Chromium (Debian and Ubuntu: apt-get install chromium) or set CHROME_PATH to a Chromium or Chrome.';

/** The headless shell needs half the CPU of the whole browser. */
const programs = [
  'chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable',
];
const chromeOnMac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/** The path of a browser, or `npm`: the package has one for Linux x64. Null: this machine has none. */
export function browserSource(): string | null {
  const { CHROME_PATH: wanted } = process.env;
  if (wanted !== undefined) return wanted;
  if (process.platform === 'linux' && process.arch === 'x64') return 'npm';
  return installedBrowser();
}

function installedBrowser(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = programs.flatMap((program) => folders.map((folder) => join(folder, program)));
  return [...candidates, chromeOnMac].find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
