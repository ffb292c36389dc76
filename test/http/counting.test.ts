// Figures of several servers: charts are the same on every server and after a restart, and metrics can be summed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { SeriesView } from '../../src/http/contract.ts';
import { Quantiles } from '../../src/http/metrics/quantiles.ts';
import { TimeSeries } from '../../src/http/metrics/time-series.ts';
import { loadSeries, storeSeries } from '../../src/http/metrics/stored-series.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, echo, until, world, type World } from './world.ts';

const doomed = jobType('doomed', {
  retry: { attempts: 2, base: '1ms' },
  run: () => {
    throw new Error('as it must');
  },
});
const engine = { types: [echo, doomed], defs: [] };
const none = { waitedMs: null, ranMs: null, followedMs: null, familyMs: null };

const totals = async (server: World): Promise<unknown> => {
  const { points, types } = SeriesView.parse((await server.get(`${api}/series?range=1h`)).body);
  const sum = (word: 'created' | 'succeeded' | 'failed'): number => points.reduce((all, point) => all + point[word], 0);
  return { created: sum('created'), succeeded: sum('succeeded'), failed: sum('failed'), types };
};

const expected = {
  created: 9, succeeded: 6, failed: 3,
  types: [
    { type: 'doomed', created: 3, succeeded: 0, failed: 3, cancelled: 0, retried: 3, lapsed: 0 },
    { type: 'echo', created: 6, succeeded: 6, failed: 0, cancelled: 0, retried: 0, lapsed: 0 },
  ],
};

async function metric(server: World, line: string): Promise<number> {
  const { body } = await server.get('/metrics');
  const found = String(body).split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

describe.each(['sqlite', 'postgres'])('servers on %s', (kind) => {
  test('show the same totals, also one that starts later, and count each event once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stint-counting-'));
    const store = kind === 'sqlite' ? `sqlite:${join(folder, 'jobs.db')}` : await migratedDatabase();
    const [first, second] = [await world({ store, engine }), await world({ store, engine })];
    for (const type of ['echo', 'echo', 'doomed']) for (let n = 0; n < 3; n++) await first.post(`${api}/runs`, { type });
    for (const server of [first, second]) await until(async () => JSON.stringify(await totals(server)) === JSON.stringify(expected));
    const sumOf = async (line: string): Promise<number> => (await metric(first, line)) + (await metric(second, line));
    await until(async () => (await sumOf('stint_jobs_ended_total{type="doomed",fate="failed"}')) === 3);
    expect(await sumOf('stint_jobs_ended_total{type="echo",fate="succeeded"}')).toBe(6);
    expect(await sumOf('stint_run_seconds_count{type="echo"}')).toBe(6);
    expect(await sumOf('stint_counting')).toBe(1);
    const third = await world({ store, engine });
    expect(await totals(third)).toEqual(expected);
    await Promise.all([first.close(), second.close()]);
    await until(async () => (await metric(third, 'stint_counting')) === 1);
    await third.close();
    const fourth = await world({ store, engine });
    expect(await totals(fourth)).toEqual(expected);
    await fourth.close();
    await rm(folder, { recursive: true });
  });
});

test('a series continues from its stored form, which replaces the former one and is no run', async () => {
  const server = await world({ engine });
  const { jobs, instance } = server.engine;
  const at = server.engine.now();
  // Both series answer at the same time.
  const still: ConstructorParameters<typeof TimeSeries>[0] = { now: () => at, find: (...query) => server.engine.find(...query) };
  const series = new TimeSeries(still, at);
  const add = (n: number, ranMs: number): void =>
    series.add({ job: n, kind: 'run', type: 'echo', def: null, parent: null, event: { n: 3, at, by: 'x', kind: 'succeeded' } }, { ...none, ranMs });
  add(1, 20_000);
  await storeSeries(jobs, { cursor: 'a', ...series.state() }, instance);
  add(2, 20_000);
  await storeSeries(jobs, { cursor: 'b', ...series.state() }, instance);
  const stored = await loadSeries(jobs);
  expect(stored?.cursor).toBe('b');
  expect((await jobs.find({ kinds: ['audit'] })).jobs).toHaveLength(1);
  const restored = new TimeSeries(still, 0);
  restored.restore(stored!);
  const [before, after] = [await series.answer('1h', undefined), await restored.answer('1h', undefined)];
  expect(after).toEqual({ ...before, since: stored!.since });
  expect(after.points.at(-1)!.run).toEqual({ p50: 20_000, p95: 20_000, p99: 20_000 });
  expect((await server.get(`${api}/stats?ended=true`)).body.ended).toEqual({});
  expect((await server.get(`${api}/audit`)).body.items).toEqual([]);
  await server.close();
});

