// Stint inside a bundle of one file: without its package.json, its folders and its dependencies beside it.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { version } from '../../src/version.ts';

const program = `
import { Engine, jobType } from ${JSON.stringify(resolve('src/index.ts'))};
const logged = [];
const log = (level) => (text) => logged.push(level + ' ' + text);
const logger = { info: () => {}, warn: log('warn'), error: log('error') };
const greet = jobType('greet', { run: () => 'hello' });
const engine = new Engine({ store: 'sqlite:jobs.db', types: [greet], logger });
await engine.resume();
const run = await engine.createJobRun(greet);
console.log(JSON.stringify({ result: await run.result(), logged }));
await engine.close();
`;

test('the version is that of package.json', () => {
  expect(version).toBe((JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version);
});

test('a bundle of one file executes a run, and says what it cannot do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.ts'), program);
  const outDir = join(folder, 'out');
  await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: { ssr: 'main.ts', outDir, target: 'node24', rolldownOptions: { external: ['pg-native'] } },
  });
  const [bundle] = readdirSync(outDir).filter((name) => /\.m?js$/.test(name));
  const { stdout } = await promisify(execFile)(process.execPath, [bundle!], { cwd: outDir });
  expect(JSON.parse(stdout)).toEqual({
    result: 'hello',
    logged: [expect.stringMatching(/^warn no heartbeat thread/)],
  });
});

test('without node:sqlite the other stores work, and a file is refused with a sentence', async () => {
  const words = ['--no-experimental-sqlite', '--input-type=module', '--eval', `
    import { Engine, jobType } from ${JSON.stringify(resolve('src/index.ts'))};
    const greet = jobType('greet', { run: () => 'hello' });
    const engine = new Engine({ store: 'memory:', types: [greet] });
    await engine.resume();
    const run = await engine.createJobRun(greet);
    console.log(await run.result());
    await engine.close();
    try { new Engine({ store: 'sqlite:jobs.db' }) } catch (error) { console.log(error.message) }
  `];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  expect(stdout).toMatch(/^hello\nthis runtime has no node:sqlite/);
});
