// Builds the dashboard if a source is newer than the build. A lock folder serializes concurrent builds.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const home = import.meta.dirname;
const root = join(home, '..');
/** The folder that the server serves. */
export const builtFolder = join(root, 'dist', 'dashboard');
const lock = join(root, 'dist', '.dashboard-lock');
const lockMaxAgeMs = 60_000;

export async function buildIfStale(): Promise<void> {
  if (isFresh()) return;
  await takeLock();
  try {
    if (!isFresh()) await build();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Runs Vite in a child process with NODE_ENV=production: a test runner sets NODE_ENV=test, which gives a development build. */
async function build(): Promise<void> {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const config = join(home, 'vite.config.ts');
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vite, 'build', '--config', config, '--logLevel', 'warn'], { env });
}

function isFresh(): boolean {
  const built = changedAt(join(builtFolder, 'index.html'));
  const sources = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => !name.endsWith('.md'));
  const paths = [...sources.map((name) => join(home, name)), join(root, 'package-lock.json')];
  return paths.every((path) => changedAt(path) < built);
}

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A lock older than a minute is removed: its process was killed. */
async function takeLock(): Promise<void> {
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      return mkdirSync(lock);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (Date.now() - changedAt(lock) > lockMaxAgeMs) rmSync(lock, { recursive: true, force: true });
    await sleep(100);
  }
}

if (import.meta.main) {
  if (!isFresh()) console.log('Building the dashboard …');
  await buildIfStale();
}
