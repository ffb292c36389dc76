// The page on security tests: every file that it names exists, and has a test with the title that it quotes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './page.ts';

const page = readFileSync(join(root, 'docs/security-tests.md'), 'utf8');

interface Citation {
  readonly file: string;
  readonly titles: readonly string[];
}

const citationsIn = (text: string): Citation[] =>
  [...text.matchAll(/`(test\/[^`]+)`((?:(?:,| and)? "[^"]+")*)/g)].map(([, file, titles]) => ({
    file: file!,
    titles: [...titles!.matchAll(/"([^"]+)"/g)].map(([, title]) => title!),
  }));

/** A citation without a title, or of what is not there. */
function wrongIn({ file, titles }: Citation): string[] {
  if (!existsSync(join(root, file))) return [`${file} does not exist`];
  if (titles.length === 0) return [`${file} is named without a test`];
  const source = readFileSync(join(root, file), 'utf8');
  return titles.filter((title) => !source.includes(title)).map((title) => `${file} has no test "${title}"`);
}

test('every test that the page names exists', () => {
  expect(citationsIn(page).flatMap(wrongIn)).toEqual([]);
});

test('every row of the page names a test', () => {
  const rows = page.split('\n').filter((line) => /^\| (?!risk)[^-]/.test(line) && !line.startsWith('|---'));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => citationsIn(row).length === 0)).toEqual([]);
});

test('a missing file, a missing title and a file without a title are found', () => {
  const text = '`test/none.test.ts` "a", `test/docs/links.test.ts` "pictures are small" and "pictures are large" | `test/docs/page.ts` |';
  expect(citationsIn(text).flatMap(wrongIn)).toEqual([
    'test/none.test.ts does not exist', 'test/docs/links.test.ts has no test "pictures are large"', 'test/docs/page.ts is named without a test',
  ]);
});
