// Runs over HTTP: each route's happy path, paging, filters, problems.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, type RouteName } from '../../src/http/contract.ts';
import { runDetail } from '../../src/http/views.ts';
import { Engine } from '../../src/index.ts';
import type { Event } from '../../src/model/event.ts';
import { api, as, ended, records, world, type Reply, type tokens, type World } from './world.ts';

let server: World;
let idle: World;
beforeAll(async () => {
  server = await world();
  idle = await world({ isIdle: true });
});
afterAll(async () => {
  await server.close();
  await idle.close();
});

/** What came back has all that the contract says, and nothing else. */
function fits(name: RouteName, { status, body }: Reply): void {
  expect([name, status]).toEqual([name, ('status' in routes[name] ? routes[name].status : 200)]);
  expect(routes[name].answer.parse(body)).toEqual(body);
}

const create = async (on: World, body: object): Promise<number> => (await on.post(`${api}/runs`, body)).body.id as number;

describe('a run', () => {
  test('is created, executed and shown in the words of every vocabulary', async () => {
    const reply = await server.post(`${api}/runs`, { type: 'echo', input: { a: 1 }, tags: { team: 'red' }, priority: 3 });
    fits('createRun', reply);
    expect(reply.body).toMatchObject({ outcome: 'created', warning: null });
    const run = await ended(server, reply.body.id);
    fits('getRun', { status: 200, headers: reply.headers, body: run });
    expect(run).toMatchObject({
      type: 'echo', state: 'ended', standing: 'succeeded', priority: 3, tags: { team: 'red' }, input: { a: 1 }, result: { a: 1 },
      words: { runState: 'DONE', bedrock: 'FINISHED', stage: 'done', fate: 'complete', status: 'COMPLETED', scheduled: 'completed' },
    });
    expect(run.attempts).toHaveLength(1);
  });

  test('has events, log, progress, statistics and an explanation', async () => {
    const id = await create(server, { type: 'echo' });
    await ended(server, id);
    const events = await server.get(`${api}/runs/${id}/events`);
    fits('listEvents', events);
    expect(events.body.items.map(({ kind }: { kind: string }) => kind)).toEqual(['created', 'claimed', 'succeeded']);
    const second = await server.get(`${api}/runs/${id}/events?from=2&limit=1`);
    expect([second.body.items[0].n, second.body.next]).toEqual([2, 3]);
    const log = await server.get(`${api}/runs/${id}/log`);
    fits('getLog', log);
    expect(log.body.items[0]).toMatchObject({ n: 1, level: 'info', text: 'heard' });
    fits('getProgress', await server.get(`${api}/runs/${id}/progress`));
    fits('getRunStats', await server.get(`${api}/runs/${id}/stats`));
    const reasons = await server.get(`${api}/runs/${id}/explain`);
    fits('explainRun', reasons);
    expect(reasons.body.items[0].code).toBe('ended');
  });

  test('with a negative limit is refused with the bound', async () => {
    const { status, body } = await server.get(`${api}/runs?limit=-1`);
    expect([status, body.detail]).toEqual([400, 'query.limit: Too small: expected number to be >=1']);
  });

  test('has an id of decimal digits, in paths and in queries', async () => {
    const id = await create(server, { type: 'echo' });
    await ended(server, id);
    const hex = `0x${id.toString(16)}`;
    for (const other of [hex, hex.toUpperCase(), `${id}e0`, `+${id}`, `0${id}`, `${id}.0`, ` ${id}`, `${id}n`, `-${id}`, '٣']) {
      const text = encodeURIComponent(other);
      for (const path of [`/runs/${text}`, `/runs/${text}/events`, `/runs?parent=${text}`, `/runs?after=${text}`]) {
        const { status, body } = await server.get(`${api}${path}`);
        expect([path, status, body.code]).toEqual([path, 400, 'malformed.request']);
      }
    }
    expect((await server.get(`${api}/runs/${id}`)).status).toBe(200);
    expect((await server.post(`${api}/bulk`, { action: 'cancel', dryRun: true, filter: { parent: true } })).status).toBe(400);
  });

  test('lists its tasks page by page', async () => {
    const id = await create(server, { type: 'parts' });
    const run = await ended(server, id);
    expect(run).toMatchObject({ result: 3, tasks: { total: 3, succeeded: 3, failed: 0, cancelled: 0 } });
    const page = await server.get(`${api}/runs/${id}/tasks?limit=2`);
    fits('listTasks', page);
    expect(page.body.items).toHaveLength(2);
    const rest = await server.get(`${api}/runs/${id}/tasks?limit=2&after=${page.body.next}`);
    expect([rest.body.items.length, rest.body.next]).toEqual([1, null]);
    expect((await server.get(`${api}/runs/${id}/stats`)).body).toMatchObject({ tasksTotal: 3, percentDone: 100, percentSuccess: 100 });
  });

  test('that failed shows its error, and can be retried and deleted', async () => {
    const id = await create(server, { type: 'broken', unique: 'only-one' });
    const cancelled = await server.post(`${api}/runs/${id}/cancel`, { why: 'enough' });
    fits('cancelRun', cancelled);
    const run = await ended(server, id);
    expect(run.cancel).toMatchObject({ by: 'http:local', why: 'enough' });
    const again = await server.post(`${api}/runs/${id}/retry`, { why: 'once more' });
    fits('retryRun', again);
    expect(again.body.generation).toBe(2);
    expect((await server.send('DELETE', `${api}/runs/${id}`)).body.code).toBe('wrong.state');
    await server.post(`${api}/runs/${id}/stop`, {});
    await ended(server, id);
    fits('deleteRun', await server.send('DELETE', `${api}/runs/${id}`));
    expect((await server.get(`${api}/runs/${id}`)).body).toMatchObject({ status: 404, code: 'unknown.job' });
  });

  test('that is running can be stopped, and the response says how', async () => {
    const id = await create(server, { type: 'patient' });
    for (;;) {
      const { body } = await server.get(`${api}/runs/${id}`);
      if (body.state === 'running') break;
    }
    const stopped = await server.post(`${api}/runs/${id}/stop`, {});
    fits('stopRun', stopped);
    expect(stopped.body).toMatchObject({ how: 'disowned', run: { standing: 'cancelled' } });
  });

  test('that is pending can be paused, edited and resumed; its history records the actor', async () => {
    const id = await create(idle, { type: 'echo', dueTime: '2031-01-01T00:00:00Z' });
    fits('pauseRun', await idle.post(`${api}/runs/${id}/pause`, { why: 'wait' }));
    fits('resumeRun', await idle.post(`${api}/runs/${id}/resume`, {}));
    const edited = await idle.send('PATCH', `${api}/runs/${id}`, { priority: 9, dueTime: '2032-01-01T00:00:00Z', tags: { a: 'b' } });
    fits('editRun', edited);
    expect(edited.body).toMatchObject({ priority: 9, dueAt: Date.UTC(2032, 0, 1), tags: { a: 'b' } });
    const { body } = await idle.get(`${api}/runs/${id}/events`);
    expect(body.items.map(({ kind, by }: { kind: string; by: string }) => [kind, by])).toEqual(
      ['created', 'paused', 'resumed', 'edited'].map((kind) => [kind, 'http:local']),
    );
    expect((await idle.get(`${api}/runs/${id}/explain`)).body.items[0].code).toBe('not.due');
  });

  test('that waits has its position in the queue', async () => {
    const create = async (priority: number): Promise<number> =>
      (await idle.post(`${api}/runs`, { type: 'queued', priority })).body.id as number;
    const ids = [await create(0), await create(5)];
    const shown = await Promise.all(ids.map((id) => idle.get(`${api}/runs/${id}`)));
    expect(shown.map(({ body }) => body.queuePosition as unknown)).toEqual([1, 0]);
  });

  test('of an unknown type is created with a warning', async () => {
    const { status, body } = await idle.post(`${api}/runs`, { type: 'elsewhere' });
    expect(status).toBe(201);
    expect(body.warning).toContain('elsewhere');
  });
});

