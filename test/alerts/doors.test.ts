// Alerts over HTTP and in the command line: created, edited, tested and deleted, without ever showing the target.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Place } from '../cli/stint.ts';
import { api, as, records, until, world, type World } from '../http/world.ts';
import { Receiver } from './receiver.ts';

let server: World;
let to: Receiver;
const secret = 'T0KEN';
beforeAll(async () => {
  to = await new Receiver().listen();
  server = await world({ access: { tokens: records }, engine: { alertAllow: ['127.0.0.0/8'] } });
});
afterAll(async () => {
  await server.close();
  to.close();
});

test('an operator creates, edits, tests and deletes an alert over HTTP; a viewer sees all but the target', async () => {
  const [olga, victor] = [as('operator'), as('viewer')];
  const body = { name: 'mail', types: ['mail*'], when: { failedInARow: 3 }, to: { slack: `${to.url}/${secret}` }, why: 'on call' };
  expect((await server.post(`${api}/alerts`, body, victor)).status).toBe(403);
  const created = await server.post(`${api}/alerts`, body, olga);
  expect(created).toMatchObject({ status: 201, body: { name: 'mail', when: 'failed 3 times in a row', to: `slack ${new URL(to.url).host}`, failing: 0 } });
  expect((await server.post(`${api}/alerts`, body, olga)).body.code).toBe('taken.alert');
  expect((await server.send('PATCH', `${api}/alerts/mail`, { when: { late: '10m' } }, olga)).body.when).toBe('late by 10m');
  expect((await server.send('PATCH', `${api}/alerts/none`, {}, olga)).status).toBe(404);
  const tested = await server.post(`${api}/alerts/mail/test`, {}, olga);
  expect(tested.status).toBe(202);
  await to.until((received) => received.length === 1);
  expect(to.received[0]).toMatchObject({ path: `/${secret}`, body: { text: 'Alert mail: this is a test message' } });
  const messages = async () => (await server.get(`${api}/alerts/mail/messages`, victor)).body;
  await until(async () => (await messages()).items[0].standing === 'succeeded');
  expect(await messages()).toMatchObject({ items: [{ run: tested.body.run, message: { isTest: true } }], next: null });
  const audit = (await server.get(`${api}/audit`, as('admin'))).body.items;
  expect(audit.map(({ action }: { action: string }) => action)).toEqual(['alert.test', 'alert.edit', 'alert.define']);
  const shown = await Promise.all(
    ['alerts', 'alerts/mail', 'alerts/mail/messages', `runs/${tested.body.run}`, `runs/${tested.body.run}/events`, 'audit', 'runs']
      .map((path) => server.get(`${api}/${path}`, as('admin'))),
  );
  expect(JSON.stringify(shown)).not.toContain(secret);
  expect((await server.send('DELETE', `${api}/alerts/mail?why=gone`, undefined, olga)).status).toBe(200);
  expect((await server.get(`${api}/alerts`, victor)).body).toEqual({ items: [] });
  expect((await server.get(`${api}/alerts/mail/messages`, victor)).body.code).toBe('unknown.alert');
});

test('stint alerts does the same', async () => {
  using place = new Place();
  const store = ['--store', `sqlite:${join(place.folder, 'jobs.db')}`];
  await place.stint('migrate', ...store);
  const stint = (...words: string[]) => place.stint('alerts', ...words, ...store);
  expect((await stint('create', 'mail', '--when', 'failed:3', '--webhook', `${to.url}/${secret}`, '--definition', 'night*', '--tag', 'a=b')).err).toBe('');
  const shown = await stint('show', 'mail');
  expect(shown.out).toContain('watches   definition night*, tag a=b');
  expect(shown.out).toContain('when      failed 3 times in a row, and recovered');
  expect((await stint('edit', 'mail', '--when', 'longer:1h', '--no-recovered', '--no-enabled')).out).toContain('state     disabled');
  expect((await stint('edit', 'mail')).err).toContain('nothing to change');
  expect((await stint('edit', 'mail', '--reset')).err).toContain('no code declares the alert mail');
  expect((await stint('create', 'b', '--when', 'sometimes', '--slack', to.url)).err).toContain('--when takes failed');
  expect((await stint('test', 'mail')).out).toMatch(/^run \d+ sends a test message/);
  expect((await stint('history', 'mail')).out).toMatch(/pending .*test/);
  expect((await stint('ls')).out).toMatch(/mail +disabled +longer than 1h +webhook 127\.0\.0\.1:\d+ +0/);
  expect(await stint('delete', 'mail', '--why', 'gone')).toMatchObject({ code: 0 });
  expect((await stint('show', 'mail')).err).toContain('there is no alert "mail"');
  expect(JSON.stringify([shown, await place.stint('audit', 'ls', ...store)])).not.toContain(secret);
});

test('a URL of the standard input does not appear among the processes', async () => {
  using place = new Place();
  const store = ['--store', `sqlite:${join(place.folder, 'jobs.db')}`];
  await place.stint('migrate', ...store);
  await writeFile(join(place.folder, 'url'), `${to.url}/${secret}\n`);
  const created = place.startInShell('exec < url;', 'alerts', 'create', 'mail', '--when', 'failed', '--slack', '-', ...store);
  expect((await created.ended()).out).toContain(`slack ${new URL(to.url).host}`);
});
