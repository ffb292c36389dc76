// Where each test runs.
import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runsOf, type ListedTest } from './list.ts';
import { proofConfig, suites, type SuitePart } from './suites.ts';

const listed = (...titles: readonly string[]): ListedTest[] =>
  titles.map((title) => ({ file: title.split(' > ')[0]!, name: title.split(' > ')[1]! }));

const part = (name: string, suiteOf: SuitePart['suiteOf']): SuitePart =>
  ({ name, cpuSeconds: 1, suiteOf, run: async () => ({ figures: {}, findings: [] }) });

test('a test has npm test, the parts that name its file, and none if no part does', () => {
  const small = listed('test/a.test.ts > whole');
  const ci = listed('test/a.test.ts > whole', 'test/a.test.ts > detail', 'test/b.test.ts > detail');
  const long = [...ci, ...listed('test/a.test.ts > large', 'test/c.test.ts > million')];
  const proofs = listed('test/x/x.proof.ts > storm', 'test/y/y.proof.ts > storm');
  const parts = [
    part('sizes', (size) => ({ files: ['test/a'], env: { STINT_TEST_SIZE: size } })),
    { ...part('million', () => ({ files: ['test/c'], env: { STINT_TEST_SIZE: 'long' } })), isLongOnly: true as const },
    part('proofs', () => ({ files: ['test/x'], env: {}, config: proofConfig })),
  ];
  expect(Object.fromEntries(runsOf({ tests: { small, ci, long }, proofs }, parts))).toEqual({
    'test/a.test.ts > whole': ['npm test', 'sizes', 'sizes --long'],
    'test/a.test.ts > detail': ['sizes', 'sizes --long'],
    'test/a.test.ts > large': ['sizes --long'],
    'test/b.test.ts > detail': [],
    'test/c.test.ts > million': ['million --long'],
    'test/x/x.proof.ts > storm': ['proofs', 'proofs --long'],
    'test/y/y.proof.ts > storm': [],
  });
});

test('every proof file is in a part of the proof', () => {
  const named = suites.map(({ suiteOf }) => suiteOf('ci')).filter(({ config }) => config !== undefined).flatMap(({ files }) => files);
  const left = globSync('test/**/*.proof.ts').filter((file) => !named.some((start) => file.startsWith(`${start}/`)));
  expect(left).toEqual([]);
});
