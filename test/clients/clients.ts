// The clients that the protocol suite tries: the command of each, and the runtime that it needs.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { go, isInstalled, python, type Runtime } from '../support/runtimes.ts';
import { bySize } from '../support/size.ts';
import { ClientProcess } from './client-process.ts';

export interface ClientUnderTest {
  /** Null: the Node that runs the tests. */
  readonly runtime: Runtime | null;
  /** What must be done once before the first start. */
  prepare(): void;
  start(env: Readonly<Record<string, string>>): ClientProcess;
}

const root = join(import.meta.dirname, '..', '..');
const goFolder = join(root, 'clients', 'go');
const goProgram = join(root, 'node_modules', '.cache', 'stint-clients', 'go-driver');

export const typescriptClient: ClientUnderTest = {
  runtime: null,
  prepare: () => {},
  start: (env) => new ClientProcess([process.execPath, join(import.meta.dirname, 'typescript-driver.ts')], env, root),
};

export const pythonClient: ClientUnderTest = {
  runtime: python,
  prepare: () => {},
  start: (env) => new ClientProcess([python.command, 'protocol_driver.py'], env, join(root, 'clients', 'python')),
};

export const goClient: ClientUnderTest = {
  runtime: go,
  prepare: buildGo,
  start: (env) => new ClientProcess([goProgram], env, goFolder),
};

/** Ours is tried by npm test, those in other languages by the proof. */
export const canRun = ({ runtime }: ClientUnderTest): boolean =>
  runtime === null || (bySize({ small: false, ci: true }) && isInstalled(runtime));

function buildGo(): void {
  mkdirSync(join(goProgram, '..'), { recursive: true });
  const build = (...words: string[]): void => {
    execFileSync(go.command, ['build', ...words], { cwd: goFolder, stdio: 'inherit' });
  };
  build('-o', goProgram, './internal/driver');
  build('./...');
}
