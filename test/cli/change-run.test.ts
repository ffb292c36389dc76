// The command line on open runs and instances: pause, resume, edit and drain, as over HTTP.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine } from '../../src/index.ts';
import { until } from '../http/world.ts';
import { Place } from './stint.ts';

test('a run is paused, edited and resumed, with the reason in its history', async () => {
  using place = new Place();
  const store = ['--store', `sqlite:${join(place.folder, 'jobs.db')}`];
  const stint = (...words: string[]) => place.stint('runs', ...words, ...store);
  await place.stint('migrate', ...store);
  await stint('create', 'mail', '--tag', 'team=red');
  expect(await stint('pause', '1', '--why', 'audit')).toMatchObject({ code: 0, out: expect.stringMatching(/^Paused run 1\./) as unknown });
  expect(await stint('pause', '1')).toMatchObject({ code: 2 });
  const edited = await stint('edit', '1', '--priority', '-3', '--due', '2040-01-01T00:00:00Z', '--tag', 'team=blue', '--json');
  expect(JSON.parse(edited.out)).toMatchObject({ priority: -3, dueAt: Date.UTC(2040, 0, 1), tags: { team: 'blue' }, hold: 'pause' });
  expect(JSON.parse((await stint('edit', '1', '--clear-tags', '--json')).out).tags).toEqual({});
  expect(await stint('resume', '1')).toMatchObject({ code: 0, out: 'Resumed run 1\n' });
  const { items } = JSON.parse((await stint('events', '1', '--json')).out) as { items: { kind: string; why: string | null }[] };
  expect(items.map(({ why }) => why)).toContain('audit');
});

test('a type is paused and resumed, and the pause is listed', async () => {
  using place = new Place();
  const store = ['--store', `sqlite:${join(place.folder, 'jobs.db')}`];
  const types = (...words: string[]) => place.stint('types', ...words, ...store);
  await place.stint('migrate', ...store);
  await place.stint('runs', 'create', 'charge', ...store);
  expect(await types('pause', 'charge')).toMatchObject({ code: 2, err: expect.stringContaining('without a reason') as unknown });
  const why = 'the bank is down';
  expect(await types('pause', 'charge', '--why', why)).toMatchObject({ code: 0, out: 'charge is paused until it is resumed.\n' });
  const key = await types('pause', 'mail', '--key', 'acme', '--until', '2h', '--why', why, '--by', 'ada', '--json');
  expect(JSON.parse(key.out)).toMatchObject({ type: 'mail', key: 'acme', by: 'ada', why });
  expect((await types('pauses')).out).toMatch(/charge .*the bank is down\n.*mail +acme +ada /);
  expect((await types('ls')).out).toMatch(/charge +1 +0 +0 +yes/);
  expect((await place.stint('runs', 'explain', '1', ...store)).out).toContain('its type charge is paused by');
  expect(await types('resume', 'charge')).toMatchObject({ code: 0, out: 'charge is resumed.\n' });
  expect(await types('resume', 'mail', '--key', 'acme')).toMatchObject({ code: 0, out: 'mail, key "acme", is resumed.\n' });
  expect(JSON.parse((await types('pauses', '--json')).out)).toEqual({ items: [] });
  expect(await types('resume', 'charge')).toMatchObject({ code: 2 });
});

test('an instance is drained and resumed', async () => {
  using place = new Place();
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store, instance: 'alpha' });
  await engine.resume();
  const isDraining = async (): Promise<boolean> => (await engine.instances())[0]!.about.draining;
  expect(await place.stint('instances', 'drain', 'alpha', '--store', store)).toMatchObject({ code: 0 });
  await until(isDraining);
  expect((await place.stint('instances', 'ls', '--store', store)).out).toMatch(/alpha +draining/);
  expect(await place.stint('instances', 'resume', 'alpha', '--store', store)).toMatchObject({ code: 0 });
  await until(async () => !(await isDraining()));
  expect(await place.stint('instances', 'drain', 'beta', '--store', store)).toMatchObject({ code: 2 });
  await engine.close();
});

test('numbers that are none are refused, not taken for 0', async () => {
  using place = new Place();
  await place.stint('migrate');
  for (const words of [
    ['runs', 'create', 'mail', '--priority', ''],
    ['runs', 'ls', '--limit', '0x10'],
    ['audit', 'ls', '--limit', 'many'],
    ['schedule', 'preview', '--every', '1h', '--count', ' '],
    ['defs', 'create', 'nightly', '--type', 'mail', '--concurrency', ''],
    ['top', '--every', '99999999999'],
    ['work', '--slots', ''],
  ]) {
    const { code, err } = await place.stint(...words);
    expect([words, code]).toEqual([words, 2]);
    expect(err).toMatch(/^stint: --\w+ must be a .*number.* \(malformed\.option\)\n$/);
  }
});

test('top shows the rates of one interval when piped', async () => {
  using place = new Place();
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store });
  await engine.ready();
  const top = place.start('top', '--every', '3', '--store', store);
  const ended = top.ended();
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver) {
    const { id } = await engine.createNamed({ type: 'mail' }, {});
    await engine.cancelJobRun(id);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect((await ended).out).toMatch(/cancelled\/s (?!0 )[\d.]+/);
  await engine.close();
});
