// The settings of every run of tests: one PostgreSQL for all files, the longest files first.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { bundledSources, loadingBundle } from './bundle.ts';
import { LongestFirst } from './longest-first.ts';
import { measureSlowness } from './slowness.ts';
import { writeToMemory } from './temporary-folder.ts';

// Two files more than there are cores, since many tests wait for a lease or a server; few enough to share one PostgreSQL.
const filesAtOnce = Math.min(6, availableParallelism() + 2);

// The workers and the processes that tests start read it: test/support/patience.ts.
process.env['STINT_SLOWNESS'] ??= String(measureSlowness());
const { testMs, waitMs } = await import('./patience.ts');

writeToMemory();

// For the processes that tests start. A test run with mutants plants them into the sources, so it has no bundle.
const env: Record<string, string> = {};
if (process.env['STINT_MUTANT'] === undefined) {
  const bundle = await bundledSources();
  env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} ${loadingBundle(bundle)}`.trim();
  process.env['NODE_COMPILE_CACHE'] ??= join(bundle, 'compile');
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env,
    globalSetup: ['test/support/global.ts'],
    reporters: ['minimal', './test/support/progress.ts', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: filesAtOnce,
    sequence: { sequencer: LongestFirst },
    testTimeout: testMs,
    hookTimeout: testMs,
    expect: { poll: { timeout: waitMs } },
    tags: [{ name: 'detail', description: 'only in the proof' }],
  },
});
