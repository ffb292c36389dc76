// Failover as by Patroni: the primary is killed, its synchronous standby is promoted, and work goes on there.
import pg from 'pg';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Load, recoveryMaxMs } from './load.ts';

/** How long it takes to notice that the primary is gone; less than the patience of the store. */
const detectionMs = 3_000;

async function query<Row extends object>(url: string, ...texts: readonly string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const text of texts) ({ rows } = await client.query<Row>(text));
    return rows;
  } finally {
    await client.end();
  }
}

/** A commit is acknowledged when the standby has it on disk. */
async function makeSynchronous({ url }: TestPostgres): Promise<void> {
  await query(url, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()');
  const states = () => query<{ sync_state: string }>(url, 'select sync_state from pg_stat_replication');
  await expect.poll(states).toEqual([{ sync_state: 'sync' }]);
}

test('after a failover to a synchronous standby nothing acknowledged is lost and nothing was refused', async ({ task }) => {
  const primary = await TestPostgres.create();
  const standby = await primary.standby();
  try {
    await makeSynchronous(primary);
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
    const load = await Load.on(`postgres://postgres@${hosts}/postgres?target_session_attrs=read-write&patienceMs=60000`);
    await primary.kill('SIGKILL');
    await systemClock.sleep(detectionMs);
    await query(standby.url, 'select pg_promote()');
    const resumedMs = await load.untilStart();
    await load.untilAcknowledged(100);
    const wrong = await load.end(standby.url);
    task.meta.figures = load.figures('failover', [resumedMs]);
    expect(wrong).toEqual([]);
    expect(load.refused).toEqual([]);
    expect(resumedMs).toBeLessThan(recoveryMaxMs);
  } finally {
    await Promise.all([primary.stop(), standby.stop()]);
  }
});
