// The packed package on every runtime, with every store and every isolation: a job runs where it should.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InstalledPackage } from '../package/installed-package.ts';
import { cleanEnvironment } from '../package/clean-environment.ts';
import { said } from '../package/said.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { installRuntime, javaScriptRuntimes } from './runtimes.ts';

const hasNpm = spawnSync('npm', ['--version']).status === 0;
const stores = ['memory', 'SQLite', 'PostgreSQL'] as const;
const isolations = ['none', 'thread', 'process'] as const;

const jobs = `import { isMainThread } from 'node:worker_threads';
import { jobType } from 'stint';
const isApart = () => Symbol.for('stint.isolated') in globalThis;
const where = () => (isApart() ? (isMainThread ? 'process' : 'thread') : 'none');
const run = ({ input }) => ({ where: where(), twice: input * 2 });
export const none = jobType('none', { run });
export const inThread = jobType('thread', { isolate: 'thread', module: import.meta.url, run });
export const inProcess = jobType('process', { isolate: 'process', module: import.meta.url, run });
`;

/** Executes one job and prints its result. */
const program = `import { Engine } from 'stint';
import * as jobs from './jobs.mjs';
const [store, isolation] = process.argv.slice(2);
const type = Object.values(jobs).find(({ name }) => name === isolation);
const engine = new Engine({ store, types: [type] });
await engine.resume();
const run = await engine.createJobRun(type, { input: 21 });
const result = await run.result();
await engine.close({ patience: '1s' });
console.log(JSON.stringify(result));
process.exit(0);
`;

describe.skipIf(!hasNpm)('the package', () => {
  const installation = new InstalledPackage();
  const { project } = installation;

  beforeAll(() => {
    installation.install();
    writeFileSync(join(project, 'jobs.mjs'), jobs);
    writeFileSync(join(project, 'program.mjs'), program);
  });
  afterAll(() => installation.remove());

  describe.each(javaScriptRuntimes.map((runtime) => [runtime.name, runtime] as const))('on %s', (_, runtime) => {
    let executable: string | null = null;
    beforeAll(() => {
      executable = installRuntime(installation, runtime);
      if (executable !== null) chmodSync(executable, 0o755);
    });
    afterAll(() => rmSync(join(project, 'runtimes', runtime.name), { recursive: true, force: true }));

    test.for(stores.flatMap((store) => isolations.map((isolation) => [store, isolation] as const)))(
      'executes a job on %s with isolation %s',
      async ([store, isolation], { skip }) => {
        if (executable === null) return skip(`npm cannot install ${runtime.package}`);
        const url = await urlOf(store);
        const words = [...runtime.words, 'program.mjs', url, isolation];
        const out = execFileSync(executable, words, { cwd: project, env: cleanEnvironment(), encoding: 'utf8' });
        expect(JSON.parse(out.trim().split('\n').at(-1)!)).toEqual({ where: isolation, twice: 42 });
      },
    );

    test.runIf(runtime.hasCommand)('the command serves the dashboard and executes a job', async ({ skip }) => {
      if (executable === null) return skip(`npm cannot install ${runtime.package}`);
      const stint = join(project, 'node_modules', 'stint', 'bin', 'stint.js');
      const words = ['serve', '--jobs', 'jobs.mjs', '--store', await urlOf('SQLite'), '--http', '127.0.0.1:0', '--bedrock', 'off'];
      const server = spawn(executable, [stint, ...words], { cwd: project, env: cleanEnvironment() });
      const ended = new Promise((resolve) => server.once('exit', resolve));
      try {
        const url = await said(server, /HTTP +(\S+)/);
        const body = JSON.stringify({ type: 'none', input: 21 });
        const headers = { 'content-type': 'application/json' };
        const { run } = (await (await fetch(`${url}/api/v1/runs`, { method: 'POST', headers, body })).json()) as { run: { id: number } };
        const result = async (): Promise<unknown> =>
          ((await (await fetch(`${url}/api/v1/runs/${run.id}`)).json()) as { result: unknown }).result;
        await expect.poll(result).toEqual({ where: 'none', twice: 42 });
        expect(await (await fetch(url)).text()).toContain('<script');
      } finally {
        server.kill('SIGTERM');
      }
      expect(await ended).toBe(0);
    });
  });

  let files = 0;

  async function urlOf(store: (typeof stores)[number]): Promise<string> {
    if (store === 'memory') return 'memory:';
    return store === 'SQLite' ? `sqlite:jobs-${(files += 1)}.db` : freshDatabase();
  }
});
