// Definitions, types, instances, statistics and the OpenAPI document over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes, type RouteName } from '../../src/http/contract.ts';
import { openApi } from '../../src/http/openapi.ts';
import { api, ended, everyRoute, world, type Reply, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world();
});
afterAll(() => server.close());

function fits(name: RouteName, { status, body }: Reply): void {
  expect([name, status]).toEqual([name, ('status' in routes[name] ? routes[name].status : 200)]);
  expect(routes[name].answer.parse(body)).toEqual(body);
}

describe('definitions', () => {
  test('declared in code are listed with schedules in words and next execution', async () => {
    const list = await server.get(`${api}/defs`);
    fits('listDefs', list);
    expect(list.body.items).toHaveLength(1);
    const { body } = await server.get(`${api}/defs/nightly`);
    expect(body).toMatchObject({
      name: 'nightly', type: 'echo', enabled: true, status: 'SCHEDULED', lastExecutedStatus: 'NOT_STARTED', override: null,
      schedules: [{ words: 'every day at 02:30 UTC' }],
    });
    expect(body.nextExecutionTime).toBeGreaterThan(Date.now());
    fits('getDef', await server.get(`${api}/defs/nightly`));
  });

  test('can be overridden and reset', async () => {
    const said = { schedules: [{ cron: '0 5 * * 1', zone: 'Europe/Berlin' }], priority: 7, why: 'quieter' };
    const overridden = await server.send('PATCH', `${api}/defs/nightly`, said);
    fits('overrideDef', overridden);
    expect(overridden.body).toMatchObject({
      code: { priority: 0 }, override: { priority: 7 }, spec: { priority: 7 }, schedules: [{ words: 'every Monday at 05:00 Europe/Berlin' }],
    });
    const reset = await server.send('DELETE', `${api}/defs/nightly/override`);
    fits('resetDef', reset);
    expect(reset.body).toMatchObject({ override: null, spec: { priority: 0 } });
  });

  test('show the ticks of a range, and get the runs of those that have none', async () => {
    const [from, to] = ['2026-03-01T00:00:00Z', '2026-03-04T00:00:00Z'];
    const before = await server.get(`${api}/defs/nightly/past-ticks?from=${from}&to=${to}&limit=2`);
    fits('listPastTicks', before);
    expect(before.body.items).toMatchObject([
      { shown: '2026-03-03 02:30:00', outcome: 'missing', run: null }, { shown: '2026-03-02 02:30:00', outcome: 'missing' },
    ]);
    expect(before.body.next).toBe(Date.parse('2026-03-02T02:30:00Z'));
    const counted = await server.post(`${api}/defs/nightly/backfill`, { from, to, dryRun: true });
    expect([counted.status, counted.body]).toMatchObject([200, { ticks: 3, missing: 3, existing: 0, operation: null }]);
    const started = await server.post(`${api}/defs/nightly/backfill`, { from, to, concurrency: 2, why: 'a new report' });
    fits('backfillDef', started);
    const run = await ended(server, started.body.operation);
    expect(run).toMatchObject({ type: 'stint.backfill', result: { created: 3, ended: { succeeded: 3 } } });
    const after = await server.get(`${api}/defs/nightly/past-ticks?from=${from}&to=${to}`);
    expect(after.body).toMatchObject({ next: null, items: [1, 2, 3].map(() => ({ outcome: 'run', standing: 'succeeded', backfill: run.id })) });
    expect((await server.get(`${api}/audit`)).body.items[0]).toMatchObject({ action: 'backfill', def: 'nightly', why: 'a new report', job: run.id });
    const future = await server.post(`${api}/defs/nightly/backfill`, { from, to: Date.now() + 60_000 });
    expect([future.status, future.body.code]).toEqual([400, 'malformed.range']);
    expect((await server.post(`${api}/defs/none/backfill`, { from, to })).status).toBe(404);
  });

  test('are counted by the hour in a calendar', async () => {
    const reply = await server.get(`${api}/calendar?hours=24&zone=Europe/Berlin`);
    fits('calendar', reply);
    expect(reply.body.hours).toHaveLength(24);
    expect(reply.body.busiest).toMatchObject([{ name: 'nightly', ticks: 1 }]);
    expect((await server.get(`${api}/calendar?hours=169`)).status).toBe(400);
  });

  test('refuse manual runs while they are disabled', async () => {
    const disabled = await server.post(`${api}/defs/nightly/disable`, { why: 'holidays' });
    fits('disableDef', disabled);
    expect(disabled.body).toMatchObject({ enabled: false, status: 'DISABLED', nextExecutionTime: null });
    expect((await server.post(`${api}/defs/nightly/run`)).body.code).toBe('disabled.definition');
    fits('enableDef', await server.post(`${api}/defs/nightly/enable`, {}));
  });

  test('can be run by hand with their own input or another', async () => {
    const reply = await server.post(`${api}/defs/nightly/run`, {});
    fits('runDef', reply);
    expect(await ended(server, reply.body.id)).toMatchObject({ def: 'nightly', result: { a: 1 } });
    const other = await server.post(`${api}/runs`, { def: 'nightly', input: 5 });
    expect(await ended(server, other.body.id)).toMatchObject({ def: 'nightly', result: 5 });
    expect((await server.get(`${api}/defs/nightly`)).body).toMatchObject({ lastExecutedStatus: 'COMPLETED', lastRun: other.body.id });
  });

  test('can follow each other, and their ticks show the runs of the followers', async () => {
    const yearly = { name: 'first', type: 'echo', schedules: [{ cron: '0 0 1 3 *' }] };
    fits('createDef', await server.post(`${api}/defs`, yearly));
    const second = await server.post(`${api}/defs`, { name: 'second', type: 'echo', after: ['first'], on: 'ended' });
    fits('createDef', second);
    expect(second.body).toMatchObject({ spec: { after: ['first'], on: 'ended' }, followers: [], schedules: [] });
    expect((await server.get(`${api}/defs/first`)).body.followers).toEqual(['second']);
    const refusals = await Promise.all([
      server.post(`${api}/defs`, { name: 'third', type: 'echo', after: ['nobody'] }),
      server.send('PATCH', `${api}/defs/first`, { after: ['second'] }),
      server.send('PATCH', `${api}/defs/second`, { on: 'failed', afterFailure: 'run' }),
      server.send('DELETE', `${api}/defs/first`),
    ]);
    expect(refusals.map(({ status, body }) => [status, body.code])).toEqual([
      [404, 'unknown.definition'], [400, 'malformed.flow'], [400, 'malformed.option'], [409, 'followed.definition'],
    ]);
    const range = { from: '2026-02-28T12:00:00Z', to: '2026-03-01T12:00:00Z' };
    await ended(server, (await server.post(`${api}/defs/first/backfill`, range)).body.operation);
    const { body: { items: [tick] } } = await server.get(`${api}/defs/first/ticks`);
    const run = await ended(server, tick.followers[0].run);
    expect(tick.followers).toEqual([{ def: 'second', run: run.id, skipped: null }]);
    expect(run).toMatchObject({ def: 'second', standing: 'succeeded', flow: tick.run });
    const graph = await server.get(`${api}/flows/${run.flow}/graph`);
    fits('getFlowGraph', graph);
    expect(graph.body).toMatchObject({ runs: 2, edges: [{ from: String(tick.run), to: String(run.id), on: 'ended', outcome: 'succeeded' }] });
    for (const name of ['second', 'first']) await server.send('DELETE', `${api}/defs/${name}`);
  });

  test('can be created, tick, list their ticks, and be deleted', async () => {
    const def = { name: 'a/b often', type: 'echo', params: { x: 1 }, schedules: [{ every: '1s' }], retry: { attempts: 2, backoff: 'fixed' } };
    const made = await server.post(`${api}/defs`, def);
    fits('createDef', made);
    expect((await server.post(`${api}/defs`, def)).body).toMatchObject({ status: 409, code: 'taken.key' });
    const path = `${api}/defs/${encodeURIComponent('a/b often')}`;
    let ticks: Reply;
    do ticks = await server.get(`${path}/ticks?limit=5`);
    while (ticks.body.items.length < 2);
    fits('listTicks', ticks);
    const [newest, before] = ticks.body.items;
    expect(newest.nominal - before.nominal).toBe(1000);
    expect(await ended(server, newest.run)).toMatchObject({ def: 'a/b often', tick: { nominal: newest.nominal } });
    const foreseen = await server.get(`${path}/preview?count=3`);
    fits('previewDef', foreseen);
    expect(foreseen.body.items).toHaveLength(3);
    fits('deleteDef', await server.send('DELETE', path));
    expect((await server.get(path)).status).toBe(404);
  });
});

