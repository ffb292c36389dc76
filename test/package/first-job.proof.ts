// From `npm install` of the packed file to the first job in the dashboard, as a stranger does it. The transcript with its
// times is printed and stored as artifacts/first-job.txt; no time is asserted.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, expect } from 'vitest';
import { launchBrowser, plainPage, test } from '../support/browser.ts';
import { waitMs } from '../support/patience.ts';
import { cleanEnvironment } from './clean-environment.ts';
import { InstalledPackage } from './installed-package.ts';

/** npm warns of settings of the machine on which it runs. */
const isOfThisMachine = (line: string): boolean => line.startsWith('npm warn Unknown user config');

const artifacts = fileURLToPath(new URL('../../artifacts', import.meta.url));

/** A terminal of the stranger, which notes when each line appears. */
class Terminal {
  readonly lines: string[] = [];
  readonly #folder: string;
  readonly #start = performance.now();
  readonly #ended: (() => Promise<void>)[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  note(text: string): void {
    const seconds = ((performance.now() - this.#start) / 1_000).toFixed(1);
    for (const line of stripVTControlCharacters(text).replaceAll(this.#folder, '~/my-jobs').split('\n')) {
      if (line.trim() !== '' && !isOfThisMachine(line)) this.lines.push(`${seconds.padStart(5)} s  ${line.trimEnd()}`);
    }
  }

  /** Runs an installation, once more if it fails: npm can wait forever without a connection to the registry. */
  async install(command: string): Promise<void> {
    try {
      await this.run(command, waitMs);
    } catch (error) {
      this.note(`(once more, after ${String(error)})`);
      await this.run(command, waitMs);
    }
  }

  /** Runs a command to its end, and kills it after a time if one is given. */
  async run(command: string, maxMs?: number): Promise<void> {
    const child = this.#spawn(command);
    const killing = maxMs === undefined ? undefined : setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), maxMs);
    const code = await new Promise((resolve) => child.once('close', resolve));
    clearTimeout(killing);
    if (code !== 0) throw new Error(`${command} ended with ${String(code)}:\n${this.lines.join('\n')}`);
  }

  /** Starts a command that goes on, and returns the part of its output that the pattern selects. */
  start(command: string, pattern: RegExp): Promise<string> {
    const child = this.#spawn(command);
    this.#ended.push(async () => {
      const closed = new Promise((resolve) => child.once('close', resolve));
      process.kill(-child.pid!, 'SIGTERM');
      await closed;
    });
    return new Promise((resolve, reject) => {
      let output = '';
      child.stdout!.on('data', (piece: Buffer) => {
        const [, found] = pattern.exec((output += piece.toString())) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once('close', () => reject(new Error(`${command} ended:\n${this.lines.join('\n')}`)));
    });
  }

  async end(): Promise<void> {
    for (const end of this.#ended) await end();
  }

  /** In a process group of its own, because npx starts further processes. */
  #spawn(command: string): ChildProcess {
    this.note(`$ ${command}`);
    const child = spawn(command, {
      cwd: this.#folder, env: cleanEnvironment(), shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const output of [child.stdout, child.stderr]) output.on('data', (piece: Buffer) => this.note(piece.toString()));
    return child;
  }
}

const installation = new InstalledPackage();

afterAll(() => installation.remove());

test('a stranger who installs the packed file sees the first job in the dashboard', async () => {
  const file = installation.pack();
  const browser = await launchBrowser();
  const terminal = new Terminal(installation.project);
  try {
    await terminal.install(`npm install ./${file} --no-audit --no-fund`);
    await terminal.run('npx stint init');
    await terminal.run('npm pkg set type=module');
    const url = await terminal.start('npx stint dev --http 127.0.0.1:0 --bedrock off', /HTTP +(http:\S+)/);
    await terminal.run(`npx stint runs create greet --input '{"name":"Ada"}'`);
    const page = await browser.newPage(plainPage);
    page.setDefaultTimeout(waitMs);
    await page.goto(`${url}/runs`);
    terminal.note('(a browser opens /runs)');
    const row = page.locator('tbody tr', { hasText: 'greet' });
    await row.getByText('succeeded').waitFor();
    terminal.note(`(it shows: ${(await row.innerText()).replaceAll(/\s+/g, ' ')})`);
    await row.getByRole('link').first().click();
    await page.getByText('Hello, Ada!').first().waitFor();
    terminal.note('(the page of the run shows its result: Hello, Ada!)');
    expect(await page.getByRole('heading', { name: /^greet / }).count()).toBe(1);
  } finally {
    await terminal.end();
    await browser.close();
  }
  const transcript = `${terminal.lines.join('\n')}\n`;
  mkdirSync(artifacts, { recursive: true });
  writeFileSync(join(artifacts, 'first-job.txt'), transcript);
  console.log(transcript);
});
