// The probe of a silent backend: what it answers, and what it terminates.
import pg from 'pg';
import { expect, test } from 'vitest';
import { backendProbe } from '../../../src/store/postgres/sql/backend-probe.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { connect } from './ground.ts';

const pidOf = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;

/** A probe that calls `before` with the text of each statement that it is about to send. */
function probeOf(url: string, before: (text: string) => Promise<void> = async () => {}): ReturnType<typeof backendProbe> {
  return backendProbe((limits) => {
    const client = new pg.Client({ connectionString: url, ...limits });
    const send = client.query.bind(client) as (text: string, values: unknown[]) => Promise<unknown>;
    client.query = (async (text: string, values: unknown[]) => {
      await before(text);
      return send(text, values);
    }) as typeof client.query;
    return client;
  });
}

test('a backend without a statement is terminated', async () => {
  const url = await freshDatabase();
  const [silent, observer] = [await connect(url), await connect(url)];
  const pid = await pidOf(silent);
  expect(await probeOf(url)({ pid, ageMs: 0 })).toBe('idle');
  expect((await observer.query('select 1 from pg_stat_activity where pid = $1', [pid])).rows).toEqual([]);
});

test('a backend that executes a statement is busy, and one that is gone is idle', async () => {
  const url = await freshDatabase();
  const [silent, holder] = [await connect(url), await connect(url)];
  const pid = await pidOf(silent);
  await holder.query('select pg_advisory_lock(1)');
  const waiting = silent.query('select pg_advisory_lock(1)');
  await expect.poll(() => probeOf(url)({ pid, ageMs: 0 })).toBe('busy');
  await holder.query('select pg_advisory_unlock(1)');
  await waiting;
  await silent.end();
  await expect.poll(() => probeOf(url)({ pid, ageMs: 0 })).toBe('idle');
});

test('a backend that gets its statement late, after it was found idle, is busy and not terminated', async () => {
  const url = await freshDatabase();
  const [silent, holder, observer] = [await connect(url), await connect(url), await connect(url)];
  const pid = await pidOf(silent);
  await holder.query('select pg_advisory_lock(1)');
  let late: Promise<unknown> = Promise.resolve();
  const isActive = async (): Promise<boolean> => (await observer.query(
    `select 1 from pg_stat_activity where pid = $1 and state = 'active'`, [pid])).rows.length > 0;
  const probe = probeOf(url, async (text) => {
    if (!text.includes('pg_terminate_backend')) return;
    late = silent.query('select pg_advisory_lock(1)');
    await expect.poll(isActive).toBe(true);
  });
  expect(await probe({ pid, ageMs: 0 })).toBe('busy');
  await holder.query('select pg_advisory_unlock(1)');
  await late;
});
