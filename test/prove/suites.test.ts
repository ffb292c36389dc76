// The proof runs every test file whose size can be chosen.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { conformance, sizedTests } from './suites.ts';

const ofParts = [...sizedTests, ...conformance, 'test/dashboard/million.test.ts'];

test('the proof names every test file that takes a size', () => {
  const files = globSync('test/**/*.test.ts');
  const takesSize = files.filter((file) => /support\/(size|detail)\.ts';|[ {]\w+OfRun\b/.test(readFileSync(file, 'utf8')));
  expect(takesSize).toContain('test/model/json.test.ts');
  expect(takesSize.filter((file) => !ofParts.some((named) => file.startsWith(named)))).toEqual([]);
});

test('every test file that the proof names exists', () => {
  const existing = globSync('test/**/*.test.ts');
  expect(ofParts.filter((named) => !existing.some((file) => file.startsWith(named)))).toEqual([]);
});
