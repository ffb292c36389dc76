/** Runs a program of the bench. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const benchFolder = join(import.meta.dirname, '..', '..', 'bench');

export interface BenchRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

export const runBench = (program: string, ...args: string[]): BenchRun =>
  spawnSync(process.execPath, [join(benchFolder, program), ...args], { encoding: 'utf8' });
