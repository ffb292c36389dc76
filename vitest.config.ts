// How the tests run: one PostgreSQL for all files, each file in a process of its own, a plain closing line.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

// Two files at a time even on one core, since many tests wait for a server; few enough to share one PostgreSQL.
const filesAtOnce = Math.min(4, Math.max(2, availableParallelism()));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: filesAtOnce,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What is waited for comes when it comes: a busy machine takes longer than the second that is the default.
    expect: { poll: { timeout: 15_000 } },
  },
});