describe('schedules', () => {
  test.each([
    [{ cron: '30 2 * * *', zone: 'Europe/Berlin' }, 'every day at 02:30 Europe/Berlin'],
    [{ every: '15m' }, 'every 15 minutes'],
    [{ every: 60_000, from: 'finished' }, '1 minute after each run has finished'],
    [{ repeat: 'SCHEDULED, +1 DAY, START OF DAY' }, 'counted from each scheduled time: +1 day, start of day UTC'],
    [{ at: '2031-01-01T00:00:00Z' }, 'once at 2031-01-01 00:00:00 UTC'],
    [{ kind: 'every', everyMs: 1000, from: 'scheduled' }, 'every second'],
  ])('like %j can be previewed', async (schedule, words) => {
    const reply = await server.post(`${api}/schedules/preview`, { schedule, count: 3, from: '2026-03-28T00:00:00Z' });
    fits('previewSchedule', reply);
    expect(reply.body.words).toBe(words);
    expect(reply.body.ticks.length).toBeGreaterThan(0);
  });

  test('report the effect of daylight saving', async () => {
    const { body } = await server.post(`${api}/schedules/preview`, {
      schedule: { cron: '30 2 * * *', zone: 'Europe/Berlin' }, count: 2, from: '2026-03-28T12:00:00Z',
    });
    expect(body.ticks[0].remark).toContain('does not exist');
  });
});

