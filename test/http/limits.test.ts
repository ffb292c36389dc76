// Named limits over HTTP: routes, workers in other programs, metrics; the same for the command line.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, jobType, limit, typed } from '../../src/index.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { Place } from '../cli/stint.ts';
import { api, as, records, world, type Reply, type World } from './world.ts';

const mail = limit('mail', { rate: '10/1h', burst: 1, concurrency: 3 });
const tenant = limit('tenant', { concurrency: 2, key: 'tenant' });
const input = typed<{ tenant?: string; size?: number }>();
const code = {
  types: [
    jobType('send', { input, limits: [mail, tenant], cost: { mail: 'size' }, run: () => null }),
    jobType('note', {
      input, limits: [limit('by-code', { concurrency: 1, key: ({ tenant: name }) => name })], run: () => null,
    }),
    jobType('parts', {
      taskLimits: [tenant], taskDetails: () => [], taskResults: () => null,
    }),
  ],
  defs: [],
};

describe.each([
  ['SQLite', () => undefined],
  ['PostgreSQL', () => migratedDatabase()],
])('on %s', (_, urlOf) => {
  let server: World;
  const wanda = as('worker');
  const olga = as('operator');
  beforeAll(async () => {
    const store = await urlOf();
    server = await world({
      ...(store === undefined ? {} : { store }), access: { tokens: records }, engine: code, isIdle: true,
    });
    // Declares what the code says, and executes nothing.
    await server.engine.resume();
    await server.engine.suspend();
  });
  afterAll(() => server.close());

  const claim = async (types: string[]): Promise<Reply['body'][]> =>
    (await server.post(`${api}/work/claim`, { worker: 'w', types, limit: 5 }, wanda)).body.items;
  const create = (body: object): Promise<Reply> => server.post(`${api}/runs`, body, olga);
  const limitNow = async (name: string): Promise<Reply['body']> => (await server.get(`${api}/limits/${name}`, olga)).body;

  test('a closed limit is reopened by operators, under one key or all, and the audit has it', async () => {
    const { store } = server.engine.jobs;
    const closed = async (): Promise<(number | null)[]> =>
      (await store.limitUse('tenant', { keys: ['acme', 'other'] })).map(({ closedUntil }) => closedUntil && 1);
    for (const key of ['acme', 'other']) await store.closeLimit('tenant', key, store.now() + 60_000);
    const path = `${api}/limits/tenant/reopen`;
    expect((await server.post(path, {}, as('viewer'))).status).toBe(403);
    expect((await server.post(path, { key: 'acme', why: 'they are back' }, olga)).body).toMatchObject({ name: 'tenant' });
    expect(await closed()).toEqual([null, 1]);
    expect((await server.post(path, {}, olga)).status).toBe(200);
    expect(await closed()).toEqual([null, null]);
    expect((await server.post(`${api}/limits/mail/reopen`, { key: 'acme' }, olga)).body.code).toBe('malformed.option');
    expect((await server.post(`${api}/limits/apy/reopen`, {}, olga)).body.code).toBe('limit.unknown');
    const { items } = (await server.get(`${api}/audit?action=limit.reopen`, as('admin'))).body;
    expect(items.map(({ by, why, after }: Record<string, unknown>) => [by, why, after])).toEqual([
      ['http:olga', null, { name: 'tenant', key: null }],
      ['http:olga', 'they are back', { name: 'tenant', key: 'acme' }],
    ]);
  });

  test('limits are listed with the values of the code, overridden, and reset, by operators', async () => {
    const { body } = await server.get(`${api}/limits`, as('viewer'));
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['by-code', 'mail', 'tenant']);
    const path = `${api}/limits/mail/override`;
    expect((await server.send('PUT', path, { rate: '20/1h' }, as('viewer'))).status).toBe(403);
    const changed = await server.send('PUT', path, { rate: '20/1h', concurrency: null, why: 'new contract' }, olga);
    expect(changed.body).toMatchObject({
      code: { rate: '10/1h', burst: 1, concurrency: 3 },
      override: { rate: '20/1h', burst: 2, concurrency: null, by: 'http:olga', why: 'new contract' },
      values: { rate: '20/1h', burst: 2, concurrency: null },
    });
    expect((await server.send('PUT', path, { rate: 'often' }, olga)).body.code).toBe('malformed.rate');
    expect((await server.send('DELETE', path, undefined, olga)).body).toMatchObject({
      override: null, values: { rate: '10/1h', concurrency: 3 },
    });
    const { body: audit } = await server.get(`${api}/audit?action=limit.override`, olga);
    expect(audit.items.map(({ why }: { why: string }) => why)).toEqual([null, 'new contract']);
    expect((await server.get(`${api}/limits/nothing`, olga)).body.code).toBe('limit.unknown');
  });

  test('a limit that no code declares is created once', async () => {
    const made = await server.post(`${api}/limits`, { name: 'extra', rate: '5/1s', isKeyed: true }, olga);
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ code: null, isKeyed: true })]);
    expect((await server.post(`${api}/limits`, { name: 'extra', rate: '5/1s' }, olga)).body).toMatchObject({
      status: 409, code: 'taken.limit', title: 'there is a limit with this name already',
    });
  });

  test('viewers see no secrets in the reasons of a pause, a resume with a spread, and an override', async () => {
    const path = `${api}/limits/secret`;
    const why = 'token=hunter2';
    await server.post(`${api}/limits`, { name: 'secret', concurrency: 1, why }, olga);
    await server.post(`${path}/pause`, { why }, olga);
    const run = jobType('secretive', { limits: [limit('secret', { concurrency: 1 })], run: () => null });
    await server.engine.createJobRuns(run, [{}, {}]);
    const seen = async (): Promise<unknown[]> => {
      const { override, paused, spread } = (await server.get(path, as('viewer'))).body;
      return [override.why, paused?.why, spread?.why];
    };
    expect(await seen()).toEqual(['token=[redacted]', 'token=[redacted]', undefined]);
    await server.post(`${path}/resume`, { why, spread: '1h' }, olga);
    expect(await seen()).toEqual(['token=[redacted]', undefined, 'token=[redacted]']);
    const { items } = (await server.get(`${api}/limits`, as('viewer'))).body;
    expect(JSON.stringify(items)).not.toContain('hunter2');
  });

  test('a paused limit starts no job of a worker until an operator resumes it', async () => {
    await server.engine.createNamed({ type: 'note' }, { input: { tenant: 'paused' } });
    const path = `${api}/limits/by-code`;
    expect((await server.post(`${path}/pause`, { why: 'maintenance' }, as('viewer'))).status).toBe(403);
    expect((await server.post(`${path}/pause`, {}, olga)).status).toBe(400);
    const { body } = await server.post(`${path}/pause`, { why: 'maintenance', until: '2h' }, olga);
    expect(body.paused).toMatchObject({ by: 'http:olga', why: 'maintenance' });
    expect(await claim(['note'])).toEqual([]);
    expect((await server.post(`${path}/resume`, {}, olga)).body.paused).toBeNull();
    expect(await claim(['note'])).toHaveLength(1);
    expect((await server.post(`${path}/resume`, {}, olga)).body.code).toBe('unknown.pause');
  });

  test('a limit that no code declares is deleted, by operators, and one that code declares is not', async () => {
    await server.post(`${api}/limits`, { name: 'gone', rate: '5/1s' }, olga);
    const path = `${api}/limits/gone?why=unused`;
    expect((await server.send('DELETE', path, undefined, as('viewer'))).status).toBe(403);
    expect((await server.send('DELETE', path, undefined, olga)).status).toBe(200);
    const { body } = await server.get(`${api}/limits/gone`, olga);
    expect(body).toMatchObject({ code: 'limit.unknown', detail: expect.stringMatching(/--create.*POST \/limits/) as unknown });
    expect((await server.send('DELETE', path, undefined, olga)).body.code).toBe('limit.unknown');
    expect((await server.send('DELETE', `${api}/limits/mail`, undefined, olga)).body).toMatchObject({
      status: 409, code: 'declared.limit',
    });
    const { items: [entry] } = (await server.get(`${api}/audit?action=limit.delete`, olga)).body;
    expect(entry).toMatchObject({ by: 'http:olga', why: 'unused', before: { name: 'gone' }, after: null });
  });

  test('a worker of another program gets no more jobs than the limits admit, closes one and spends of it', async () => {
    const ids: number[] = [];
    for (let run = 0; run < 3; run++) ids.push((await create({ type: 'send', input: { tenant: 'acme' } })).body.id as number);
    const [job, ...others] = await claim(['send']);
    expect([job?.id, others]).toEqual([ids[0], []]);
    const say = (what: string, body: object) => server.post(`${api}/work/${job!.id}/${what}`, { fence: 1, ...body }, wanda);
    expect((await say('spend', { limit: 'other', cost: 1 })).body.code).toBe('limit.unknown');
    expect((await say('spend', { limit: 'mail', cost: -1 })).body.code).toBe('limit.cost');
    expect((await say('spend', { limit: 'mail', cost: 1e9 + 1 })).body.code).toBe('limit.cost');
    const { use: [before] } = await limitNow('mail');
    expect((await say('spend', { limit: 'mail', cost: 10 })).status).toBe(200);
    const { use: [after] } = await limitNow('mail');
    expect(after.opensAt - before.opensAt).toBe(3_600_000);
    expect((await say('release', { rateLimited: { limit: 'other', retryAfter: '2h' } })).body.code).toBe('limit.unknown');
    expect((await say('release', { rateLimited: { limit: 'tenant', retryAfter: '2h' } })).body.standing).toBe('pending');
    const { body: released } = await server.get(`${api}/runs/${job!.id}`, olga);
    const { use: [closed] } = await limitNow('tenant');
    expect(closed).toMatchObject({ key: 'acme', admitted: 0, closedUntil: released.dueAt });
    expect(released.attempt).toBe(0);
    const { body: reasons } = await server.get(`${api}/runs/${ids[1]}/explain`, olga);
    expect(reasons.items.map(({ code: each }: { code: string }) => each)).toEqual(
      expect.arrayContaining(['rate.used']),
    );
  });

  test('the metrics have a gauge per limit', async () => {
    const { body } = await server.get('/metrics', olga);
    expect(body).toContain('stint_limit_concurrency{limit="mail"} 3');
    expect(body).toMatch(/stint_limit_wait_seconds\{limit="mail"\} \d+/);
  });

  test('a server without the code applies the same limits, and refuses what only code can compute', async () => {
    const { jobs: { store } } = server.engine;
    const bare = new Engine({ store });
    const run = await bare.createNamed({ type: 'send' }, { input: { tenant: 'b', size: 1 } });
    const same = await server.engine.createNamed({ type: 'send' }, { input: { tenant: 'b', size: 1 } });
    expect((await run.get()).gate).toBe((await same.get()).gate);
    const refusalOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => (error as { code: string }).code);
    expect(await refusalOf(bare.createNamed({ type: 'send' }, { input: { size: 2 } }))).toBe('limit.cost');
    expect(await refusalOf(bare.createNamed({ type: 'note' }, { input: { tenant: 'b' } }))).toBe('needs.code');
    expect(await refusalOf(bare.define('daily', 'send', { params: { size: 0 } }))).toBe('limit.cost');
  });
});

