// Planted texts: tokens are nowhere, secrets of payloads are hidden from a viewer at every route, nothing that a request
// says of its caller counts, and a deleted run leaves nothing behind.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import type { Logger } from '../../src/logger.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, as, everyRoute, newToken, pathOf, records, tokens, until, world, type World } from './world.ts';

const canary = 'canary-5f2d';
const leaky = jobType('leaky', {
  retry: { attempts: 1 },
  run: async ({ input, log, progress, output }) => {
    log.warn(`password=${canary}`);
    progress.startingStage(`token=${canary}`);
    await output.write({ apiKey: canary });
    if ((input as { fails: boolean }).fails) throw Object.assign(new Error(`refused: password=${canary}`), { data: { secret: canary } });
    return { token: canary, kept: true };
  },
});

let folder: string;
let server: World;
const lines: string[] = [];
const ids: number[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stint-canary-'));
  const note = (text: string, about?: object): void => void lines.push(`${text} ${JSON.stringify(about)}`);
  const logger: Logger = { info: note, warn: note, error: note };
  const engine = { types: [leaky], defs: [], logger };
  server = await world({ store: `sqlite:${join(folder, 'jobs.db')}`, engine, logger, access: { tokens: records } });
  for (const fails of [false, true]) {
    const input = { fails, password: canary, deep: [{ authorization: canary }] };
    const asked = { type: 'leaky', input, tags: { apiToken: canary } };
    ids.push((await server.post(`${api}/runs`, asked, as('operator'))).body.id as number);
  }
  for (const id of ids) await until(async () => (await server.get(`${api}/runs/${id}`, as('admin'))).body.state === 'ended');
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const hasToken = (text: string): boolean => Object.values(tokens).some(({ token }) => text.includes(token.slice(20)));

test('a token is in no file of the store, no log line and no answer, also when it was wrong or was signed in with', async () => {
  const answers: string[] = [];
  for (const who of ['admin', 'operator', 'viewer', 'worker'] as const) {
    const { headers, body } = await server.post(`${api}/session`, { token: tokens[who].token });
    answers.push(JSON.stringify([...headers]), JSON.stringify(body));
    const wrong = `${tokens[who].token}x`;
    answers.push(JSON.stringify((await server.post(`${api}/session`, { token: wrong })).body));
    answers.push(JSON.stringify((await server.get(`${api}/me`, { headers: { authorization: `Bearer ${wrong}` } })).body));
  }
  for (const [, { method, as: kind, ...route }] of everyRoute) {
    if (method !== 'get' || kind === 'events') continue;
    answers.push(JSON.stringify((await server.get(pathOf({ method, ...route }).replace('999999', String(ids[0])), as('admin'))).body));
  }
  const files = ['jobs.db', 'jobs.db-wal'].map((name) => join(folder, name)).filter((file) => existsSync(file));
  const stored = files.map((file) => readFileSync(file, 'latin1'));
  expect(stored.join('')).toContain('http:olga');
  expect(lines.length).toBeGreaterThan(0);
  expect([answers, stored, lines].map((texts) => texts.filter(hasToken).length)).toEqual([0, 0, 0]);
});

test('secrets of payloads are in no answer to a viewer or a producer, no metric and no log line of the server', async () => {
  const leaks: string[] = [];
  for (const who of ['viewer', 'producer'] as const) {
    for (const [name, route] of everyRoute) {
      if (route.method !== 'get' || name === 'stream') continue;
      for (const id of ids) {
        const path = pathOf(route).replace('999999', String(id)).replace('nobody', 'leaky');
        const { body } = await server.get(path, as(who));
        if (JSON.stringify(body).includes(canary)) leaks.push(`${who}: ${path}`);
      }
    }
  }
  expect(leaks).toEqual([]);
  expect((await server.get('/metrics', as('admin'))).body).not.toContain(canary);
  expect(lines.filter((line) => line.includes(canary))).toEqual([]);
  expect(JSON.stringify((await server.get(`${api}/runs/${ids[1]}`, as('operator'))).body)).toContain(canary);
});

test('nothing that a request says of its caller counts: bodies with it are refused, and headers are ignored', async () => {
  const said = { by: 'mallory', createdBy: 'http:mallory', actor: 'mallory', role: 'admin', tenant: 'mallory', principal: { name: 'mallory' } };
  const headers = { ...as('operator').headers, 'x-user': 'mallory', 'x-forwarded-user': 'mallory', 'x-role': 'admin', forwarded: 'for=mallory' };
  const id = (await server.post(`${api}/runs`, { type: 'later', delay: '1h' }, { headers })).body.id as number;
  expect((await server.get(`${api}/runs/${id}`, as('admin'))).body.createdBy).toBe('http:olga');
  for (const [name, route] of everyRoute) {
    if (route.method === 'get' || route.roles === null || name === 'signOut') continue;
    const path = pathOf(route).replace('999999', String(id)).replace('nobody', 'later');
    for (const [key, value] of Object.entries(said)) {
      const who = route.roles.includes('worker') && !route.roles.includes('operator') ? as('worker') : { headers };
      const { status } = await server.send(route.method.toUpperCase(), path, { [key]: value }, who);
      expect([name, key, status]).toEqual([name, key, expect.toSatisfy((given: number) => given >= 400 && given < 500)]);
    }
  }
  const nested = [
    ['runs', { type: 'later', createdBy: 'mallory' }],
    ['flows', { runs: [{ name: 'a', type: 'later', createdBy: 'mallory' }] }],
    ['bulk', { action: 'cancel', filter: { type: ['later'], createdBy: 'mallory' } }],
    ['bulk', { action: 'cancel', filter: { type: ['later'] }, by: 'mallory' }],
    ['defs', { name: 'nested', type: 'later', createdBy: 'mallory' }],
  ] as const;
  for (const [path, body] of nested) {
    expect([path, (await server.post(`${api}/${path}`, body, { headers })).status]).toEqual([path, 400]);
  }
  await server.post(`${api}/runs/${id}/cancel`, { why: 'over' }, { headers });
  const { body } = await server.get(`${api}/audit?job=${id}`, as('admin'));
  expect(body.items.map(({ by, action }: { by: string; action: string }) => [by, action])).toEqual([['http:olga', 'cancel']]);
  expect(JSON.stringify((await server.get(`${api}/audit?limit=100`, as('admin'))).body)).not.toContain('mallory');
});

test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])('a run of the type %s finds no handler and waits', async (type) => {
  const created = await server.post(`${api}/runs`, { type, priority: 9 }, as('operator'));
  expect([created.status, created.body.warnings ?? created.body]).toEqual([201, expect.anything()]);
  const after = await server.post(`${api}/runs`, { type: 'leaky', input: { fails: false } }, as('operator'));
  await until(async () => (await server.get(`${api}/runs/${after.body.id}`, as('admin'))).body.state === 'ended');
  expect((await server.get(`${api}/runs/${created.body.id}`, as('admin'))).body).toMatchObject({ standing: 'pending', attempt: 0 });
  expect((await server.get(`${api}/defs/${type}`, as('operator'))).status).toBe(404);
});