describe('the preview of a definition', () => {
  test('shows the effect of long runs and of other policies', async () => {
    await server.post(`${api}/defs`, {
      name: 'berlin', type: 'echo', overlap: 'queue',
      schedules: [{ cron: '*/10 * * * *' }, { cron: '35 2 * * *', zone: 'Europe/Berlin', gap: 'next' }],
    });
    const ask = async (query: string) => {
      const reply = await server.get(`${api}/defs/berlin/preview?count=1000&${query}`);
      fits('previewDef', reply);
      return reply.body.items as { does: string; remark: string | null; schedule: number }[];
    };
    expect((await ask('runLasts=1s')).every(({ does }) => does === 'runs')).toBe(true);
    expect((await ask('runLasts=15m')).slice(0, 3).map(({ does }) => does)).toEqual(['runs', 'waits', 'waits']);
    expect((await server.get(`${api}/defs/berlin/preview?gap=hop`)).status).toBe(400);
    expect(await ask('gap=skip&overlap=both')).toHaveLength(1000);
  });
});

describe('the overview', () => {
  test('shows types, instances and statistics', async () => {
    const types = await server.get(`${api}/types`);
    fits('listTypes', types);
    expect(types.body.items.find(({ name }: { name: string }) => name === 'parts')).toMatchObject({ isLocal: true, hasTasks: true });
    const instances = await server.get(`${api}/instances`);
    fits('listInstances', instances);
    expect(instances.body.items).toHaveLength(1);
    expect(instances.body.items[0]).toMatchObject({ isAlive: true, isSelf: true });
    const stats = await server.get(`${api}/stats?ended=true`);
    fits('stats', stats);
    expect(stats.body.instances.alive).toBe(1);
    fits('me', await server.get(`${api}/me`));
    fits('health', await server.get('/health'));
  });

  test('reports failing health without details when the store fails', async () => {
    const own = await world({ isIdle: true });
    own.engine.jobs.store.lead = () => Promise.reject(new Error('secret'));
    const reply = await own.get('/health');
    expect([reply.status, reply.body.status]).toEqual([503, 'failing']);
    expect(JSON.stringify(reply.body)).not.toContain('secret');
    await own.close();
  });

  test('has well-formed Prometheus metrics with a bounded number of labels', async () => {
    for (let n = 0; n < 60; n++) await server.post(`${api}/runs`, { type: `nobody${n}` });
    await server.engine.jobs.create({ kind: 'bedrock', type: 'quo"te\\d' }, 'test');
    // A count that took long is cached for a while.
    await expect.poll(async () => (await server.get('/metrics')).body).toContain('type="other types"');
    const { body, headers } = await server.get('/metrics');
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const lines = (body as string).trimEnd().split('\n');
    const shape = /^(# HELP \w+ .+|# TYPE \w+ (gauge|counter|histogram)|\w+(\{(\w+="([^"\\]|\\.)*",?)+\})? -?[\d.e+-]+)$/;
    for (const line of lines) expect(line).toMatch(shape);
    expect(lines.filter((line) => line.startsWith('stint_jobs{')).length).toBeLessThanOrEqual(51 * 3);
    expect(body).toMatch(/stint_events_total\{kind="succeeded"\} \d+/);
    expect(body).toMatch(/stint_ticks_total\{outcome="run"\} \d+/);
    expect(body).toMatch(/stint_http_requests_total\{route="getRun",status="2xx"\} \d+/);
    expect(body).toMatch(/stint_run_seconds_count\{type="[^"]+"\} [1-9]/);
  });

  test('has a plain page on which every link works', async () => {
    const { body, headers } = await server.get('/');
    expect(headers.get('content-type')).toContain('text/html');
    for (const [, href] of (body as string).matchAll(/href="([^"]+)"/g)) expect((await server.get(`/${href!}`)).status).toBe(200);
  });
});

describe('the OpenAPI document', () => {
  const document = openApi() as unknown as {
    openapi: string;
    paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string; required: boolean }[]; responses: object }>>;
    components: { schemas: Record<string, unknown> };
  };

  test('is served as it is generated', async () => {
    expect((await server.get(`${api}/openapi.json`)).body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('has every route of the contract once', () => {
    const said = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`));
    expect(said.sort()).toEqual(everyRoute.map(([name, { method, path }]) => `${name} ${method} ${path}`).sort());
  });

  test('declares every path parameter once', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(methods)) {
        expect(parameters.filter((one) => one.in === 'path').map(({ name, required }) => [name, required])).toEqual(parts.map((part) => [part, true]));
        expect(new Set(parameters.map(({ name, in: place }) => `${place} ${name}`)).size).toBe(parameters.length);
      }
    }
  });

  test('has no dangling references and no unused components', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!);
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...new Set(refs)].filter((ref) => !names.includes(ref))).toEqual([]);
    expect(names.filter((name) => !refs.includes(name))).toEqual([]);
  });

  test('has a schema and the roles for every route', () => {
    for (const methods of Object.values(document.paths)) {
      for (const operation of Object.values(methods)) {
        expect(Object.keys(operation.responses)).toHaveLength(2);
        expect(JSON.stringify(operation.responses)).toContain('#/components/schemas/Problem');
        expect(operation).toSatisfy((one: object) => 'x-roles' in one || 'security' in one);
      }
    }
  });
});
