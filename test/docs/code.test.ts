// What the pages show is true: TypeScript compiles, programs and commands run, and print what the page says they print.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { testMs } from '../support/patience.ts';
import { isInstalled, python } from '../support/runtimes.ts';
import { bySize } from '../support/size.ts';
import { programOf, readPages, root, type Fence, type Page } from './page.ts';
import { Project, type Started } from './project.ts';

// Dozens of processes that strip their types, on a machine that may be busy.
vi.setConfig({ maxConcurrency: 3 });

const pages = readPages();

/** What is executed: in npm test the pages that a new user reads first, in the proof all. */
const firstPages = ['README.md', 'docs/guides/define.md', 'docs/guides/schedule.md'];
const executed = pages.filter(({ path }) => bySize({ small: firstPages.includes(path), ci: true }));

const project = new Project();
afterAll(() => project[Symbol.dispose]());

const nameOf = ({ path }: Page): string => path.replace(/\.md$/, '').replaceAll('/', '-');
const isApart = ({ info }: Fence): boolean => info === 'ts apart' || isTest(info);
const isTest = (info: string): boolean => info === 'ts test';
const isNotRun = ({ info }: Fence): boolean => / not run: ./.test(info);
const having = (language: string) => pages.filter(({ fences }) => fences.some((fence) => fence.language === language));
const each = (some: readonly Page[]) => some.map((page) => [page.path, page] as const);

/** What can be done with a block, by its language. Anything else must say why nothing is. Go is compiled by test/clients. */
const known = ['ts', 'sh', 'sql', 'json', 'python', 'go', 'session', 'text'];

test.each(each(pages))('every block of %s is checked, or says why not', (_, { fences }) => {
  const unchecked = fences.filter((fence) => !known.includes(fence.language) && !isNotRun(fence));
  expect(unchecked.map(({ info, line }) => `line ${line}: ${info}`)).toEqual([]);
});

describe('TypeScript', () => {
  let complaints: string[] = [];

  beforeAll(async () => {
    for (const page of having('ts')) {
      const fences = page.fences.filter((fence) => fence.language === 'ts' && !isNotRun(fence));
      project.write(`${nameOf(page)}.ts`, `${programOf(fences.filter((fence) => !isApart(fence)))}\nexport {};\n`);
      for (const fence of fences.filter(isApart)) {
        const name = `${nameOf(page)}-${fence.line}${isTest(fence.info) ? '.test' : ''}`;
        project.write(`${name}.ts`, `${programOf([fence])}\nexport {};\n`);
      }
    }
    project.write('wrong.ts', "import { cron } from 'stint';\ncron(7);\n");
    complaints = await project.typecheck();
  });

  test('a mistake is found', () => {
    expect(complaints.filter((line) => line.startsWith('wrong.ts(2,6)'))).toHaveLength(1);
  });

  test.each(each(having('ts')))('of %s compiles', (_, page) => {
    const own = new RegExp(`^${nameOf(page)}(-\\d+)?(\\.test)?\\.ts\\(`);
    expect(complaints.filter((line) => own.test(line))).toEqual([]);
  });

  test('that is shown as a test passes', async () => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    project.write('patience.test.ts', patienceTest);
    const args = [vitest, 'run', '--dir', '.', '--no-color', `--testTimeout=${testMs}`, `--hookTimeout=${testMs}`];
    const { code, out } = await project.run(process.execPath, args);
    expect(code, out).toBe(0);
    expect(out).toMatch(/Tests +4 passed/);
  });

  const programs = executed.filter(({ text }) => /^<!-- this page runs -->$/m.test(text));

  test.concurrent.each(each(programs))('of %s runs, and prints what the page says', async (_, page) => {
    const env = page.text.includes('DATABASE_URL') ? { DATABASE_URL: await freshDatabase() } : {};
    const program = join(project.folder, `${nameOf(page)}.ts`);
    const { code, out } = await project.run(process.execPath, [program], { cwd: `runs/${nameOf(page)}`, env });
    expect(code, out).toBe(0);
    expectLines(out, page.fences.filter(({ info }) => info === 'text prints'));
  });
});

describe('commands', () => {
  let server: Started;

  beforeAll(async () => {
    const stint = join(root, 'bin/stint.js');
    const args = ['serve', '--http', '127.0.0.1:0', '--bedrock', 'off', '--jobs', join(root, 'examples/hello/jobs.ts')];
    server = await project.start([stint, ...args], /HTTP +(http:\S+)/, { cwd: 'server' });
  });
  afterAll(() => server?.stop());

  const run = executed.filter(({ fences }) => fences.some((fence) => fence.language === 'sh' && !isNotRun(fence)));

  // In the folder of the server, one page after the other, as a user who reads them all.
  test.each(each(run))('of %s succeed', async (_, page) => {
    const fences = page.fences.filter((fence) => fence.language === 'sh' && !isNotRun(fence));
    const script = `set -eu\n${shims}\n${fences.map(({ code }) => code).join('\n')}`.replaceAll(
      /(localhost|127\.0\.0\.1):7070/g,
      new URL(server.said[1]!).host,
    );
    const { code, out } = await project.run('bash', ['-c', script], { cwd: 'server' });
    expect(code, out).toBe(0);
    expectLines(out, page.fences.filter(({ info }) => info === 'text answers'));
  });
});

/** Fails if the tests of the pages have the usual timeout of five seconds, which passes on a busy machine. */
const patienceTest = `import { expect, test } from 'vitest';
test('no verdict depends on the speed of the machine', ({ task }) => expect(task.timeout).toBe(${testMs}));
`;

/** `npx` finds the command in the sources, and the Node that runs this test. */
const shims = `npx() { [ "$1" = stint ] && shift; "${process.execPath}" "${join(root, 'bin/stint.js')}" "$@"; }`;

/** The lines stand in the output in this order; an ellipsis stands for anything. */
function expectLines(out: string, fences: readonly Fence[]): void {
  for (const { code, line } of fences) {
    const lines = code.trim().split('\n').map(patternOf);
    expect(out, `line ${line}`).toMatch(new RegExp(lines.join('[^]*?')));
  }
}

const patternOf = (line: string): string => line.trim().split('…').map((part) => RegExp.escape(part)).join('.*');

test.each(each(having('json')))('JSON of %s can be read', (_, { fences }) => {
  for (const { code } of fences.filter(({ language }) => language === 'json')) JSON.parse(code);
});

test.runIf(isInstalled(python)).each(each(having('python')))('Python of %s compiles', (_, { fences }) => {
  for (const { code } of fences.filter(({ language }) => language === 'python')) {
    execFileSync(python.command, ['-c', 'import sys, ast; ast.parse(sys.argv[1])', code]);
  }
});

test.each(each(pages.filter(({ text }) => /<!-- \S+\.\w+ -->\n```/.test(text))))(
  'files that %s shows are the files that run',
  (_, { text }) => {
    for (const [, file = '', shown] of text.matchAll(/<!-- (\S+\.\w+) -->\n```\w+.*\n([^]*?)^```$/gm)) {
      expect(shown).toBe(readFileSync(join(root, file), 'utf8'));
    }
  },
);
