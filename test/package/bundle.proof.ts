// Stint inside a bundle of one file: without its package.json, its folders and its dependencies beside it.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { Isolation } from '../../src/engine/isolation/isolation.ts';
import { Engine } from '../../src/index.ts';
import { version } from '../../src/version.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { waitMs } from '../support/patience.ts';

const program = `
import { Engine, jobType } from ${JSON.stringify(resolve('src/index.ts'))};
const logged = [];
const log = (level) => (text) => logged.push(level + ' ' + text);
const logger = { info: () => {}, warn: log('warn'), error: log('error') };
const greet = jobType('greet', { run: () => 'hello' });
const main = async () => {
  const engine = new Engine({ store: 'sqlite:jobs.db', types: [greet], logger });
  await engine.resume();
  const run = await engine.createJobRun(greet);
  console.log(JSON.stringify({ result: await run.result(), logged }));
  await engine.close();
};
void main();
`;

test('the version is that of package.json', () => {
  expect(version).toBe((JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version);
});

test.each([
  { kind: 'ES module', format: 'es', define: {} },
  // esbuild, whose default for Node is CommonJS, makes import.meta an empty object.
  { kind: 'CommonJS module', format: 'cjs', define: { 'import.meta': '({})' } },
] as const)('a bundle of one $kind executes a run, and says what it cannot do', async ({ format, define }) => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.ts'), program);
  const outDir = join(folder, 'out');
  await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    define,
    build: { ssr: 'main.ts', outDir, target: 'node24', rolldownOptions: { output: { format }, external: ['pg-native'] } },
  });
  const [bundle] = readdirSync(outDir).filter((name) => /\.[cm]?js$/.test(name));
  const { stdout } = await promisify(execFile)(process.execPath, [bundle!], { cwd: outDir });
  expect(JSON.parse(stdout)).toEqual({
    result: 'hello',
    logged: [expect.stringMatching(/^warn no heartbeat thread/)],
  });
});

const jobs = `
import { DatabaseSync } from 'node:sqlite';
import { threadId } from 'node:worker_threads';
import { Fail, jobType } from ${JSON.stringify(resolve('src/index.ts'))};
const module = import.meta.url;
const where = ({ log }) => {
  log.info('here');
  return process.pid + '.' + threadId;
};
export const inThread = jobType('in-thread', { module, isolate: 'thread', run: where });
export const inProcess = jobType('in-process', { module, isolate: 'process', run: where });
export const failing = jobType('failing', { module, isolate: 'thread', run: () => { throw new Fail('no retry'); } });
/** Blocks the event loop until its attempt has been recorded as timed out. */
export const blocking = jobType('blocking', {
  timeout: '1s',
  retry: { attempts: 1 },
  run: ({ run }) => {
    const db = new DatabaseSync('jobs.db', { readOnly: true });
    const ended = db.prepare('SELECT 1 FROM ended WHERE id = ?');
    for (const end = Date.now() + ${waitMs}; Date.now() < end && ended.get(run.id) === undefined; );
    return 'not interrupted';
  },
});
`;

const programWithEntries = `
import { Engine } from ${JSON.stringify(resolve('src/index.ts'))};
import { blocking, failing, inProcess, inThread } from './jobs.ts';
const logged = [];
const logger = { info: () => {}, warn: (text) => logged.push(text), error: (text) => logged.push(text) };
const { dirname } = import.meta;
const entries = { heartbeat: dirname + '/heartbeat.js', isolation: new URL('file://' + dirname + '/isolated.js') };
const engine = new Engine({ store: 'sqlite:jobs.db', types: [blocking, failing, inThread, inProcess], logger, entries });
await engine.resume();
const resultOf = async (type) => (await engine.createJobRun(type)).result().catch((error) => error.error.code);
const places = [await resultOf(inThread), await resultOf(inProcess)];
const failed = await engine.createJobRun(failing);
await failed.result().catch(() => {});
const { attempt } = await failed.get();
console.log(JSON.stringify({ own: process.pid + '.0', places, attempt, blocked: await resultOf(blocking) }));
await engine.close();
`;

test('a bundle with files for its threads and processes isolates handlers and enforces timeouts of blocking ones', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.ts'), programWithEntries);
  writeFileSync(join(folder, 'jobs.ts'), jobs);
  const outDir = join(folder, 'out');
  const input = {
    main: join(folder, 'main.ts'),
    jobs: join(folder, 'jobs.ts'),
    heartbeat: resolve('src/open/backup-heartbeat-thread.ts'),
    isolated: resolve('src/engine/isolation/child/main.ts'),
  };
  const output = { entryFileNames: '[name].js' };
  await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: { ssr: true, outDir, target: 'node24', rolldownOptions: { input, output, external: ['pg-native'] } },
  });
  writeFileSync(join(outDir, 'package.json'), '{"type":"module"}');
  const { stdout } = await promisify(execFile)(process.execPath, ['main.js'], { cwd: outDir });
  const { own, places, attempt, blocked } = JSON.parse(stdout) as Record<string, string> & { places: string[] };
  expect(new Set([own, ...places]).size).toBe(3);
  expect([attempt, blocked]).toEqual([1, 'timed out']);
});

test('a bundle of one file refuses to start with isolated job types, and says what to do', async () => {
  const isolation = new Isolation({ entry: new URL('file:///nowhere/main.js') });
  expect(() => isolation.requireEntry([])).not.toThrow();
  expect(() => isolation.requireEntry(['resize'])).toThrow(/job type resize is isolated, .* set entries\.isolation/);
});

test.each([
  ['', 'it must be a path or a file URL'],
  [7, 'it must be a path or a file URL'],
  [new URL('https://example.org/heartbeat.js'), 'it must be a path or a file URL'],
  ['file:///%', 'it must be a path or a file URL'],
  ['src', /^entries\.heartbeat: there is no file \S+\/src$/],
  ['missing.js', /^entries\.heartbeat: there is no file \S+\/missing\.js$/],
])('an entry that is no file is refused: %s', (heartbeat, message) => {
  expect(() => new Engine({ store: 'memory:', entries: { heartbeat: heartbeat as string } })).toThrow(message);
});

test.each([
  ['memory', () => 'memory:'],
  ['PostgreSQL', freshDatabase],
])('without node:sqlite a store on %s works, and a file is refused with a sentence', async (_, url) => {
  const words = ['--no-experimental-sqlite', '--input-type=module', '--eval', `
    import { Engine, jobType } from ${JSON.stringify(resolve('src/index.ts'))};
    const greet = jobType('greet', { run: () => 'hello' });
    const engine = new Engine({ store: ${JSON.stringify(await url())}, types: [greet] });
    await engine.resume();
    const run = await engine.createJobRun(greet);
    console.log(await run.result());
    await engine.close();
    try { new Engine({ store: 'sqlite:jobs.db' }) } catch (error) { console.log(error.message) }
  `];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  expect(stdout).toMatch(/^hello\nthis runtime has no node:sqlite/);
});
