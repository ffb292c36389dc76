/** Runs a program of the bench; what its many processes have compiled is kept for each other. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = join(import.meta.dirname, '..', '..', 'bench');

export function runBench(program: string, ...args: string[]): { stdout: string; stderr: string; status: number | null } {
  const cache = mkdtempSync(join(tmpdir(), 'stint-test-'));
  try {
    const env = { ...process.env, NODE_COMPILE_CACHE: cache };
    return spawnSync(process.execPath, [join(home, program), ...args], { encoding: 'utf8', env });
  } finally {
    rmSync(cache, { recursive: true });
  }
}