test('the command line lists, shows, sets, creates and resets limits', async () => {
  using place = new Place();
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store, ...code });
  await engine.resume();
  await engine.close();
  const stint = (...words: string[]) => place.stint('limits', ...words, '--store', store);
  expect((await stint('ls')).out).toMatch(/mail +10\/1h \(burst 1\) +3 +0 +now/);
  const set = await stint('set', 'mail', '--rate', '20/1h', '--concurrency', 'none', '--why', 'contract', '--json');
  expect(JSON.parse(set.out)).toMatchObject({
    values: { rate: '20/1h', burst: 2, concurrency: null }, override: { why: 'contract' },
  });
  expect((await stint('show', 'mail')).out).toMatch(/values +rate 20\/1h \(burst 2\), concurrency any\n +code +rate 10\/1h/);
  expect(await stint('set', 'more', '--concurrency', '2')).toMatchObject({ code: 2, err: expect.stringContaining('limit.unknown') as unknown });
  expect(await stint('set', 'more', '--concurrency', '2', '--create')).toMatchObject({ code: 0 });
  expect(await stint('set', 'mail', '--rate', 'x')).toMatchObject({ code: 2 });
  expect(await stint('reopen', 'tenant', '--key', 'acme', '--why', 'back')).toMatchObject({ code: 0 });
  expect(await stint('reopen', 'apy')).toMatchObject({ code: 2, err: expect.stringContaining('limit.unknown') as unknown });
  expect(await stint('set', 'mail', '--rate', '1/s', '--keyed')).toMatchObject({ code: 2, err: expect.stringContaining('--create') as unknown });
  expect(await stint('pause', 'mail')).toMatchObject({ code: 2, err: expect.stringContaining('--why') as unknown });
  expect((await stint('pause', 'mail', '--why', 'down', '--until', '2h')).out).toMatch(/paused +by .*: down/);
  expect((await stint('resume', 'mail')).out).not.toContain('paused');
  expect(await stint('delete', 'more')).toMatchObject({ code: 0 });
  expect((await stint('reset', 'mail')).out).toContain('values    rate 10/1h (burst 1), concurrency 3');
  expect(await stint('delete', 'mail'), 'the program that declared it is gone').toMatchObject({ code: 0 });
});
