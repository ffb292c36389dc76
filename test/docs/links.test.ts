// Links lead somewhere, to the heading too; every page can be reached.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePage, readPages, root, type Page } from './page.ts';

const pages = readPages();
const byPath = new Map(pages.map((page) => [page.path, page]));

const broken = ({ links }: Page): string[] =>
  links
    .filter(({ to, anchor }) => {
      if (!existsSync(join(root, to))) return true;
      return anchor !== null && byPath.get(to)?.anchors.has(anchor) !== true;
    })
    .map(({ to, anchor }) => (anchor === null ? to : `${to}#${anchor}`));

test.each(pages.map((page) => [page.path, page] as const))('every link of %s has an existing target', (_, page) => {
  expect(broken(page)).toEqual([]);
});

test('a link to nothing, or to a heading that is not there, is found', () => {
  const text = '# A b\n[1](y.md) [2](../README.md#no-such-heading) [3](https://example.org) `[4](z.md)`';
  const page = parsePage('docs/x.md', text);
  expect(broken(page)).toEqual(['docs/y.md', 'README.md#no-such-heading']);
  expect([...page.anchors]).toEqual(['a-b']);
});

test('every page can be reached from the README', () => {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const found = path.endsWith('.md') ? path : join(path, 'README.md');
    const page = byPath.get(found);
    if (!page || reached.has(found)) return;
    reached.add(found);
    for (const { to } of page.links) visit(to.replace(/\/$/, ''));
  };
  visit('README.md');
  expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
});

test('pictures are small', () => {
  const pictures = pages.flatMap(({ links }) => links.map(({ to }) => to)).filter((to) => /\.(png|svg|jpg)$/.test(to));
  for (const picture of new Set(pictures)) expect(statSync(join(root, picture)).size, picture).toBeLessThan(200_000);
});
