// Programs that some tests need and that not every machine has: languages of clients, and Redis.
import { spawnSync } from 'node:child_process';

export interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly advice: string;
  /** The file of the tests that are skipped without it. */
  readonly tests: string;
}

export const python: Runtime = {
  name: 'Python',
  command: process.env['PYTHON_PATH'] ?? 'python3',
  advice: 'Install Python 3.9 or newer (Debian and Ubuntu: apt-get install python3) or set PYTHON_PATH.',
  tests: 'test/clients/python.test.ts',
};

export const go: Runtime = {
  name: 'Go',
  command: process.env['GO_PATH'] ?? 'go',
  advice: 'Install Go 1.19 or newer (Debian and Ubuntu: apt-get install golang-go) or set GO_PATH to its program.',
  tests: 'test/clients/go.test.ts',
};

export const redis: Runtime = {
  name: 'Redis',
  command: 'redis-server',
  advice: 'Install it (Debian and Ubuntu: apt-get install redis-server).',
  tests: 'test/import/bullmq.proof.ts',
};

export const runtimes: readonly Runtime[] = [python, go, redis];

const found = new Map<Runtime, boolean>();

export function isInstalled(runtime: Runtime): boolean {
  const isFound = found.get(runtime) ?? spawnSync(runtime.command, [versionFlag(runtime)], { stdio: 'ignore' }).status === 0;
  found.set(runtime, isFound);
  return isFound;
}

const versionFlag = (runtime: Runtime): string => (runtime === go ? 'version' : '--version');
