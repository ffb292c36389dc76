/**
 * Lets child processes load compiled modules from a cache, as a deployed program has them. A process that strips the types
 * of the bench's own modules takes 25 MB for it that it does not release, whatever peer it measures.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', '.bench-peers', 'compile-cache');

/** Fills the cache by one start of the module. Child processes started later use it. */
export function cacheCompiled(module: string): void {
  process.env['NODE_COMPILE_CACHE'] ??= folder;
  execFileSync(process.execPath, [module], { stdio: 'ignore' });
}
