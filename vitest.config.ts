// How the tests run: files that start processes or threads each in a process of their own; the files of the other
// folders share processes, which load the sources once instead of 150 times (0.8 s of CPU each), and a browser.
import { defineConfig } from 'vitest/config';
import base from './test/support/config.ts';

const shared = [
  'architecture/*', 'bedrock/*', 'dashboard/*', 'doors/*', 'engine/!(isolation)', 'engine/api/*', 'http/*', 'jobs/*',
  'model/*', 'mutants/*', 'seeds/!(doors)', 'store/**/*', 'time/*', 'verify/*', 'upgrade/*', 'vocabulary/*',
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