test('a stored series with a cursor of another kind of store is counted anew, not twice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stint-counting-'));
  const store = `sqlite:${join(folder, 'jobs.db')}`;
  const first = await world({ store, engine });
  for (const type of ['echo', 'echo', 'doomed']) for (let n = 0; n < 3; n++) await first.post(`${api}/runs`, { type });
  await until(async () => JSON.stringify(await totals(first)) === JSON.stringify(expected));
  const { jobs, instance } = first.engine;
  const series = new TimeSeries(first.engine, 0);
  for (const event of (await jobs.events(null)).events) series.add(event, none);
  await storeSeries(jobs, { cursor: '7:1:*', ...series.state() }, instance);
  expect(await loadSeries(jobs)).toMatchObject({ cursor: '7:1:*' });
  const second = await world({ store, engine });
  expect(await totals(second)).toEqual(expected);
  await Promise.all([first.close(), second.close()]);
  await rm(folder, { recursive: true });
});

test('a series whose first read of ended jobs fails reads them again, each once', async () => {
  const server = await world({ engine });
  for (let n = 0; n < 3; n++) await server.post(`${api}/runs`, { type: 'echo' });
  await until(async () => (await server.engine.find({ standings: ['succeeded'] })).jobs.length === 3);
  let reads = 0;
  const shaky = new Proxy(server.engine, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name !== 'find') return member.bind(target) as unknown;
      return async (query: object) => {
        if (reads++ === 1) throw new Error('the store is away');
        const page = await target.find(query);
        return reads > 2 ? page : { ...page, next: page.jobs.at(-1)!.id };
      };
    },
  });
  const series = new TimeSeries(shaky, server.engine.now() + 60_000);
  await expect(series.answer('1h', undefined)).rejects.toThrow('the store is away');
  expect((await series.answer('1h', undefined)).types).toMatchObject([{ type: 'echo', created: 3, succeeded: 3 }]);
  await server.close();
});

test('percentiles stay between the shortest and the longest duration', () => {
  const quantiles = new Quantiles();
  for (let n = 0; n < 100; n++) quantiles.add(n < 98 ? 20_000 : 30_000);
  expect(quantiles.percentiles()).toMatchObject({ p99: 30_000 });
  expect(quantiles.percentiles()!.p50).toBeGreaterThanOrEqual(20_000);
  expect(new Quantiles(quantiles.state()!).percentiles()).toEqual(quantiles.percentiles());
  expect(new Quantiles().percentiles()).toBeNull();
});

test('percentiles of an interval with few durations include those of the intervals before it', async () => {
  const server = await world({ engine });
  const series = new TimeSeries(server.engine, 0);
  const now = server.engine.now();
  const add = (at: number, ranMs: number): void =>
    series.add({ job: 1, kind: 'run', type: 'echo', def: null, parent: null, event: { n: 3, at, by: 'x', kind: 'succeeded' } }, { ...none, ranMs });
  // Every second interval has one long job among five.
  for (let back = 40; back >= 0; back -= 1) {
    for (let n = 0; n < 5; n += 1) add(now - back * 30_000, n === 0 && back % 2 === 0 ? 60_000 : 100);
  }
  series.restore({ ...series.state(), since: 0 });
  const { points } = await series.answer('1h', undefined);
  const p99s = points.flatMap(({ run }) => run?.p99 ?? []).slice(10);
  expect(new Set(p99s)).toEqual(new Set([60_000]));
  expect(points.at(-60)!.run).toBeNull();
  await server.close();
});

test('a due time in the past is no wait', async () => {
  const server = await world({ engine });
  await server.post(`${api}/runs`, { type: 'echo', dueTime: '2020-01-01T00:00:00Z' });
  const waits = async (): Promise<number[]> => SeriesView.parse((await server.get(`${api}/series`)).body).points
    .flatMap(({ wait }) => (wait === null ? [] : [wait.p99]));
  await until(async () => (await waits()).length > 0);
  expect(Math.max(...(await waits()))).toBeLessThan(86_400_000);
  await server.close();
});
