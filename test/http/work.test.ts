// Workers over HTTP: long polls, leases and fences.
import { execFile } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createHttp } from '../../src/http/server.ts';
import { slowness } from '../support/patience.ts';
import { isInstalled, python } from '../support/runtimes.ts';
import { api, as, records, shakyStore, until, untilGauge, world, type Reply, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world({ access: { tokens: records }, engine: { types: [], defs: [], lease: `${2 * slowness}s` } });
});
afterAll(() => server.close());

const wanda = as('worker');
const wim = as('otherWorker');
const olga = as('operator');

/** The longest wait that the server allows: a claim ends as soon as there is work. */
const waitMs = 60_000;

const create = async (body: object): Promise<number> =>
  (await server.post(`${api}/runs`, body, olga)).body.id as number;
const claim = async (types: string[], more: object = {}, who = wanda): Promise<Reply['body'][]> =>
  (await server.post(`${api}/work/claim`, { worker: 'w1', types, ...more }, who)).body.items;
const say = (id: number, what: string, body: object, who = wanda): Promise<Reply> =>
  server.post(`${api}/work/${id}/${what}`, body, who);
const look = async (id: number): Promise<Reply['body']> => (await server.get(`${api}/runs/${id}`, olga)).body;

let types = 0;
let type: string;
const fresh = (): string => (type = `type${(types += 1)}`);
afterEach(() => void type);

