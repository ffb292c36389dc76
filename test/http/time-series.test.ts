// Data for the charts of the dashboard: time series, the task matrix, and unchanged payloads.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { JobCounts } from '../../src/http/metrics/job-counts.ts';
import { MatrixView, SeriesView } from '../../src/http/contract.ts';
import type { Tally } from '../../src/store/query.ts';
import { api, as, echo, ended, parts, records, until, world, type World } from './world.ts';

const doomed = jobType('doomed', {
  retry: { attempts: 1 },
  run: async () => {
    throw new Error('as it must');
  },
});
const engine = { types: [echo, parts, doomed], defs: [] };

let server: World;
beforeAll(async () => void (server = await world({ engine })));
afterAll(() => server.close());

const sum = (series: SeriesView, word: 'created' | 'succeeded' | 'failed'): number =>
  series.points.reduce((all, point) => all + point[word], 0);

async function seriesOnce(from: World, query: string, isReady: (series: SeriesView) => boolean): Promise<SeriesView> {
  let series: SeriesView;
  await until(async () => {
    series = SeriesView.parse((await from.get(`${api}/series${query}`)).body);
    return isReady(series);
  });
  return series!;
}

describe('time series', () => {
  test('count created and ended jobs in every range, with wait and run times', async () => {
    for (const type of ['echo', 'echo', 'doomed']) await server.post(`${api}/runs`, { type });
    const isTold = (series: SeriesView): boolean => sum(series, 'succeeded') + sum(series, 'failed') >= 3;
    for (const range of ['15m', '1h', '6h', '1d', '7d', '90d']) {
      const series = await seriesOnce(server, `?range=${range}`, isTold);
      expect([sum(series, 'created'), sum(series, 'succeeded'), sum(series, 'failed')]).toEqual([3, 2, 1]);
      const told = series.points.filter(({ run }) => run !== null);
      expect(told.length).toBeGreaterThan(0);
      expect(told.every(({ run }) => run!.p50 <= run!.p95 && run!.p95 <= run!.p99)).toBe(true);
      expect(series.points.at(-1)!.at + series.bucketMs).toBeGreaterThan(server.engine.now() - series.bucketMs);
    }
  });

  test('of one type count only that type; types with failures come first', async () => {
    const series = await seriesOnce(server, '?type=echo', (one) => sum(one, 'succeeded') >= 2);
    expect([sum(series, 'succeeded'), sum(series, 'failed')]).toEqual([2, 0]);
    expect(series.types[0]).toMatchObject({ type: 'doomed', failed: 1, succeeded: 0 });
  });

  test('and metrics do not count audit records', async () => {
    const counted = async (): Promise<string | undefined> =>
      /stint_events_total\{kind="created"\} (\d+)/.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1];
    const seriesBefore = await seriesOnce(server, '', (one) => sum(one, 'created') >= 3);
    const countedBefore = await counted();
    const deed = { action: 'drain', job: null, def: null, before: null, after: null } as const;
    await server.engine.jobs.audit(deed, { by: 'ada' });
    const { body } = await server.post(`${api}/runs`, { type: 'echo' });
    await ended(server, body.id);
    const after = await seriesOnce(server, '', (one) => sum(one, 'succeeded') > sum(seriesBefore, 'succeeded'));
    expect(sum(after, 'created')).toBe(sum(seriesBefore, 'created') + 1);
    expect(Number(await counted())).toBe(Number(countedBefore) + 1);
  });

  test('include jobs that ended before the server started', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stint-series-'));
    const store = `sqlite:${join(folder, 'jobs.db')}`;
    const before = await world({ store, engine });
    const { body } = await before.post(`${api}/runs`, { type: 'doomed' });
    await ended(before, body.id);
    await before.close();
    const after = await world({ store, engine });
    const series = SeriesView.parse((await after.get(`${api}/series`)).body);
    expect([sum(series, 'created'), sum(series, 'failed')]).toEqual([1, 1]);
    expect(series.types).toMatchObject([{ type: 'doomed', failed: 1 }]);
    await after.close();
    await rm(folder, { recursive: true });
  });
});

test('the task matrix has a letter for every task, page by page', async () => {
  const { body } = await server.post(`${api}/runs`, { type: 'parts' });
  await ended(server, body.id);
  const whole = MatrixView.parse((await server.get(`${api}/runs/${body.id}/matrix`)).body);
  expect([whole.ids.length, whole.standings, whole.next]).toEqual([3, 'sss', null]);
  expect(whole.ranMs.every((ms) => ms !== null && ms >= 0)).toBe(true);
  const first = MatrixView.parse((await server.get(`${api}/runs/${body.id}/matrix?limit=2`)).body);
  expect([first.ids, first.next]).toEqual([whole.ids.slice(0, 2), whole.ids[1]]);
  const rest = MatrixView.parse((await server.get(`${api}/runs/${body.id}/matrix?limit=2&after=${first.next}`)).body);
  expect(rest.ids).toEqual(whole.ids.slice(2));
  expect((await server.get(`${api}/runs/999999/matrix`)).status).toBe(404);
});

test('numbers in payloads are unchanged, and secrets are redacted', async () => {
  const guarded = await world({ isIdle: true, access: { tokens: records } });
  const inputText = '{"big":12345678901234567890,"small":0.10,"token":1}';
  const { job } = await guarded.engine.jobs.create({ kind: 'run', type: 'echo', inputText }, 'test');
  const told = async (who: 'viewer' | 'producer' | 'operator'): Promise<string> =>
    (await fetch(`${guarded.url}${api}/runs/${job!.id}`, as(who))).text();
  expect(await told('operator')).toContain(`"input":${inputText}`);
  expect(await told('viewer')).toContain('"input":{"big":12345678901234567890,"small":0.10,"token":"[redacted]"}');
  expect(await told('producer')).toContain('"input":{"big":"[number]","small":"[number]","token":"[redacted]"}');
  await guarded.close();
});

test('cheap job counts are repeated, and expensive ones are cached for all requests', async () => {
  let [now, counts, costMs] = [0, 0, 10];
  const count = async (): Promise<readonly Tally[]> => {
    now += costMs;
    return [{ type: 'echo', kind: 'run', standing: 'pending', count: ++counts }];
  };
  const jobCounts = new JobCounts({ count, now: () => now }, { monotonic: () => now });
  const read = async (): Promise<number> => (await jobCounts.open())[0]!.count;
  expect([await read(), (now += 1, await read())]).toEqual([1, 2]);
  costMs = 150;
  expect([(now += 1, await read()), (now += 1_999, await read()), (now += 2, await read())]).toEqual([3, 3, 4]);
  costMs = 10;
  now += 10_000;
  expect(await Promise.all([read(), read(), read()])).toEqual([5, 5, 5]);
  expect([await jobCounts.ended(), (now += 1_000, await jobCounts.ended())].map(([tally]) => tally!.count)).toEqual([6, 6]);
});
