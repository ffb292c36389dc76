// The URL of a store in output: nothing of its password is printed, however it is written.
import { expect, test } from 'vitest';
import { shownUrl } from '../../src/cli/shown-url.ts';

test.each([
  ['postgres://ada:secret@db:5432/jobs', 'postgres://ada:…@db:5432/jobs'],
  ['postgres://ada:se@cr@et@db/jobs', 'postgres://ada:…@db/jobs'],
  ['postgres://ada:se/cr:et@db/jobs', 'postgres://ada:…@db/jobs'],
  ['postgres://:secret@db/jobs', 'postgres://:…@db/jobs'],
  ['postgres://ada@corp:secret@db/jobs', 'postgres://ada:…@db/jobs'],
  ['postgres://ada:@db/jobs', 'postgres://ada:…@db/jobs'],
  ['postgres://ada@db/jobs', 'postgres://ada@db/jobs'],
  ['postgres://db:5432/jobs?password=secret&listenUrl=postgres://ada:secret@db', 'postgres://db:5432/jobs'],
  ['sqlite:///srv/jobs@home.db', 'sqlite:///srv/jobs@home.db'],
  ['sqlite:.stint/jobs.db?durability=full', 'sqlite:.stint/jobs.db'],
  ['memory:', 'memory:'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});
