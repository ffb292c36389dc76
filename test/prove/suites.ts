// Tests of vitest as parts of the proof: those that take minutes, and short ones at a larger size.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { JsonTestResults } from 'vitest/node';
import { detailTag } from '../support/detail.ts';
import type { Figures } from '../support/figures.ts';
import type { TestSize } from '../support/size.ts';
import type { Part, PartOutcome, PartRequest, Size } from './part.ts';

export const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

type Print = PartRequest['print'];

/** A part of the proof that runs test files. */
export interface SuitePart extends Part {
  readonly suiteOf: (size: Size) => Suite;
}

export interface Suite {
  readonly files: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Left out: the tests of every run. */
  readonly config?: string;
  /** Whether it has only tests of this tag. */
  readonly tag?: string;
}

export const proofConfig = 'vitest.proof.config.ts';

/** The tests called `*.proof.ts` in folders. */
const proofs = (...files: readonly string[]): Suite => ({ files, env: {}, config: proofConfig });

/** Tests of every run at a larger size: see test/support/size.ts. */
const sized = (size: TestSize, files: readonly string[]): Suite => ({ files, env: { STINT_TEST_SIZE: size } });

export const conformance = ['test/store/conformance-memory', 'test/store/conformance-sqlite', 'test/store/conformance-postgres'];
const files = (folder: string, ...names: readonly string[]): string[] =>
  names.map((name) => `test/${folder}/${name}.test.ts`);

/** The files with tests that npm test makes smaller. The other files would only repeat npm test. */
export const sizedTests: readonly string[] = [
  ...files('engine/processes', 'backfill', 'bad-handlers', 'batches', 'builds', 'cancel', 'close', 'kill'),
  ...files('engine/processes', 'large-run', 'lease', 'limits', 'output', 'schedules', 'versions'),
  ...files('engine', 'isolation', 'step-programs'),
  ...files('engine/api', 'definition-documents', 'every-tick'),
  ...files('time', 'cron', 'cron-dst', 'duration', 'instant', 'repeat', 'ticks', 'zone'),
  ...files('model', 'glob', 'json', 'limit', 'machine', 'progress'),
  ...files('vocabulary', 'stage'),
  ...files('bedrock', 'matrix', 'message'),
  ...files('http', 'injection', 'slow'),
  ...files('cli', 'def-documents'),
  ...files('docs', 'code'),
  ...files('jobs', 'create', 'def-followers', 'family', 'flow', 'operate', 'query', 'races', 'work'),
  ...files('dashboard', 'access', 'inbox', 'limits', 'machine', 'pauses', 'plan'),
  ...files('doors', 'doors', 'encryption', 'middleware'),
  ...files('seeds', 'seed-1', 'seed-3', 'seed-4', 'seed-5'),
  ...files('store/postgres', 'feed'),
  ...files('store', 'coded-store'),
  ...files('transactions', 'complete-in', 'libraries'),
  ...files('sim', 'speed'),
  ...files('sim/postgres', 'postgres'),
  ...files('clients', 'go', 'python'),
];

/** The files that are the same in every run, except for details: the rest of them would only repeat npm test. */
export const detailedTests: readonly string[] = [
  ...files('alerts', 'storm'),
  ...files('dashboard', 'alerts', 'definitions', 'hostile', 'layout', 'overview', 'postgres', 'run', 'runs', 'saved-views'),
  ...files('cli', 'bedrock', 'init', 'kill', 'store-faults', 'without-proto'),
  ...files('store/postgres', 'claim', 'dead-peers', 'migrations', 'outage'),
  ...files('store', 'planted'),
  ...files('support', 'postgres'),
];

const part = (name: string, cpuSeconds: Part['cpuSeconds'], suiteOf: (size: Size) => Suite): SuitePart =>
  ({ name, cpuSeconds, suiteOf, run: ({ size, print }) => runSuite(suiteOf(size), print) });
const beside: typeof part = (...of) => ({ ...part(...of), runsBeside: true });

export const suites: readonly SuitePart[] = [
  beside('histories', { ci: 220, full: 600 }, (size) => sized(size, conformance)),
  beside('sizes', 450, (size) => sized(size, sizedTests)),
  beside('details', 150, (size) => ({ ...sized(size, detailedTests), tag: detailTag })),
  part('failover', 15, () => proofs('test/failover')),
  beside('package', 200, () => proofs('test/package', 'test/deploy', 'test/site')),
  beside('operators', 30, () => proofs('test/ops')),
  beside('runtimes', 250, () => proofs('test/runtimes')),
  beside('import', 60, () => proofs('test/import')),
  beside('benches', 90, () => proofs('test/bench')),
  { ...part('seeds', 900, () => proofs('test/seeds')), isLongOnly: true },
  { ...part('million', 1_800, () => sized('long', ['test/dashboard/million'])), isLongOnly: true },
];

async function runSuite({ files, env, config, tag }: Suite, print: Print): Promise<PartOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-proof-'));
  const report = join(folder, 'report.json');
  try {
    const status = await runVitest([
      'run', ...files, ...(config === undefined ? [] : ['--config', config]), ...(tag === undefined ? [] : ['--tags-filter', tag]),
      '--reporter=minimal', '--reporter=./test/support/progress.ts', '--reporter=json', `--outputFile.json=${report}`,
    ], env, print);
    return outcomeOf(JSON.parse(readFileSync(report, 'utf8')) as JsonTestResults, status, tag);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runVitest(args: readonly string[], env: Suite['env'], print: Print): Promise<number | null> {
  const child = spawn(process.execPath, [vitest, ...args], {
    env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const output of [child.stdout, child.stderr]) printLines(output, print);
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code));
  });
}

function printLines(output: Readable, print: Print): void {
  createInterface(output).on('line', (line) => {
    if (line.trim() !== '') print(line);
  });
}

export function outcomeOf(
  { testResults }: Pick<JsonTestResults, 'testResults'>, status: number | null, tag?: string,
): PartOutcome {
  const chosen = testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ tags }) => tag === undefined || tags.includes(tag));
  const findings = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.filter((each) => each.status === 'failed').map(({ fullName, failureMessages }) =>
      `failed: ${relative(process.cwd(), name)}: ${fullName}${causeOf(failureMessages ?? [])}`));
  const passed = chosen.filter((each) => each.status === 'passed').length;
  if (status !== 0 && findings.length === 0) findings.push(`vitest ended with ${status}`);
  // Vitest ends with 0 if no test has the tag. Without a tag, a machine may lack what all tests of a part need.
  if (tag !== undefined && passed === 0 && findings.length === 0) findings.push(`no test with the tag ${tag} has passed`);
  return {
    figures: {
      tests: chosen.length,
      passed,
      ...Object.assign({}, ...chosen.map(({ meta }) => meta?.figures)) as Figures,
    },
    findings,
  };
}

const causeLines = 20;

/** The beginning of the first error, indented: the log of a CI run may show nothing but the findings. */
const causeOf = ([message = '']: readonly string[]): string =>
  message.split('\n').slice(0, causeLines).map((line) => `\n        ${line}`).join('');
