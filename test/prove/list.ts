// Lists every test with the runs that have it: npm test, a part of the proof, or only its long size. A test that has none
// is lost: nobody would see it fail.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { TestSize } from '../support/size.ts';
import { proofConfig, suites, vitest, type SuitePart } from './suites.ts';

export interface ListedTest {
  readonly file: string;
  readonly name: string;
}

/** The tests that vitest collects: those of `*.test.ts` at each size, and those of `*.proof.ts`. The full proof has those of CI. */
export interface Collected {
  readonly tests: Readonly<Record<CollectedSize, readonly ListedTest[]>>;
  readonly proofs: readonly ListedTest[];
}

type CollectedSize = Exclude<TestSize, 'full'>;

const npmTest = 'npm test';

/** The runs that have each test; none for one that is lost. */
export function runsOf({ tests, proofs }: Collected, parts: readonly SuitePart[] = suites): ReadonlyMap<string, readonly string[]> {
  const runs = new Map<string, readonly string[]>();
  const note = (some: readonly ListedTest[], run: string | null): void => {
    for (const test of some) {
      const title = titleOf(test);
      runs.set(title, [...(runs.get(title) ?? []), ...(run === null ? [] : [run])]);
    }
  };
  note(tests.small, npmTest);
  const ofNpmTest = new Set(runs.keys());
  for (const { name, isLongOnly, suiteOf } of parts) {
    for (const size of isLongOnly ? ['long'] as const : ['ci', 'long'] as const) {
      const { files, env, config, tag } = suiteOf(size);
      const collected = (config === proofConfig ? proofs : tests[env['STINT_TEST_SIZE'] as CollectedSize]).filter(isIn(files));
      // The only tag is that of details, and npm test has none of them.
      const chosen = tag === undefined ? collected : collected.filter((test) => !ofNpmTest.has(titleOf(test)));
      note(chosen, size === 'ci' ? name : `${name} --long`);
    }
  }
  for (const some of [...Object.values(tests), proofs]) note(some, null);
  return runs;
}

const titleOf = ({ file, name }: ListedTest): string => `${file} > ${name}`;

const isIn = (files: readonly string[]) => ({ file }: ListedTest): boolean => files.some((start) => file.startsWith(start));

/**
 * Prints a line for each test in the folders, or for all tests: the first run that has it, and the test. Returns whether
 * every test is in one.
 */
export async function list(folders: readonly string[], print: (line: string) => void): Promise<boolean> {
  const collected = await collect(folders, print);
  const runs = runsOf(collected);
  for (const [title, [first = 'NONE']] of [...runs].toSorted(([a], [b]) => (a < b ? -1 : 1))) print(`${first}: ${title}`);
  const counts = Map.groupBy(runs.values(), ([first = 'NONE']) => first);
  for (const [run, { length }] of counts) print(`${run}: ${length} tests`);
  const empty = filesWithout(collected).filter((file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)));
  if (empty.length > 0) print(`skipped on this machine: ${empty.join(', ')}`);
  return !counts.has('NONE');
}

/** Tests can be skipped because a browser or a language is missing. */
function filesWithout({ tests, proofs }: Collected): string[] {
  const listed = new Set([...Object.values(tests).flat(), ...proofs].map(({ file }) => file));
  return globSync('test/**/*.{test,proof}.ts').filter((file) => !listed.has(file)).toSorted();
}

async function collect(folders: readonly string[], print: (line: string) => void): Promise<Collected> {
  const collectAt = (size: TestSize, ...more: readonly string[]): Promise<readonly ListedTest[]> => {
    print(`collecting the tests of the size ${size}${more.length > 0 ? ' in the proof' : ''}`);
    return listed(size, [...folders, ...more]);
  };
  const tests = { small: await collectAt('small'), ci: await collectAt('ci'), long: await collectAt('long') };
  return { tests, proofs: await collectAt('ci', '--config', proofConfig) };
}

async function listed(size: TestSize, more: readonly string[]): Promise<readonly ListedTest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-list-'));
  const file = join(folder, 'tests.json');
  try {
    // Only files that are executed say which tests they leave out.
    const child = spawn(process.execPath, [vitest, 'list', '--no-staticParse', '--passWithNoTests', `--json=${file}`, ...more], {
      env: { ...process.env, STINT_TEST_SIZE: size }, stdio: ['ignore', 'ignore', 'inherit'],
    });
    const status = await new Promise((resolve, reject) => void child.once('error', reject).once('exit', resolve));
    if (status !== 0) throw new Error(`cannot list the tests: vitest ended with ${String(status)}`);
    const found = JSON.parse(readFileSync(file, 'utf8')) as readonly ListedTest[];
    return found.map(({ file: path, name }) => ({ file: relative(process.cwd(), path), name }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