describe('a remote worker', () => {
  test('claims a job, reports progress and log, and completes it', async () => {
    const id = await create({ type: fresh(), input: { a: 1 }, tags: { t: 'x' } });
    const [job, ...others] = await claim([type]);
    expect(others).toEqual([]);
    expect(job).toMatchObject({ id, type, input: { a: 1 }, fence: 1, attempt: 1, phase: 'run', tags: { t: 'x' }, children: [] });
    const steps = [
      { kind: 'startStage', description: 'parts', total: 2 }, { kind: 'startItem', description: 'one' }, { kind:
      'completeItem' },
    ];
    expect((await say(id, 'progress', { fence: 1, steps })).body).toEqual({ id, standing: 'running', isCancelled: false });
    await say(id, 'log', { fence: 1, lines: [{ text: 'hello\u0000' }, { level: 'warn', text: 'hm' }] });
    expect((await look(id)).progress).toMatchObject({ percent: 50, stage: { description: 'parts', done: 1 } });
    expect((await say(id, 'complete', { fence: 1, result: [1] })).body.standing).toBe('succeeded');
    expect(await look(id)).toMatchObject({ result: [1], attempts: [{ worker: 'http:wanda/w1' }] });
    const { body } = await server.get(`${api}/runs/${id}/log`, olga);
    expect(body.items.map(({ level }: { level: string }) => level)).toEqual(['info', 'warn']);
  });

  test('writes log lines and progress that tell its attempt from the one before', async () => {
    const id = await create({ type: fresh() });
    const fences = (items: Reply['body'][]): unknown[] => items.map(({ fence }) => fence);
    const progress = async (): Promise<Reply['body']> =>
      (await server.get(`${api}/runs/${id}/progress`, olga)).body.progress;
    const steps = (description: string) => [{ kind: 'startStage', description }];
    await claim([type]);
    await say(id, 'log', { fence: 1, lines: [{ text: 'a' }, { text: 'b' }] });
    await say(id, 'progress', { fence: 1, steps: steps('first') });
    await say(id, 'release', { fence: 1 });
    await claim([type]);
    await say(id, 'log', { fence: 2, lines: [{ text: 'c' }] });
    expect(await progress()).toMatchObject({ fence: 1 });
    await say(id, 'progress', { fence: 2, steps: steps('second') });
    expect(await progress()).toMatchObject({ fence: 2, processes: [{ stages: [{ description: 'second' }] }] });
    await say(id, 'complete', { fence: 2 });
    expect(fences((await server.get(`${api}/runs/${id}/log`, olga)).body.items)).toEqual([1, 1, 2]);
    expect(fences((await look(id)).attempts)).toEqual([2, 1]);
  });

  test('waits for work and gets a new run', async () => {
    const waiting = claim([fresh()], { waitMs });
    await untilGauge(server, 'stint_workers_waiting', 1, olga);
    const id = await create({ type });
    // A claim that was answered at the end of its wait would be empty.
    expect((await waiting)[0]).toMatchObject({ id });
  });

  test('gets an empty answer after waitMs', async () => {
    const start = performance.now();
    expect(await claim([fresh()], { waitMs: 300 })).toEqual([]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(290);
  });

  test('that disconnects while it waits gets no job', async () => {
    const gone = new AbortController();
    const waiting = server.post(
      `${api}/work/claim`, { worker: 'w1', types: [fresh()], waitMs }, { ...wanda, signal: gone.signal },
    );
    await untilGauge(server, 'stint_workers_waiting', 1, olga);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await untilGauge(server, 'stint_workers_waiting', 0, olga);
    const id = await create({ type });
    const [job] = await claim([type], { waitMs });
    expect(job).toMatchObject({ id });
  });

  test('never gets a job that another one holds', async () => {
    fresh();
    for (let n = 0; n < 20; n++) await create({ type });
    const claims = await Promise.all(Array.from({ length: 8 }, (_, n) => claim([type], { worker: `w${n}`, limit: 5 })));
    const ids = claims.flat().map(({ id }) => id as number);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(20);
  });

  test('fails an attempt, which is retried unless it is not retryable', async () => {
    const id = await create({ type: fresh() });
    const [job] = await claim([type]);
    const failed = await say(
      id, 'fail', { fence: job.fence, error: { message: 'no luck', data: { a: 1 } }, retryAt: Date.now() - 1 },
    );
    expect(failed.body.standing).toBe('pending');
    const [again] = await claim([type], { waitMs });
    expect(again).toMatchObject({ id, attempt: 2, fence: 2 });
    await say(id, 'fail', { fence: 2, error: { message: 'never', code: 'missing output' }, retryable: false });
    expect(await look(id)).toMatchObject({ standing: 'failed', error: { code: 'missing output', message: 'never' } });
  });

  test('releases a job without counting the attempt', async () => {
    const id = await create({ type: fresh() });
    const [job] = await claim([type]);
    expect((await say(id, 'release', { fence: job.fence })).body.standing).toBe('pending');
    expect((await claim([type]))[0]).toMatchObject({ id, attempt: 1, fence: 2 });
  });

  test('chooses the wait until the next attempt by the clock of the server', async () => {
    const id = await create({ type: fresh() });
    await claim([type]);
    const due = { retryAfter: '2h', retryAt: 1 };
    expect((await say(id, 'fail', { fence: 1, error: { message: 'x' }, ...due })).status).toBe(400);
    expect((await say(id, 'release', { fence: 1, delay: '2h', dueTime: 1 })).status).toBe(400);
    await say(id, 'fail', { fence: 1, error: { message: 'x' }, retryAfter: '2h' });
    const failed = await look(id);
    expect(failed.dueAt - failed.attempts[0].end).toBeGreaterThan(7_100_000);
    await server.send('PATCH', `${api}/runs/${id}`, { dueTime: 1 }, olga);
    await claim([type], { waitMs });
    await say(id, 'release', { fence: 2, delay: 3_600_000 });
    expect(await look(id)).toMatchObject({ standing: 'pending', attempt: 1 });
    expect((await look(id)).dueAt - failed.createdAt).toBeGreaterThan(3_500_000);
  });

  test('creates children, completes, and gets its job again with their results', async () => {
    const id = await create({ type: fresh() });
    const [job] = await claim([type]);
    const unnamed = await say(id, 'children', { fence: job.fence, children: [{ type: 'a part' }] });
    expect([unnamed.status, unnamed.body.code]).toEqual([400, 'malformed.name']);
    const made = await say(id, 'children', {
      fence: job.fence, children: [{ type: `${type}.part`, key: 'a', input: 1 }, { type: `${type}.part`, key: 'b',
      input: 2 }],
    });
    expect([made.status, made.body.items.length]).toEqual([201, 2]);
    expect(await claim([`${type}.part`])).toEqual([]);
    expect((await say(id, 'complete', { fence: job.fence })).body.standing).toBe('held');
    const children = await claim([`${type}.part`], { limit: 5 });
    expect(children.map(({ key, parent }) => [key, parent])).toEqual([['a', id], ['b', id]]);
    for (const child of children) await say(child.id, 'complete', { fence: child.fence, result: child.input * 10 });
    const [again] = await claim([type], { waitMs });
    expect(again.children.map(({ key, result }: { key: string; result: number }) => [key, result])).toEqual([['a', 10], ['b', 20]]);
    await say(id, 'complete', { fence: again.fence, result: 30 });
    expect(await look(id)).toMatchObject({ standing: 'succeeded', result: 30 });
  });

  test('extends its lease by heartbeats, which report a cancel', async () => {
    const id = await create({ type: fresh() });
    const [job] = await claim([type], { leaseMs: 5_000 * slowness });
    const beat = await say(id, 'heartbeat', { fence: job.fence, leaseMs: 60_000 * slowness });
    expect(beat.body).toMatchObject({ isCancelled: false, cancel: null });
    expect(beat.body.leaseUntil).toBeGreaterThan(job.leaseUntil + 30_000);
    await server.post(`${api}/runs/${id}/cancel`, { why: 'enough' }, olga);
    expect((await say(id, 'heartbeat', { fence: job.fence })).body).toMatchObject({ isCancelled: true, cancel: { by: 'http:olga', why: 'enough' } });
    await say(id, 'fail', { fence: job.fence, error: { message: 'gave up' } });
    expect(await look(id)).toMatchObject({ standing: 'cancelled' });
  });

  test('is registered by its next claim if the store failed at the first', async () => {
    const failing = new Set(['beat']);
    const own = await world({ isIdle: true, engine: { store: shakyStore(failing), types: [], defs: [] } });
    const ask = (): Promise<Reply> => own.post(`${api}/work/claim`, { worker: 'w1', types: ['far'] });
    const instances = async (): Promise<string[][]> =>
      (await own.get(`${api}/instances`)).body.items.map((one: { types: string[] }) => one.types);
    expect((await ask()).status).toBe(500);
    failing.clear();
    expect((await ask()).status).toBe(200);
    expect(await instances()).toContainEqual(['far']);
    await own.close();
  });

  test('makes its job type known to all servers', async () => {
    await claim([fresh()]);
    const { body } = await server.post(`${api}/runs`, { type }, olga);
    expect(body.warning).toBeNull();
    const instances = await server.get(`${api}/instances`, olga);
    expect(instances.body.items.find(({ id }: { id: string }) => id === 'http:wanda/w1')).toMatchObject({ isAlive: true, types: [type] });
    const explained = await server.get(`${api}/runs/${body.id}/explain`, olga);
    expect(explained.body.items[0].code).toBe('about.to.run');
  });
});

const writes: [string, object][] = [
  ['heartbeat', {}], ['progress', { steps: [{ kind: 'startProcess' }] }], ['log', { lines: [{ text: 'x' }] }],
  ['children', { children: [{ type: 'x' }] }], ['complete', {}], ['fail', { error: { message: 'x' } }], ['release', {}],
];

describe.each(writes)('%s', (what, body) => {
  test('with a stale fence or by another worker is refused and changes nothing', async () => {
    const id = await create({ type: fresh() });
    const [job] = await claim([type]);
    const before = await look(id);
    for (const [fence, who] of [[job.fence + 1, wanda], [job.fence, wim]] as const) {
      const reply = await say(id, what, { fence, ...body }, who);
      expect([reply.status, reply.body.code]).toEqual([409, 'lost.lease']);
    }
    expect((await say(id, what, body)).status).toBe(400);
    expect((await say(999_999, what, { fence: 1, ...body })).status).toBe(404);
    expect(await look(id)).toEqual(before);
  });

  test('is refused after another worker has claimed the job', async () => {
    const id = await create({ type: fresh() });
    const [job] = await claim([type]);
    await say(id, 'release', { fence: job.fence });
    await claim([type], {}, wim);
    expect((await say(id, what, { fence: job.fence, ...body })).body.code).toBe('lost.lease');
  });
});

describe('a worker that crashes', () => {
  test('loses its job to another one when its lease lapses', async () => {
    const id = await create({ type: fresh() });
    await claim([type], { leaseMs: 1_000 });
    const [again] = await claim([type], { waitMs }, wim);
    expect(again).toMatchObject({ id, fence: 2 });
    const { body } = await server.get(`${api}/runs/${id}/events`, olga);
    expect(body.items.map(({ kind }: { kind: string }) => kind)).toContain('lapsed');
  });
});

describe('the worker in Python', () => {
  const start = (args: string[]) => {
    const token = wanda.headers.authorization!.slice('Bearer '.length);
    const child = execFile(
      python.command,
      ['examples/python-worker/worker.py', ...args],
      { env: { ...process.env, STINT_URL: server.url, STINT_TOKEN: token } },
    );
    const over = new Promise<number | null>((resolve) => child.on('exit', resolve));
    return { child, over };
  };

  test.runIf(isInstalled(python))('completes a job and stops one that is cancelled', async () => {
    const done = await create({ type: 'resize', input: { parts: 3, seconds: 0.01 } });
    const given = await create({ type: 'resize', input: { parts: 1000, seconds: 0.05 } });
    const { child, over } = start(['resize', '--jobs', '2']);
    child.stderr!.on('data', (text: string) => process.stderr.write(text));
    let run: Reply['body'];
    do run = await look(done);
    while (run.state !== 'ended');
    expect(run).toMatchObject({ standing: 'succeeded', result: { done: 3 }, progress: { percent: 100 } });
    do run = await look(given);
    while (!(run.progress?.stage?.done >= 2));
    await server.post(`${api}/runs/${given}/cancel`, { why: 'enough' }, olga);
    expect(await over).toBe(0);
    expect(await look(given)).toMatchObject({ standing: 'cancelled' });
  });

  test.runIf(isInstalled(python))('goes on after a restart of the server', async () => {
    const own = await world({ isIdle: true });
    const { hostname, port } = new URL(own.url);
    const run = async (): Promise<number> =>
      (await own.engine.createNamed({ type: 'resize' }, { input: { parts: 40, seconds: 0.05 } })).id;
    const id = await run();
    const child = execFile(
      python.command,
      ['examples/python-worker/worker.py', 'resize', '--jobs', '2'],
      { env: { ...process.env, STINT_URL: own.url } },
    );
    const over = new Promise<number | null>((resolve) => child.on('exit', resolve));
    await until(async () => (await own.engine.get(id)).state === 'running');
    await own.http.close();
    const again = createHttp({ engine: own.engine, dashboard: null });
    await again.listen({ host: hostname, port: Number(port) });
    const second = await run();
    expect(await over).toBe(0);
    for (const one of [id, second]) expect((await own.engine.get(one))).toMatchObject({ fate: 'succeeded' });
    await again.close();
    await own.close();
  });
});
