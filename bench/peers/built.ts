/**
 * Stint as its users have it: compiled, as the package is made. From its sources, Node strips the types while it loads
 * them, and keeps the memory that this takes.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Stint from '../../src/index.ts';

const root = join(import.meta.dirname, '..', '..');
/** Where hands find it: they are processes of their own. */
const variable = 'STINT_BENCH_PACKAGE';

/** From now on hands use what is built here. */
export function build(): void {
  const folder = join(root, '.bench-peers', 'stint');
  execFileSync(process.execPath, [join(root, 'tools', 'package', 'main.ts'), folder], { stdio: 'ignore' });
  process.env[variable] = pathToFileURL(join(folder, 'dist', 'index.js')).href;
}

/** The sources, where nothing was built. */
export const loadStint = (): Promise<typeof Stint> =>
  import(process.env[variable] ?? pathToFileURL(join(root, 'src', 'index.ts')).href) as Promise<typeof Stint>;
