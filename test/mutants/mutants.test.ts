// The mutants match the source: each cut is found exactly once. npm run prove runs the simulation on them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { postgresMutants } from './postgres-mutants.ts';

const root = join(import.meta.dirname, '..', '..');

test.each([...mutants, ...postgresMutants])('the mutant can be planted: $title', ({ cuts }) => {
  for (const { file, from, to } of cuts) {
    expect(readFileSync(join(root, file), 'utf8').split(from), `${file}: ${from}`).toHaveLength(2);
    expect(to).not.toBe(from);
  }
});

test('there are mutants of every guard', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(21);
});