test('no token is made twice', () => {
  const made = Array.from({ length: 100 }, () => newToken({ name: 'a', role: 'admin' }).token.slice(15));
  expect(new Set(made).size).toBe(100);
});

/** All that a copy of the database holds. */
async function dump(url: string): Promise<string> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
    const copy = join(await mkdtemp(join(tmpdir(), 'stint-erased-')), 'copy.db');
    db.prepare('VACUUM INTO ?').run(copy);
    db.close();
    const text = readFileSync(copy, 'latin1');
    await rm(join(copy, '..'), { recursive: true });
    return text;
  }
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'stint'`);
  const texts: string[] = [];
  for (const { name } of rows) {
    texts.push(...(await client.query<{ t: string }>(`select t::text as t from ${name} t`)).rows.map(({ t }) => t));
  }
  await client.end();
  return texts.join('\n');
}

test.each(['sqlite', 'postgres'])('on %s, a deleted run leaves nothing in a dump once the feed of events has been purged, and the audit names who deleted it', async (kind) => {
  const home = await mkdtemp(join(tmpdir(), 'stint-erase-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const url = kind === 'sqlite' ? `sqlite:${join(home, 'jobs.db')}` : await migratedDatabase();
  const own = await world({ store: url, engine: { types: [leaky], defs: [] } });
  onTestFinished(() => own.close());
  const created: number[] = [];
  for (const fails of [false, true]) {
    created.push((await own.post(`${api}/runs`, { type: 'leaky', input: { fails, canary }, tags: { person: 'ann' } })).body.id as number);
  }
  for (const id of created) await until(async () => (await own.get(`${api}/runs/${id}`)).body.state === 'ended');
  await until(async () => (await own.get(`${api}/runs/${created[0]}/log`)).body.items.length > 0);
  expect((await dump(url)).includes(canary)).toBe(true);
  for (const id of created) expect((await own.send('DELETE', `${api}/runs/${id}?why=erasure`)).status).toBeLessThan(300);
  const { body } = await own.get(`${api}/audit?action=delete`);
  expect(body.items.map(({ job, why }: { job: number; why: string }) => [job, why])).toEqual(created.toReversed().map((id) => [id, 'erasure']));
  // The feed has the errors of runs that failed. An engine keeps it for a day.
  await own.engine.jobs.store.purge({ limit: 1_000, feedKeptMs: 0, retentionMs: null });
  expect((await dump(url)).includes(canary)).toBe(false);
});
