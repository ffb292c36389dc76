// How slow the machine is right now, measured once per test run: deadlines are multiplied by it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/** What `sample` takes on two quiet cores of 2026. A faster machine counts as slowness 1. */
const referenceMs = 130;

/** At least 1. Node is started twice, since most waits of the tests are for a child process to start. */
export function measureSlowness(): number {
  const start = performance.now();
  sample();
  return Math.max(1, Math.round((performance.now() - start) / referenceMs));
}

function sample(): void {
  const block = Buffer.alloc(1 << 20);
  const hash = createHash('sha256');
  for (let count = 0; count < 16; count += 1) hash.update(block);
  hash.digest();
  for (let count = 0; count < 2; count += 1) spawnSync(process.execPath, ['--eval', '0']);
}
