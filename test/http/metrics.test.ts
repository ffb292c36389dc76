// Prometheus metrics: stuck jobs, the pool, the store and the lag of the event loop.
import { afterEach, describe, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { world, type World } from './world.ts';

let server: World;
afterEach(() => server.close());

const metrics = async (): Promise<Map<string, number>> => {
  const { body } = await server.get('/metrics');
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
};

describe('the metrics', () => {
  test('count stuck jobs by reason', async () => {
    server = await world({ isIdle: true });
    const { jobs } = server.engine;
    await jobs.createMany([{ type: 'orphan' }, { type: 'orphan' }, { type: 'held' }], 'test');
    await jobs.claim({ kinds: ['run'], names: { exact: ['held'] }, limit: 1, holder: 'gone', leaseMs: 1_000 });
    const stuck = (told: Map<string, number>, reason: string): number | undefined =>
      told.get(`stint_stuck_jobs{reason="${reason}"}`);
    const early = await metrics();
    expect([stuck(early, 'unknown_type'), stuck(early, 'unsettled')]).toEqual([2, 0]);
    while (stuck(await metrics(), 'lapsed') !== 1) await new Promise((resolve) => setTimeout(resolve, 50));
  });

  test('contain the size of the store and the lag of the event loop', async () => {
    server = await world({ isIdle: true });
    const told = await metrics();
    expect(told.get('stint_store_bytes')).toBeGreaterThan(10_000);
    expect(told.get('stint_event_loop_lag_seconds')).toBeGreaterThan(0);
    expect([...told.keys()].some((name) => name.startsWith('stint_pool_connections'))).toBe(false);
  });

  test('contain the batches of the instances, and how long runs waited for others', async () => {
    const double = jobType('double', { batch: { size: 2 }, runBatch: ({ jobs }) => jobs.map((job) => job.done()) });
    const waiting = jobType('waiting', { batch: { size: 9, wait: '1h' }, runBatch: ({ jobs }) => jobs.map((job) => job.done()) });
    const parent = jobType('parent', { run: ({ children }) => children.add(double) });
    server = await world({ engine: { types: [double, waiting, parent], defs: [] } });
    await server.engine.createJobRun(waiting);
    const flow = await server.engine.createFlow((f) => f.run(double, { after: f.run(parent) }));
    await flow.runs[1]!.result();
    await expect.poll(async () => {
      const values = await metrics();
      return [
        'stint_batches{type="double"}', 'stint_batch_jobs{type="double"}', 'stint_batch_jobs_waiting',
        'stint_family_wait_seconds_count{type="parent"}', 'stint_follow_wait_seconds_count{type="double"}',
      ].map((name) => values.get(name));
    }).toEqual([2, 2, 1, 1, 1]);
  });

  test('contain the pool of PostgreSQL', async () => {
    server = await world({ store: await migratedDatabase(), isIdle: true });
    const told = await metrics();
    expect(told.get('stint_pool_connections{state="max"}')).toBe(8);
    expect(told.get('stint_pool_connections{state="open"}')).toBeGreaterThan(0);
    expect(told.get('stint_store_oldest_transaction_seconds')).toBeGreaterThanOrEqual(0);
  });
});
