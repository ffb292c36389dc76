// Prometheus metrics: stuck jobs, the pool, the store and the lag of the event loop.
import { afterEach, describe, expect, test } from 'vitest';
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

  test('contain the pool of PostgreSQL', async () => {
    server = await world({ store: await migratedDatabase(), isIdle: true });
    const told = await metrics();
    expect(told.get('stint_pool_connections{state="max"}')).toBe(8);
    expect(told.get('stint_pool_connections{state="open"}')).toBeGreaterThan(0);
    expect(told.get('stint_store_oldest_transaction_seconds')).toBeGreaterThanOrEqual(0);
  });
});
