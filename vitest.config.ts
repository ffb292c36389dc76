// How the tests run: files that start instances, servers or threads each in a process of their own; the other files
// share processes, which load the sources once instead of 170 times (0.8 s of CPU each), a browser, and a process that
// executes commands.
import { defineConfig } from 'vitest/config';
import base from './test/support/config.ts';

const shared = [
  'alerts/{engine,watch}', 'architecture/*', 'bedrock/*', 'builtin/http', 'cli/!(cli|init|kill|load-jobs|server|work-once)',
  'dashboard/*', 'doors/*', 'engine/!(isolation|stray-rejections)', 'engine/api/*', 'http/*', 'import/*', 'jobs/*', 'model/*', 'mutants/*',
  'seeds/!(doors)', 'store/**/*', 'time/*', 'transactions/complete*', 'verify/*', 'upgrade/*', 'vocabulary/*',
].map((files) => `test/${files}.test.ts`);

// A project would add its files to those of the settings that it extends.
const { include, ...settings } = base.test!;

export default defineConfig({
  test: {
    ...settings,
    projects: [
      { extends: true, test: { name: 'apart', include: include!, exclude: shared } },
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
    ],
  },
});
