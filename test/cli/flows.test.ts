// The command line on flows: runs that follow runs are created, listed, shown, cancelled and retried.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { Place } from './stint.ts';

const [extract, load] = ['extract', 'load'].map((name) => jobType(name, { run: () => 1 }));

test('a run follows others by flags, which say what happens after a failure', async () => {
  using place = new Place();
  const store = ['--store', `sqlite:${join(place.folder, 'jobs.db')}`];
  const create = (...words: string[]) => place.stint('runs', 'create', 'mail', ...words, ...store, '--json');
  await place.stint('migrate', ...store);
  await create();
  await create('--follow', '1', '--on', 'failed');
  await create('--follow', '1', '--after-failure', 'wait');
  expect(await create('--on', 'failed')).toMatchObject({ code: 2, err: expect.stringContaining('need after') as unknown });
  expect(await create('--follow', '1', '--on', 'never')).toMatchObject({ code: 2 });
  await place.stint('runs', 'cancel', '1', ...store);
  const standings = async (): Promise<string[]> => {
    const { items } = JSON.parse((await place.stint('runs', 'ls', ...store, '--json')).out) as { items: { state: string }[] };
    return items.map(({ state }) => state);
  };
  expect(await standings()).toEqual(['held', 'pending', 'ended']);
});

test('a flow is created from a file, all or none', async () => {
  using place = new Place();
  const store = ['--store', `sqlite:${join(place.folder, 'jobs.db')}`];
  const file = (text: string): void => writeFileSync(join(place.folder, 'flow.yaml'), text);
  await place.stint('migrate', ...store);
  await place.stint('runs', 'create', 'mail', ...store);
  file('runs:\n  - { name: last, type: mail, after: [first, 1], on: ended }\n  - { name: first, type: mail }\n');
  const created = await place.stint('flows', 'create', 'flow.yaml', ...store);
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/last\n.*first\n.*Created flow/) as unknown });
  file('runs:\n  - { name: a, type: mail, after: [b] }\n  - { name: b, type: mail, after: [a] }\n');
  const refused = await place.stint('flows', 'create', 'flow.yaml', ...store);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('the flow has a cycle') as unknown });
  const { items } = JSON.parse((await place.stint('runs', 'ls', ...store, '--json')).out) as { items: object[] };
  expect(items).toHaveLength(3);
});

test('flows are listed, shown page by page, cancelled and retried', async () => {
  using place = new Place();
  const url = `sqlite:${join(place.folder, 'jobs.db')}`;
  const flows = (...words: string[]) => place.stint('flows', ...words, '--store', url);
  await place.stint('migrate', '--store', url);
  const engine = new Engine({ store: url, types: [extract!, load!] });
  const flow = await engine.createFlow((f) => {
    f.run(load!, { after: f.run(extract!) });
  });
  await engine.close();
  const [first, last] = flow.runs.map(({ id }) => String(id)) as [string, string];
  expect((await flows('ls')).out).toMatch(/extract, load +1 pending, 1 held/);
  expect((await flows('show', first)).out).toMatch(new RegExp(`extract +pending.*\n.*load +held +${first} open`));
  expect((await flows('show', first, '--limit', '1')).out).toContain(`Next page: stint flows show ${first} --after ${first}`);
  expect(JSON.parse((await flows('show', first, '--after', first, '--json')).out)).toMatchObject({ runs: [{ run: { id: Number(last) } }] });
  expect(await flows('cancel', first, '--why', 'wrong day')).toMatchObject({ code: 0, out: `2 runs of flow ${first} changed.\n` });
  expect(JSON.parse((await flows('retry', first, '--json')).out)).toEqual({ id: Number(first), runs: 2 });
  expect(await flows('stop', '4711')).toMatchObject({ code: 2, err: expect.stringContaining('there is no flow 4711') as unknown });
});
