// The tables in docs/seeds.md, compared with the titles of the tests.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { titlesIn } from './titles.ts';

const root = join(import.meta.dirname, '../..');
const seedFile = (seed: string): string => `test/seeds/seed-${seed}.test.ts`;
const doorsFile = 'test/seeds/doors.test.ts';

interface Row {
  readonly id: string;
  readonly files: readonly string[];
}

const rows: readonly Row[] = [
  ...readFileSync(join(root, 'docs/seeds.md'), 'utf8').matchAll(/^\| (\d\.\d\d) \| ".+" \| (\[.+\)) \|$/gm),
].map(([, id, links]) => ({ id: id!, files: [...links!.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file]) => file!) }));

const idsIn = (file: string): Set<string> => new Set(titlesIn(join(root, file)).map((title) => title.slice(0, 4)));

test('the statements of each seed are numbered from 01 without a gap', () => {
  for (const [seed, count] of [['1', 31], ['2', 41], ['3', 21], ['4', 43], ['5', 30]] as const) {
    const ids = rows.map(({ id }) => id).filter((id) => id.startsWith(seed));
    expect(ids).toEqual(Array.from({ length: count }, (_, index) => `${seed}.${String(index + 1).padStart(2, '0')}`));
  }
});

test('every statement cites test files that exist', () => {
  for (const { id, files } of rows) {
    expect(files.length, id).toBeGreaterThan(0);
    expect(files.filter((file) => !/^test\/.+\.test\.ts$/.test(file) || !existsSync(join(root, file))), id).toEqual([]);
  }
});

test('every statement but those of Bedrock has a test in the file of its seed, and every such test a statement', () => {
  for (const seed of ['1', '3', '4', '5']) {
    const ofSeed = rows.filter(({ id, files }) => id.startsWith(seed) && files.includes(seedFile(seed)));
    const cited = ofSeed.map(({ id }) => id);
    expect([...idsIn(seedFile(seed))].toSorted()).toEqual(cited);
  }
});

test('the statements that are shown with real processes, machines and programs cite the tests for that', () => {
  const cited = rows.filter(({ files }) => files.includes(doorsFile)).map(({ id }) => id);
  expect([...idsIn(doorsFile)].toSorted()).toEqual(cited);
});

test('statements of Bedrock cite tests that speak its protocol or know its rules of time', () => {
  const files = rows.filter(({ id }) => id.startsWith('2')).flatMap((row) => row.files);
  expect(files.filter((file) => !/^test\/(bedrock|time)\//.test(file))).toEqual([]);
});
