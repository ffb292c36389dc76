// Tests of vitest as parts of the proof: those that take minutes, and short ones at a larger size.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonTestResults } from 'vitest/node';
import type { TestSize } from '../support/size.ts';
import type { Part, PartOutcome, Size } from './part.ts';

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

interface Suite {
  readonly files: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Left out: the tests of every run. */
  readonly config?: string;
}

/** The tests called `*.proof.ts` in folders. */
const proofs = (...files: readonly string[]): Suite => ({ files, env: {}, config: 'vitest.proof.config.ts' });

/** Tests of every run at a larger size: see test/support/size.ts. */
const sized = (size: TestSize, files: readonly string[]): Suite => ({ files, env: { STINT_TEST_SIZE: size } });

const conformance = ['test/store/conformance-memory', 'test/store/conformance-sqlite', 'test/store/conformance-postgres'];
const sizedTests = [
  'test/engine/processes', 'test/engine/api/every-tick', 'test/time', 'test/model', 'test/vocabulary/stage',
  'test/bedrock/message', 'test/http/injection', 'test/dashboard', 'test/doors', 'test/seeds/seed',
  'test/store/postgres/feed', 'test/store/coded-store', 'test/sim/speed', 'test/clients',
];

const part = (name: string, seconds: number, suiteOf: (size: Size) => Suite): Part =>
  ({ name, seconds, run: ({ size }) => runSuite(suiteOf(size)) });

export const suites: readonly Part[] = [
  part('histories', 300, (size) => sized(size, conformance)),
  part('sizes', 300, (size) => sized(size, sizedTests)),
  part('failover', 60, () => proofs('test/failover')),
  part('package', 180, () => proofs('test/package', 'test/deploy')),
  part('runtimes', 240, () => proofs('test/runtimes')),
  part('benches', 90, () => proofs('test/bench')),
  { ...part('seeds', 900, () => proofs('test/seeds')), isLongOnly: true },
  { ...part('million', 1_800, () => sized('long', ['test/dashboard/million'])), isLongOnly: true },
];

async function runSuite({ files, env, config }: Suite): Promise<PartOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-proof-'));
  const report = join(folder, 'report.json');
  try {
    const status = await runVitest([
      'run', ...files, ...(config === undefined ? [] : ['--config', config]),
      '--reporter=minimal', '--reporter=./test/support/progress.ts', '--reporter=json', `--outputFile.json=${report}`,
    ], env);
    return outcomeOf(JSON.parse(readFileSync(report, 'utf8')) as JsonTestResults, status);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runVitest(args: readonly string[], env: Suite['env']): Promise<number | null> {
  const child = spawn(process.execPath, [vitest, ...args], { env: { ...process.env, ...env }, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code));
  });
}

function outcomeOf({ numPassedTests, numTotalTests, testResults }: JsonTestResults, status: number | null): PartOutcome {
  const failed = testResults.flatMap(({ assertionResults }) => assertionResults.filter((each) => each.status === 'failed'));
  const findings = failed.map(({ fullName }) => `failed: ${fullName}`);
  const isExplained = status === 0 || findings.length > 0;
  return {
    figures: { tests: numTotalTests, passed: numPassedTests },
    findings: isExplained ? findings : [`vitest ended with ${status}`],
  };
}
