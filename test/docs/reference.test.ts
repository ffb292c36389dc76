// The generated reference is up to date, and every entry has a description.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fieldsOf } from '../../tools/reference/declarations.ts';
import { folder, pages } from '../../tools/reference/pages.ts';
import { world } from '../http/world.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { metricNames } from '../../src/http/metrics/metric-names.ts';
import { root } from './page.ts';

test.each(Object.entries(pages))('%s is what `npm run docs` makes of the code', (name, make) => {
  expect(readFileSync(join(root, folder, name), 'utf8')).toBe(make());
});

test.each(['options.md', 'events.md', 'metrics.md', 'refusals.md', 'cli.md'])('%s says something of most', (name) => {
  const rows = pages[name]!().split('\n').filter((line) => line.startsWith('| `'));
  const cellsOf = (line: string): string[] => line.split(/(?<!\\)\|/).slice(2, -1);
  const silent = rows.filter((line) => cellsOf(line).every((cell) => /^ *(`.*`)? *$/.test(cell)));
  expect(silent.length).toBeLessThan(rows.length / 20);
});

test('fields are read with their comments, methods and optional ones too', () => {
  const fields = fieldsOf('src/http/mount.ts', 'Mounted');
  expect(fields.map(({ name }) => name)).toEqual(['handle', 'close']);
  expect(fields[0]!.says).toMatch(/^Responds to a request below the path/);
});

test('every metric of a server is in the list, and every metric of the list exists on some store', async () => {
  const told = new Map<string, string>();
  for (const store of [undefined, await migratedDatabase()]) {
    const server = await world(store === undefined ? {} : { store });
    const { body } = await server.get('/metrics');
    for (const [, name, kind] of String(body).matchAll(/^# TYPE (\w+) (\w+)$/gm)) told.set(name!, kind!);
    await server.close();
  }
  expect(told).toEqual(new Map(Object.entries(metricNames).map(([name, { kind }]) => [name, kind])));
});

test('the guide of the dashboard names every qualifier of its search and the key of every page', () => {
  const guide = readFileSync(join(root, 'docs/guides/dashboard.md'), 'utf8');
  const search = readFileSync(join(root, 'dashboard/src/search.ts'), 'utf8');
  const [, qualifiers = ''] = /qualifiers[^=]*= \{([^]*?)\};/.exec(search) ?? [];
  const names = [...qualifiers.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(guide).toMatch(new RegExp(`\\| \`${name}[.:]`));
  const files = globSync('dashboard/src/pages/*.tsx', { cwd: root });
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  const pagesWithKeys = texts.flatMap((text) => [...text.matchAll(/title: '([^']+)'.*?nav: \{.*?key: '(\w)'/g)]);
  expect(pagesWithKeys.length).toBeGreaterThan(5);
  for (const [, title, key] of pagesWithKeys) expect(guide).toContain(`| ${title} | \`g ${key}\` |`);
});
