// The table of seed statements in docs/seeds.md, held against the titles of the tests, both ways.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** `1.07 "statement" in file`, as the tests say it. */
function rowsOfTests(): string[] {
  return readdirSync(import.meta.dirname)
    .filter((name) => /^seed-\d\.test\.ts$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(import.meta.dirname, name), 'utf8');
      const titles = [...text.matchAll(/\btest\('(\d\.\d\d) ((?:[^'\\]|\\.)+)'/g)];
      return titles.map(([, id, title]) => `${id} ${title!.replaceAll(/\\(.)/g, '$1')} in test/seeds/${name}`);
    });
}

/** The same, as the table says it. */
function rowsOfTable(): string[] {
  const text = readFileSync(join(root, 'docs/seeds.md'), 'utf8');
  const rows = [...text.matchAll(/^\| (\d\.\d\d) \| (.+) \| \[[^\]]+\]\(\.\.\/(test\/seeds\/[^)]+)\) \|$/gm)];
  return rows.map(([, id, statement, file]) => `${id} ${statement} in ${file}`);
}

test('every statement of the table has a test that names it, and every such test a statement in the table', () => {
  const [tests, table] = [rowsOfTests(), rowsOfTable()];
  expect(tests.filter((row) => !table.includes(row))).toEqual([]);
  expect(table.filter((row) => !tests.includes(row))).toEqual([]);
  expect(tests.length).toBeGreaterThan(100);
});

test('no number is given twice or left out, and each is in the file of its seed', () => {
  for (const seed of [1, 3, 4, 5]) {
    const numbers = rowsOfTests().filter((row) => row.startsWith(`${seed}.`)).map((row) => row.slice(0, 4)).sort();
    expect(numbers).toEqual(numbers.map((_, index) => `${seed}.${String(index + 1).padStart(2, '0')}`));
  }
  for (const row of rowsOfTests()) expect(row).toContain(`seed-${row[0]}.test.ts`);
});