describe('creating a run twice', () => {
  test('with the same Idempotency-Key creates one run', async () => {
    const headers = { 'idempotency-key': 'order-42' };
    const first = await idle.post(`${api}/runs`, { type: 'echo' }, { headers });
    const second = await idle.post(`${api}/runs`, { type: 'echo' }, { headers });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toMatchObject({ id: first.body.id, outcome: 'existing' });
  });

  test('with the same Idempotency-Key at the same moment creates one run', async () => {
    const headers = { 'idempotency-key': 'at-once' };
    const replies = await Promise.all(Array.from({ length: 20 }, () => idle.post(`${api}/runs`, { type: 'echo' }, { headers })));
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test('with the same key by different callers creates two runs', async () => {
    const own = await world({ access: { tokens: records }, isIdle: true });
    const said = (who: 'producer' | 'operator'): RequestInit => ({ headers: { ...as(who).headers, 'idempotency-key': 'k' } });
    const one = await own.post(`${api}/runs`, { type: 'echo' }, said('producer'));
    const two = await own.post(`${api}/runs`, { type: 'echo' }, said('operator'));
    expect(one.body.id).not.toBe(two.body.id);
    await own.close();
  });
});

describe('the list of runs', () => {
  test('has pages without gaps or duplicates, also while runs are created', async () => {
    const own = await world({ isIdle: true });
    const ids: number[] = [];
    for (let n = 0; n < 25; n++) ids.push(await create(own, { type: 'echo' }));
    const seen: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: Reply = await own.get(`${api}/runs?limit=10${after === 0 ? '' : `&after=${after}`}`);
      fits('listRuns', page);
      seen.push(...page.body.items.map(({ id }: { id: number }) => id));
      after = page.body.next;
      await create(own, { type: 'echo' });
    }
    expect(seen).toEqual(ids.toReversed());
    await own.close();
  });

  test.each([
    ['state=pending', ['a', 'b', 'c']], ['state=open', ['a', 'b', 'c']], ['state=ended', ['d']], ['state=cancelled,running', ['d']],
    ['type=mail', ['a', 'd']], ['type=mail,sms', ['a', 'b', 'd']], ['type=m*', ['a', 'd']], ['tag=team:red', ['a']],
    ['tag=team:red&tag=size:xl', ['a']], ['tag=team:red&tag=size:s', []], ['payload=to.id:7', ['b']], ['payload=to.name:Ann', ['c']],
    ['payload=flag:true', ['a']], ['q=RED', ['a']], ['dueBefore=2000-01-01T00:00:00Z', []], ['from=2000-01-01T00:00:00Z', ['a', 'b', 'c', 'd']],
    ['before=2000-01-01T00:00:00Z', []], ['kind=task', []], ['with=progress', ['a', 'b', 'c', 'd']], ['order=oldest', ['a', 'b', 'c', 'd']],
  ])('can be filtered by %s', async (filter, names) => {
    const own = await filtered();
    const { body } = await own.world.get(`${api}/runs?${filter}`);
    expect(body.items.map(({ id }: { id: number }) => own.nameOf(id)).sort()).toEqual(names);
    const counted = await own.world.get(`${api}/runs/count?${filter.replace(/(with|order)=\w+/, '')}`);
    fits('countRuns', counted);
    expect(counted.body.total).toBe(names.length);
  });

  let made: Promise<{ world: World; nameOf(id: number): string }> | undefined;
  const filtered = (): NonNullable<typeof made> => (made ??= (async () => {
    const own = await world({ isIdle: true });
    const asks = {
      a: { type: 'mail', input: { flag: true }, tags: { team: 'red', size: 'xl' } },
      b: { type: 'sms', input: { to: { id: 7 } } },
      c: { type: 'fax', input: { to: { name: 'Ann' } } },
      d: { type: 'mail' },
    };
    const names = new Map<number, string>();
    for (const [name, ask] of Object.entries(asks)) names.set(await create(own, ask), name);
    await own.post(`${api}/runs/${[...names].find(([, name]) => name === 'd')![0]}/cancel`, {});
    return { world: own, nameOf: (id) => names.get(id)! };
  })());
  afterAll(async () => (await made)?.world.close());

  const corpus = [
    "' OR '1'='1", "'; DROP TABLE job; --", '" OR ""="', '%27%20OR%201=1', '\\', '%', '_', '*'.repeat(20), '[', '{"$gt":""}', '${7*7}', '../../etc/passwd',
    '<script>alert(1)</script>', "1) UNION SELECT * FROM job --", 'NULL', '\u0000', '\ud800', 'a'.repeat(1001), '-1', '1e999', 'NaN', '__proto__', 'constructor:x',
  ];
  const fields = ['state', 'type', 'def', 'kind', 'parent', 'tag', 'from', 'before', 'dueBefore', 'error', 'payload', 'q', 'order', 'after', 'limit', 'sort', 'with', '__proto__'];
  test.each(fields)('takes SQL and patterns in %s literally', async (field) => {
    const own = await filtered();
    for (const text of corpus) {
      const { status, body } = await own.world.get(`${api}/runs?${field}=${encodeURIComponent(text.toWellFormed())}`);
      expect([text, [200, 400].includes(status)]).toEqual([text, true]);
      if (status === 200 && text.length < 15) expect(body.items.length).toBeLessThanOrEqual(4);
      expect(JSON.stringify(body)).not.toMatch(/sqlite|syntax error|at .*\.ts:/i);
    }
    expect((await own.world.get(`${api}/runs`)).body.items).toHaveLength(4);
  });
});

describe('an invalid request', () => {
  test.each([
    ['GET', '/runs/0', undefined, 400, 'malformed.request'],
    ['GET', '/runs/x', undefined, 400, 'malformed.request'],
    ['GET', '/runs/9007199254740993', undefined, 400, 'malformed.request'],
    ['GET', '/runs/424242', undefined, 404, 'unknown.job'],
    ['GET', '/runs/424242/log', undefined, 404, 'unknown.job'],
    ['GET', '/defs/nobody', undefined, 404, 'unknown.definition'],
    ['GET', '/runs?limit=0', undefined, 400, 'malformed.request'],
    ['GET', '/runs?nonsense=1', undefined, 400, 'malformed.request'],
    ['GET', '/types?nonsense=1', undefined, 400, 'malformed.request'],
    ['GET', '/runs?tag=red', undefined, 400, 'malformed.option'],
    ['GET', '/runs?from=yesterday', undefined, 400, 'malformed.time'],
    ['POST', '/runs', {}, 400, 'malformed.request'],
    ['POST', '/runs', { type: 'echo', def: 'nightly' }, 400, 'malformed.request'],
    ['POST', '/runs', { type: 'echo', priority: 1e9 }, 400, 'malformed.number'],
    ['POST', '/runs', { type: 'echo', delay: 'soon' }, 400, 'malformed.duration'],
    ['POST', '/runs', { type: 'echo', dueTime: 'now' }, 400, 'malformed.time'],
    ['POST', '/runs', { type: 'a\nb' }, 400, 'malformed.name'],
    ['POST', '/runs', { def: 'nobody' }, 404, 'unknown.definition'],
    ['POST', '/schedules/preview', { schedule: { cron: '61 * * * *' } }, 400, 'malformed.cron'],
    ['POST', '/schedules/preview', { schedule: { cron: '0 0 31 2 *' } }, 422, 'impossible.schedule'],
  ])('%s %s %j: %i %s', async (method, path, body, status, code) => {
    const reply = await idle.send(method, api + path, body);
    expect([reply.status, reply.body.code, reply.body.status]).toEqual([status, code, status]);
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(reply.body.detail).toMatch(/\w/);
  });

  test('that causes an unexpected error gets a trace and no stack', async () => {
    const logged: unknown[] = [];
    const own = await world({ isIdle: true, logger: { info() {}, warn() {}, error: (...words) => void logged.push(words) } });
    own.engine.jobs.store.find = () => Promise.reject(new Error('SELECT secret FROM job'));
    const { status, body } = await own.get(`${api}/runs`);
    expect([status, body.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(body)).not.toContain('SELECT');
    expect(JSON.stringify(logged)).toContain(body.trace);
    await own.close();
  });
});

describe('payloads', () => {
  test('are complete for operators, redacted for viewers and only shapes for producers', async () => {
    const own = await world({ access: { tokens: records } });
    const input = { user: 'ann', password: 'canary-1', nested: [{ apiToken: 'canary-2', n: 1 }] };
    const { body: { id } } = await own.post(`${api}/runs`, { type: 'echo', input }, as('producer'));
    const seen = async (who: keyof typeof tokens): Promise<Reply['body']> => {
      for (;;) {
        const { body } = await own.get(`${api}/runs/${id}`, as(who));
        if (body.state === 'ended') return body;
      }
    };
    expect((await seen('operator')).result).toEqual(input);
    const viewed = await seen('viewer');
    expect(viewed.input).toEqual({ user: 'ann', password: '[redacted]', nested: [{ apiToken: '[redacted]', n: 1 }] });
    expect(JSON.stringify(viewed)).not.toContain('canary');
    expect((await seen('producer')).input).toEqual({ user: '[string]', password: '[redacted]', nested: [{ apiToken: '[redacted]', n: '[number]' }] });
    expect((await own.get(`${api}/runs?payload=password:canary-1`, as('viewer'))).status).toBe(403);
    expect((await own.get(`${api}/runs?payload=password:canary-1`, as('operator'))).body.items).toHaveLength(1);
    await own.close();
  });
});

test('a run has waited since it was due, not since it was created', async () => {
  const engine = new Engine({ store: 'memory:' });
  const { id } = await engine.createNamed({ type: 'later' }, { delay: '1m' });
  const [job, [created]] = [await engine.get(id), await engine.history(id)];
  const shown = (events: readonly Event[]) => runDetail(job, events, 'full', { queuePosition: null, flow: null });
  expect(shown([created!]).waitedMs).toBeNull();
  const claimed = { n: 2, at: job.due + 500, by: 'w', kind: 'claimed', holder: 'w' } as const;
  expect(shown([created!, claimed]).waitedMs).toBe(500);
  await engine.close();
});
