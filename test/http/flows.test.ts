// Flows over HTTP: create a run that follows another, list and read flows, cancel and retry them as a whole.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api, as, broken, echo, ended, patient, records, world, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world({ access: { tokens: records }, engine: { types: [echo, broken, patient] } });
});
afterAll(() => server.close());

const asOlga = as('operator');

test('a run is created after another, waits for it, and says so', async () => {
  const first = await server.post(`${api}/runs`, { type: 'patient', delay: '1h' }, asOlga);
  const { status, body } = await server.post(`${api}/runs`, { type: 'echo', input: 1, after: [first.body.id] }, asOlga);
  expect(status).toBe(201);
  expect(body.run).toMatchObject({ state: 'held', hold: 'runs' });
  const reasons = await server.get(`${api}/runs/${body.id}/explain`, asOlga);
  expect(reasons.body.items).toMatchObject([{ code: 'waits.runs', detail: { open: 1, total: 1 } }]);
  expect((await server.post(`${api}/runs`, { type: 'echo', after: [4711] }, asOlga)).body).toMatchObject({ code: 'unknown.job' });
  const both = { type: 'echo', after: [first.body.id], on: 'failed', afterFailure: 'wait' };
  expect((await server.post(`${api}/runs`, both, asOlga)).body).toMatchObject({ code: 'malformed.option' });
});

test('a flow is created from names in any order, with results in inputs', async () => {
  const { status, body } = await server.post(`${api}/flows`, {
    runs: [
      { name: 'last', type: 'echo', after: ['first'], input: { got: { $result: 'middle', path: ['n'] }, all: [{ $result: 'first' }] } },
      { name: 'middle', type: 'echo', input: { n: 7 } },
      { name: 'first', type: 'echo', input: 'x', tags: { team: 'red' } },
    ],
  }, asOlga);
  expect(status).toBe(201);
  const [last, middle, first] = body.runs as { name: string; id: number }[];
  expect(body.runs).toMatchObject([{ name: 'last' }, { name: 'middle' }, { name: 'first' }]);
  expect(body.id).toBe(Math.min(middle!.id, first!.id));
  await ended({ ...server, get: (path) => server.get(path, asOlga) }, last!.id);
  expect(JSON.parse((await server.engine.get(last!.id)).input)).toEqual({ got: 7, all: ['x'] });
});

test('a flow with an Idempotency-Key is created once, and answered again with its ids', async () => {
  const runs = [{ name: 'b', type: 'echo', after: ['a'] }, { name: 'a', type: 'patient', delay: '1h' }];
  const once = (key: string): RequestInit => ({ headers: { ...asOlga.headers, 'idempotency-key': key } });
  const first = await server.post(`${api}/flows`, { runs }, once('k'));
  const count = await server.engine.count();
  const again = await server.post(`${api}/flows`, { runs }, once('k'));
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual(first.body);
  expect(await server.engine.count()).toEqual(count);
  const other = await server.post(`${api}/flows`, { runs: [...runs, { name: 'c', type: 'echo' }] }, once('k'));
  expect(other.body).toMatchObject({ code: 'taken.key', detail: expect.stringContaining('another flow') as unknown });
  const keyed = { runs: [{ name: 'a', type: 'echo', unique: { key: 'k' } }] };
  expect((await server.post(`${api}/flows`, keyed, once('other'))).body).toMatchObject({ code: 'malformed.flow' });
});

