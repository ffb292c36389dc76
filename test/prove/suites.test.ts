// The proof runs every test file whose size can be chosen, and says which tests failed and why.
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { JsonTestResults } from 'vitest/node';
import { expect, test } from 'vitest';
import { conformance, outcomeOf, sizedTests } from './suites.ts';

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

test('a failed test is a finding with its file and the beginning of its error', () => {
  const ended = (status: string, failureMessages: readonly string[]) => ({ fullName: `a ${status} test`, status, failureMessages });
  const testResults = [{
    name: resolve('test/jobs/a.test.ts'),
    assertionResults: [ended('passed', []), ended('failed', ['Error: expected 1 to be 2\n    at a.test.ts:3:5'])],
  }] as unknown as JsonTestResults['testResults'];
  const { findings } = outcomeOf({ numPassedTests: 1, numTotalTests: 2, testResults }, 1);
  expect(findings).toEqual([
    'failed: test/jobs/a.test.ts: a failed test\n        Error: expected 1 to be 2\n            at a.test.ts:3:5',
  ]);
});

test('an unexplained end of the tests is a finding', () => {
  expect(outcomeOf({ numPassedTests: 2, numTotalTests: 2, testResults: [] }, 137).findings).toEqual(['vitest ended with 137']);
});
