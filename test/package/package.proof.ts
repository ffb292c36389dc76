// What is published: packed, installed in an empty project, and used there as a stranger would.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { cleanEnvironment } from './clean-environment.ts';
import { InstalledPackage } from './installed-package.ts';
import { said } from './said.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const hasNpm = spawnSync('npm', ['--version']).status === 0;

const jobs = `import { jobType, jobDef, every } from 'stint';

const shout = jobType('shout', {
  run: ({ input, log }: { input: unknown; log: { info(text: string): void } }) => {
    log.info('shouting');
    return String((input as { text: string }).text).toUpperCase();
  },
});

export const daily = jobDef('shout daily', shout, { params: { text: 'hello' }, schedules: every('1d') });
`;

const isolated = `import { isMainThread } from 'node:worker_threads';
import { jobType } from 'stint';
const run = ({ input }) => \`\${input} in a \${isMainThread ? 'process' : 'thread'} apart: \${Symbol.for('stint.isolated') in globalThis}\`;
export const inThread = jobType('in-thread', { isolate: 'thread', module: import.meta.url, run });
export const inProcess = jobType('in-process', { isolate: 'process', module: import.meta.url, run });
`;

const library = `import { strict as assert } from 'node:assert';
import { Engine, jobType, version } from 'stint';
import { testEngine } from 'stint/testing';
import { Client } from 'stint/client';
import { openStore, SqliteStore } from 'stint/store';
import { createHttp } from 'stint/server';
import { inProcess, inThread } from './isolated.mjs';
const double = jobType('double', { run: ({ input }) => Number(input) * 2 });
await using engine = new Engine({ store: 'sqlite:own.db', types: [double, inThread, inProcess] });
await engine.resume();
assert.equal(await (await engine.createJobRun(double, { input: 21 })).result(), 42);
for (const type of [inThread, inProcess]) {
  const where = type === inThread ? 'thread' : 'process';
  assert.equal(await (await engine.createJobRun(type, { input: 'it ran' })).result(), 'it ran in a ' + where + ' apart: true');
}
for (const each of [testEngine, Client, openStore, SqliteStore, createHttp]) assert.equal(typeof each, 'function');
console.log('library', version);
`;

interface Bill {
  readonly bomFormat: string;
  readonly components: readonly { readonly name: string }[];
}

describe.skipIf(!hasNpm)('the package', () => {
  const installation = new InstalledPackage();
  const { folder, project } = installation;
  const run = (command: string, words: string[]): string => installation.run(command, words);
  const clean = cleanEnvironment();

  beforeAll(() => {
    installation.install();
    writeFileSync(join(project, 'jobs.ts'), jobs);
    writeFileSync(join(project, 'isolated.mjs'), isolated);
    writeFileSync(join(project, 'library.mjs'), library);
  });

  afterAll(() => installation.remove());

  test('has no sources, and needs nothing that only the tests need', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(manifest).not.toHaveProperty('scripts');
    expect(JSON.stringify(manifest['exports'])).not.toContain('src/');
    expect(manifest['dependencies']).not.toHaveProperty('croner');
    expect(manifest).toMatchObject({ engines: { node: '^22.23.0 || >=24.15.0' } });
    for (const field of ['keywords', 'files', 'license']) expect(manifest).toHaveProperty(field);
  });

  test('contains the documentation, a bill of materials, and no map of a missing source', () => {
    const installed = join(project, 'node_modules', 'stint');
    const files = globSync('**/*', { cwd: installed, exclude: ['node_modules/**'] });
    const expected = ['docs/guides/deploy.md', 'llms.txt', 'SECURITY.md', 'LICENSE', 'sbom.cdx.json', 'README.md'];
    expect(files).toEqual(expect.arrayContaining(expected));
    expect(files.filter((path) => /(?<!dashboard.*)\.map$|\.test\.|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    const scripts = files.filter((path) => path.endsWith('.js'));
    const hasMap = (path: string): boolean => readFileSync(join(installed, path), 'utf8').includes('\n//# sourceMappingURL');
    expect(scripts.filter(hasMap)).toEqual([]);
    const links = readFileSync(join(installed, 'llms.txt'), 'utf8').matchAll(/\]\((\S+?)\)/g);
    expect([...links].map(([, path]) => path!).filter((path) => !files.includes(path))).toEqual([]);
  });

  test('lists in its bill of materials what an installation contains', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as Bill;
    const listed = components.map(({ name }) => name);
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies: object };
    expect(bomFormat).toBe('CycloneDX');
    expect(listed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    for (const tool of ['typescript', 'vitest', 'croner', '@stint/node']) expect(listed).not.toContain(tool);
  });

  test('can be published, as far as a rehearsal shows, which names what the checklist leaves open', () => {
    const publish = join(root, 'tools', 'package', 'publish.ts');
    const rehearsal = spawnSync(process.execPath, [publish, '--dry-run'], { cwd: root, env: clean, encoding: 'utf8' });
    expect(rehearsal.status, rehearsal.stderr).toBe(0);
    expect(rehearsal.stdout).toContain(`+ stint@${version}`);
    expect(rehearsal.stderr).toContain('open in tools/package/release.json: repository');
  });

  test('every entry can be imported, and jobs run, also in threads and processes of their own', () => {
    expect(run(process.execPath, ['library.mjs'])).toMatch(/^library \d+\.\d+\.\d+/);
  });

  test('its types compile in a strict program that checks its libraries and has none of the optional ones', () => {
    writeFileSync(join(project, 'typed.ts'), `import { Engine, jobType, typed } from 'stint';
      import { testEngine } from 'stint/testing';
      import { mountHttp } from 'stint/server';
      import { Client } from 'stint/client';
      import { openStore } from 'stint/store';
      const double = jobType('double', { input: typed<number>(), run: ({ input }) => input * 2 });
      const engine = new Engine({ store: 'memory:', types: [double] });
      const result: number = await (await engine.createJobRun(double, { input: 21 })).result();
      // @ts-expect-error: a wrong input does not compile
      await engine.createJobRun(double, { input: 'x' });
      export { result, testEngine, mountHttp, Client, openStore };`);
    const settings = { strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', target: 'es2024' };
    const compilerOptions = { ...settings, types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
    expect(run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project])).toBe('');
  });

  test('serves the jobs of a file, and one of them runs', async () => {
    const bin = join(project, 'node_modules', '.bin', 'stint');
    const server = spawn(
      process.execPath,
      [bin, 'serve', '--jobs', 'jobs.ts', '--http', '127.0.0.1:0', '--bedrock', 'off'],
      {
        cwd: project,
        env: clean,
      },
    );
    try {
      const url = await said(server, /HTTP +(\S+)/);
      const created = await fetch(`${url}/api/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'shout', input: { text: 'quiet' } }),
      });
      const { id } = (await created.json()) as { id: number };
      run(process.execPath, [bin, 'runs', 'watch', String(id)]);
      const { result } = (await (await fetch(`${url}/api/v1/runs/${id}`)).json()) as { result: unknown };
      expect(result).toBe('QUIET');
      expect(await (await fetch(url)).text()).toContain('<script');
    } finally {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
    }
  });
});
