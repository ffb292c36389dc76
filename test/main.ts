// npm test: types, lint and the tests of every change, one after the other, with the time each took.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const packageFile = (path: string): string => join(root, 'node_modules', path);

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const steps: readonly Step[] = [
  { name: 'types', command: [packageFile('typescript/bin/tsc'), '--noEmit'] },
  { name: 'types of the dashboard', command: [packageFile('typescript/bin/tsc'), '--noEmit', '-p', 'dashboard'] },
  { name: 'lint', command: [packageFile('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings'] },
  { name: 'tests', command: [packageFile('vitest/vitest.mjs'), 'run', ...process.argv.slice(2)] },
];

for (const [index, { name, command }] of steps.entries()) {
  console.log(`step ${index + 1} of ${steps.length}: ${name}`);
  const start = performance.now();
  const status = await run(command);
  if (status !== 0) {
    console.error(`${name}: failed`);
    process.exit(status ?? 1);
  }
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function run(command: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code));
  });
}
