// The version of the package is the same wherever it is written.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { versionPaths, withVersion } from '../../tools/package/version-places.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

test.each(versionPaths)('%s has the version of package.json', (path) => {
  expect(withVersion(path, read(path), version)).toBe(read(path));
  expect(withVersion(path, read(path), '9.8.7')).not.toBe(read(path));
});

test('the version has a dated section in the changelog, behind what is not released', () => {
  const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings[0]).toBe('[Unreleased]');
  expect(headings[1]).toMatch(new RegExp(`^\\[${RegExp.escape(version)}\\] - \\d{4}-\\d{2}-\\d{2}$`));
});
