// The proof runs every test file whose size can be chosen, and says which tests failed and why.
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { JsonTestResults } from 'vitest/node';
import { expect, test } from 'vitest';
import { conformance, detailedTests, outcomeOf, sizedTests } from './suites.ts';

const ofParts = [...sizedTests, ...detailedTests, ...conformance, 'test/dashboard/million.test.ts'];
const filesWith = (pattern: RegExp): string[] => globSync('test/**/*.test.ts').filter((file) => pattern.test(readFileSync(file, 'utf8')));

test('the proof names every test file that takes a size', () => {
  const takesSize = filesWith(/(?:support|\.)\/(size|detail)\.ts';|[ {]\w+OfRun\b|\bdetail\b.*support\/browser\.ts';/);
  expect(takesSize).toContain('test/model/json.test.ts');
  expect(takesSize.filter((file) => !ofParts.some((named) => file.startsWith(named)))).toEqual([]);
});

test('the files of which the proof runs only details have no test of another size', () => {
  const sized = filesWith(/support\/size\.ts';|[ {]\w+OfRun\b/);
  expect(sized.filter((file) => detailedTests.includes(file))).toEqual([]);
  expect(filesWith(/\bdetails?\b.*(?:support|\.)\/(detail|browser)\.ts';/)).toEqual(expect.arrayContaining([...detailedTests]));
});

test('every test file that the proof names exists', () => {
  const existing = globSync('test/**/*.test.ts');
  expect(ofParts.filter((named) => !existing.some((file) => file.startsWith(named)))).toEqual([]);
});

test('a failed test is a finding with its file and the beginning of its error, and figures of tests are those of the part', () => {
  const ended = (status: string, failureMessages: readonly string[], meta = {}) =>
    ({ fullName: `a ${status} test`, status, failureMessages, meta });
  const testResults = [{
    name: resolve('test/jobs/a.test.ts'),
    assertionResults: [ended('passed', [], { figures: { lost: 0 } }), ended('failed', ['Error: expected 1 to be 2\n    at a.test.ts:3:5'])],
  }] as unknown as JsonTestResults['testResults'];
  const { figures, findings } = outcomeOf({ testResults }, 1);
  expect(figures).toEqual({ tests: 2, passed: 1, lost: 0 });
  expect(findings).toEqual([
    'failed: test/jobs/a.test.ts: a failed test\n        Error: expected 1 to be 2\n            at a.test.ts:3:5',
  ]);
});

test('an unexplained end of the tests is a finding', () => {
  expect(outcomeOf({ testResults: [] }, 137).findings).toEqual(['vitest ended with 137']);
});

test('it is a finding if no test with the tag of a part has passed, although vitest ended well', () => {
  const ended = (status: string, tags: readonly string[]) => ({ fullName: `a ${status} test`, status, tags, meta: {} });
  const outcome = (...assertionResults: readonly object[]) =>
    outcomeOf({ testResults: [{ name: resolve('test/jobs/a.test.ts'), assertionResults }] as never }, 0, 'detail').findings;
  expect(outcome(ended('passed', ['detail']))).toEqual([]);
  expect(outcome(ended('passed', []), ended('skipped', ['detail']))).toEqual(['no test with the tag detail has passed']);
});
