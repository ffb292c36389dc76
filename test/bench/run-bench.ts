/** Runs a program of the bench. Its processes share a compile cache, which makes them start faster. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const benchFolder = join(import.meta.dirname, '..', '..', 'bench');

export interface BenchRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

export function runBench(program: string, ...args: string[]): BenchRun {
  const cache = mkdtempSync(join(tmpdir(), 'stint-test-'));
  try {
    const env = { ...process.env, NODE_COMPILE_CACHE: cache };
    return spawnSync(process.execPath, [join(benchFolder, program), ...args], { encoding: 'utf8', env });
  } finally {
    rmSync(cache, { recursive: true });
  }
}
