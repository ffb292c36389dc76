// The examples of docs/guides/frameworks.md with the real packages: the package of Stint is installed beside them, and each
// server takes a request, executes its job, shows the dashboard, and ends.
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { waitMs } from '../support/patience.ts';
import { freePort } from '../support/postgres.ts';
import { cleanEnvironment } from './clean-environment.ts';
import { frameworks } from './frameworks.ts';
import { InstalledPackage } from './installed-package.ts';
import { npmInstall } from './npm-install.ts';

const installation = new InstalledPackage();
const { project } = installation;
const next = join(project, 'node_modules', 'next', 'dist', 'bin', 'next');
const compiled = {
  compilerOptions: {
    target: 'es2024', lib: ['esnext'], module: 'nodenext', types: ['node'], strict: true, skipLibCheck: true, outDir: 'out',
    experimentalDecorators: true, allowImportingTsExtensions: true, rewriteRelativeImportExtensions: true,
  },
  include: ['*.ts', 'nestjs'],
};

beforeAll(() => {
  installation.install();
  const packages = Object.entries(frameworks).map(([name, version]) => `${name}@${version}`);
  npmInstall(project, packages);
  cpSync('examples/frameworks', project, { recursive: true });
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(compiled));
});
afterAll(() => installation.remove());

interface Server {
  readonly url: string;
  readonly process: ChildProcess;
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

async function start(words: readonly string[], cwd = project): Promise<Server> {
  rmSync(join(cwd, 'jobs.db'), { force: true });
  const port = await freePort();
  const env = { ...cleanEnvironment(), PORT: String(port), HOSTNAME: '127.0.0.1', NEXT_MANUAL_SIG_HANDLE: 'true' };
  const process = spawn(globalThis.process.execPath, words, { cwd, env, stdio: 'ignore' });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    process.once('exit', (code, signal) => resolve(code ?? signal));
  });
  return { url: `http://127.0.0.1:${port}`, process, ended };
}

/** Creates a run and waits for its end. */
async function welcomes({ url }: Server): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ email: 'ada@example.org' });
  const create = (): Promise<Response | null> => fetch(`${url}/users`, { method: 'POST', headers, body }).catch(() => null);
  const created = await vi.waitUntil(create, { timeout: waitMs, interval: 100 });
  expect(created.status).toBe(202);
  const { run } = (await created.json()) as { run: number };
  await expect.poll(async () => (await fetch(`${url}/runs/${run}`)).json()).toEqual({ state: 'DONE' });
}

async function showsDashboard({ url }: Server): Promise<void> {
  expect(await (await fetch(`${url}/jobs/`)).text()).toContain('<title>Stint');
  const statusAs = async (cookie: string): Promise<number> =>
    (await fetch(`${url}/jobs/api/v1/runs`, { headers: { cookie } })).status;
  expect([await statusAs('user=ada'), await statusAs('user=eve')]).toEqual([200, 401]);
}

/** Opens the stream of a dashboard that nobody closes. */
async function staysOpen({ url }: Server): Promise<void> {
  const { status, body } = await fetch(`${url}/jobs/api/v1/stream`, { headers: { cookie: 'user=ada' } });
  expect(status).toBe(200);
  void body!.pipeTo(new WritableStream()).catch(() => {});
}

async function ends({ process, ended }: Server, how: number | NodeJS.Signals = 0): Promise<void> {
  process.kill('SIGTERM');
  expect(await ended).toBe(how);
}

test('the examples compile', () => {
  installation.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
});

describe.each(['express', 'fastify', 'hono'])('%s', (name) => {
  test('creates and executes runs, shows the dashboard, and ends with its jobs while a dashboard is open', async () => {
    const server = await start([`${name}.ts`]);
    await welcomes(server);
    await showsDashboard(server);
    await staysOpen(server);
    await ends(server);
  });
});

test('NestJS calls methods of providers, and closes the engine with the application', async () => {
  const server = await start(['out/nestjs/main.js']);
  await welcomes(server);
  await showsDashboard(server);
  await staysOpen(server);
  await ends(server, 'SIGTERM'); // Nest sends itself the signal again when its hooks have ended
});

test('Next.js executes jobs beside its pages', async () => {
  const folder = join(project, 'nextjs');
  installation.run(process.execPath, [next, 'build'], folder);
  const server = await start([next, 'start'], folder);
  await welcomes(server);
  await ends(server);
});

test('esbuild makes one file of a server', async () => {
  const words = ['express.ts', '--bundle', '--platform=node', '--format=esm', '--outfile=bundled/server.mjs', '--external:pg-native'];
  // Packages in CommonJS, such as Express, call `require`, which modules do not have.
  const banner = '--banner:js=import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  installation.run(process.execPath, ['node_modules/esbuild/bin/esbuild', ...words, banner]);
  const server = await start(['bundled/server.mjs']);
  await welcomes(server);
  await ends(server);
});
