/**
 * Builds and loads the compiled package of Stint. When Node loads the sources, type stripping takes memory that it does
 * not release.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Stint from '../../src/index.ts';

const root = join(import.meta.dirname, '..', '..');
/** Passes the URL of the built package to child processes. */
const variable = 'STINT_BENCH_PACKAGE';

/** Builds the package. Child processes started later use it. */
export function buildPackage(): void {
  const folder = join(root, '.bench-peers', 'stint');
  execFileSync(process.execPath, [join(root, 'tools', 'package', 'main.ts'), folder], { stdio: 'ignore' });
  process.env[variable] = pathToFileURL(join(folder, 'dist', 'index.js')).href;
}

/** Loads the built package, or the sources if none was built. */
export const loadStint = (): Promise<typeof Stint> =>
  import(process.env[variable] ?? pathToFileURL(join(root, 'src', 'index.ts')).href) as Promise<typeof Stint>;
