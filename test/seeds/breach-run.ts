// Runs the tests that must notice a breach, with the breach planted, and lists those that pass all the same.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonTestResults } from 'vitest/node';
import type { Breach } from './breaches.ts';

const root = join(import.meta.dirname, '../..');
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const plant = fileURLToPath(new URL('../mutants/plant.ts', import.meta.url));

/** The tests that did not notice it, and the starts of titles that no test has. None: the breach is noticed. */
export async function unnoticed(breach: Breach, postgresPort: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-breach-'));
  const report = join(folder, 'report.json');
  try {
    await runTests(breach, postgresPort, report);
    return judged(breach, JSON.parse(readFileSync(report, 'utf8')) as JsonTestResults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runTests({ cuts, breaks, isInProcesses, file }: Breach, postgresPort: number, report: string): Promise<void> {
  const seeds = new Set(breaks.map((start) => `test/seeds/seed-${start[0]}.test.ts`));
  const files = file !== undefined ? [file] : isInProcesses ? ['test/seeds/doors.test.ts'] : seeds;
  const args = [
    'run', ...files, '--config', 'test/seeds/breaches.config.ts',
    '-t', breaks.map((start) => `(^| )${start.replaceAll('.', '\\.')}`).join('|'), `--outputFile.json=${report}`,
  ];
  const env = {
    ...process.env,
    STINT_MUTANT: JSON.stringify(cuts),
    STINT_TEST_SIZE: 'ci',
    STINT_POSTGRES_PORT: String(postgresPort),
    ...(isInProcesses ? { NODE_OPTIONS: `--import ${plant}` } : {}),
  };
  const child = spawn(process.execPath, [vitest, ...args], { cwd: root, env, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', () => resolve());
  });
}

function judged({ breaks }: Breach, { testResults }: JsonTestResults): string[] {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const isMeant = (title: string): boolean => breaks.some((start) => title.startsWith(start));
  const meant = tests.filter(({ title }) => isMeant(title) && !title.includes('(found.md '));
  const passed = meant.filter(({ status }) => status !== 'failed').map((each) => `${each.status}: ${each.fullName}`);
  const missing = breaks.filter((start) => !meant.some(({ title }) => title.startsWith(start)));
  return [...passed, ...missing.map((start) => `no test: ${start}`)];
}
