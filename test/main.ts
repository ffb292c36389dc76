// npm test: the tests of every change, and beside them types and lint, with the time each took. The first that fails
// ends the rest.
import { spawn, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '..');
const packageFile = (path: string): string => join(root, 'node_modules', path);

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

/** Four checkers, the default, each derive the types that they share: 13 s of CPU instead of 8. */
const typecheck = [packageFile('typescript/bin/tsc'), '--noEmit', '--checkers', '1'];

/** One after the other, in time that the tests leave: they wait for leases and servers now and then. */
const checks: readonly Step[] = [
  { name: 'types', command: typecheck },
  { name: 'types of the dashboard', command: [...typecheck, '-p', 'dashboard'] },
  { name: 'lint', command: [packageFile('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings'] },
];
const tests: Step = { name: 'tests', command: [packageFile('vitest/vitest.mjs'), 'run', ...process.argv.slice(2)] };

const running = new Set<ChildProcess>();

await Promise.all([run(tests, testsProcess), runChecks()]);

async function runChecks(): Promise<void> {
  for (const check of checks) await run(check, checkProcess);
}

async function run(step: Step, start: (step: Step) => ChildProcess): Promise<void> {
  const startedAt = performance.now();
  const child = start(step);
  running.add(child);
  const [status, ...output] = await Promise.all([statusOf(child), textOf(child.stdout), textOf(child.stderr)]);
  running.delete(child);
  if (status !== 0) fail(step, output.join(''), status);
  console.log(`${step.name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

function testsProcess({ command }: Step): ChildProcess {
  return spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
}

/**
 * Its output is printed only if it fails, so that it does not interrupt the progress of the tests. On one core the types
 * for lint take 12 s of CPU, on two 16.
 */
function checkProcess({ command }: Step): ChildProcess {
  const env = { ...process.env, GOMAXPROCS: '1' };
  const child = spawn(process.execPath, command, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}

function statusOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code));
  });
}

function fail({ name }: Step, output: string, status: number | null): never {
  console.error(`${output}\n${name}: failed`);
  for (const child of running) child.kill('SIGTERM');
  process.exit(status ?? 1);
}