test('a flow that cannot be is refused with what is wrong, and nothing is stored', async () => {
  const before = await server.engine.count();
  const run = (name: string, more: object = {}) => ({ name, type: 'echo', ...more });
  const refused = async (runs: unknown): Promise<string> => {
    const { status, body } = await server.post(`${api}/flows`, { runs }, asOlga);
    expect(status).toBeGreaterThanOrEqual(400);
    return `${body.code}: ${body.detail}`;
  };
  expect(await refused([])).toMatch(/^malformed.flow: .*at least one run/);
  expect(await refused([run('a', { after: ['b'] }), run('b', { after: ['c'] }), run('c', { input: { $result: 'b' } })]))
    .toMatch(/^malformed.flow: .*cycle: "b" follows "c" follows "b"/);
  expect(await refused([run('a', { after: ['a'] })])).toMatch(/cycle: "a" follows "a"/);
  expect(await refused([run('a'), run('b', { after: ['x'] })])).toMatch(/^malformed.flow: .*"b" follows "x", which is no run/);
  expect(await refused([run('a'), run('a')])).toMatch(/^malformed.flow: .*two runs have the name "a"/);
  expect(await refused([run('a', { def: 'b' })])).toMatch(/^malformed.flow: .*either a type or a def/);
  expect(await refused([run('a'), run('b', { after: [4711] })])).toMatch(/^unknown.job/);
  expect(await refused([run('a'), run('b', { on: 'ended', input: { $result: 'a', path: ['x'] } })])).toMatch(/^malformed.flow: .*leave out path/);
  expect(await refused([run('a'), run('b', { input: { $result: 4 } })])).toMatch(/^malformed.flow/);
  for (const index of [-1, 0.5, 2 ** 32]) {
    expect(await refused([run('a'), run('b', { input: { $result: 'a', path: [index] } })])).toMatch(/^malformed.flow: .*from 0/);
  }
  expect((await server.post(`${api}/flows`, { runs: [run('a')] }, as('viewer'))).status).toBe(403);
  expect(await server.engine.count()).toEqual(before);
});

test('a flow is listed, read, cancelled and retried', async () => {
  const flow = await server.engine.createFlow((f) => {
    f.run(echo, { after: f.run(echo, { delay: '1h' }) });
  });
  const { body: list } = await server.get(`${api}/flows`, asOlga);
  expect(list.items[0]).toMatchObject({ id: flow.id, types: ['echo'], counts: { pending: 1, held: 1 }, isCut: false });
  const { body } = await server.get(`${api}/flows/${flow.id}`, asOlga);
  expect(body).toMatchObject({ runs: [{ after: [] }, { after: [{ id: flow.id, outcome: null }] }], next: null });
  expect((await server.post(`${api}/flows/${flow.id}/cancel`, { why: 'no' }, asOlga)).body).toEqual({ runs: 2 });
  expect((await server.post(`${api}/flows/${flow.id}/retry`, {}, asOlga)).body).toEqual({ runs: 2 });
  await ended({ ...server, get: (path) => server.get(path, asOlga) }, flow.runs[1]!.id);
  const { body: audit } = await server.get(`${api}/audit?limit=2`, asOlga);
  expect(audit.items).toMatchObject([{ action: 'retry flow', job: flow.id }, { action: 'cancel flow', after: { runs: 2 } }]);
  expect((await server.get(`${api}/flows/4711`, asOlga)).status).toBe(404);
  expect((await server.post(`${api}/flows/${flow.id}/stop`, {}, as('viewer'))).status).toBe(403);
});

test('a run of a definition starts what follows it, with its results, unless the request says otherwise', async () => {
  const define = (name: string, more: object) => server.post(`${api}/defs`, { name, type: 'echo', ...more }, asOlga);
  await define('lead', { params: { n: 7 } });
  const { status, body: follower } = await define('next', { after: ['lead'], params: { got: { $result: 'lead', path: ['n'] } } });
  expect(status).toBe(201);
  expect(follower.spec).toMatchObject({ after: ['lead'], params: { got: { $result: 'lead', path: ['n'] } } });
  const wrong = await define('other', { after: ['lead'], params: { $result: 'nobody' } });
  expect(wrong.body).toMatchObject({ code: 'malformed.flow' });
  const runsOf = async () => (await server.engine.find({ kinds: ['run'], def: 'next' })).jobs;
  const alone = await server.post(`${api}/defs/lead/run`, { followers: false }, asOlga);
  await ended({ ...server, get: (path) => server.get(path, asOlga) }, alone.body.id);
  expect(await runsOf()).toEqual([]);
  for (const [path, body] of [['defs/lead/run', {}], ['runs', { def: 'lead' }]] as const) {
    const before = (await runsOf()).map(({ id }) => id);
    await server.post(`${api}/${path}`, body, asOlga);
    const [started] = (await runsOf()).filter(({ id }) => !before.includes(id));
    await ended({ ...server, get: (at) => server.get(at, asOlga) }, started!.id);
    expect(JSON.parse((await server.engine.get(started!.id)).input)).toEqual({ got: 7 });
  }
});
