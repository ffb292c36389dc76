// The breaches of the seeds fit the source, and every test of a statement has one. npm run prove plants them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { breaches } from './breaches.ts';
import { titlesIn } from './titles.ts';

const root = join(import.meta.dirname, '../..');

test.each(breaches)('the breach can be planted: $title', ({ cuts }) => {
  for (const { file, from, to } of cuts) {
    expect(readFileSync(join(root, file), 'utf8').split(from), `${file}: ${from}`).toHaveLength(2);
    expect(to).not.toBe(from);
  }
});

test('every test of a statement has a breach that it must notice, and every breach a test', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => /^(seed-\d|doors)\.test\.ts$/.test(name));
  const titles = files.flatMap((name) => titlesIn(join(import.meta.dirname, name)));
  const noticed = breaches.filter(({ file }) => file === undefined).flatMap(({ breaks }) => breaks);
  const isExpectedToFail = (title: string): boolean => title.includes('(found.md ');
  const isNoticed = (title: string): boolean => noticed.some((start) => title.startsWith(start));
  expect(titles.filter((title) => !isExpectedToFail(title) && !isNoticed(title))).toEqual([]);
  expect(noticed.filter((start) => !titles.some((title) => title.startsWith(start)))).toEqual([]);
});

test.each(breaches.filter(({ file }) => file !== undefined))('its tests exist: $title', ({ file, breaks }) => {
  const text = readFileSync(join(root, file!), 'utf8');
  expect(breaks.filter((start) => !text.includes(`'${start}`))).toEqual([]);
});
