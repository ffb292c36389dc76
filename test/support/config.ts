// The settings of every run of tests: one PostgreSQL for all files, the longest files first.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { measureSlowness } from './slowness.ts';

const root = join(import.meta.dirname, '..', '..');

// One file more than there are cores, since many tests wait for a lease or a server; few enough to share one PostgreSQL.
const filesAtOnce = Math.min(4, availableParallelism() + 1);

// The processes that tests start load some 300 files of TypeScript: with a compile cache in half of the time.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'compile');

// The workers and the processes that tests start read it: test/support/patience.ts.
process.env['STINT_SLOWNESS'] ??= String(measureSlowness());
const { testMs, waitMs } = await import('./patience.ts');

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    reporters: ['minimal', './test/support/progress.ts', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: filesAtOnce,
    sequence: { sequencer: LongestFirst },
    testTimeout: testMs,
    hookTimeout: testMs,
    expect: { poll: { timeout: waitMs } },
  },
});
