// Clients that were released a moment ago are handed out again; clients that are lost or wanted elsewhere are not kept.
import type pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../../../src/store/postgres/sql/database.ts';
import { RecentClients } from '../../../src/store/postgres/sql/recent-clients.ts';
import { ServerClock } from '../../../src/store/postgres/sql/server-clock.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/sql/url.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { waitMs } from '../../support/patience.ts';
import { connect } from './ground.ts';

const askBackend = 'select pg_backend_pid() as pid';

test('a client whose connection was lost is not handed out', async () => {
  const { url, database } = await open(2);
  const [first] = await database.run<{ pid: number }>(askBackend);
  const other = await connect(url);
  await other.query('select pg_terminate_backend($1)', [first!.pid]);
  await expect.poll(() => database.pool.open).toBe(0);
  const [second] = await database.transactOnce((transaction) => transaction.run<{ pid: number }>(askBackend));
  expect(second!.pid).not.toBe(first!.pid);
});

test('a request that waits gets the next client that is released', async () => {
  const { database } = await open(1);
  const answers = await Promise.all([1, 2, 3].map(() => database.run<{ pid: number }>(askBackend)));
  expect(new Set(answers.map(([row]) => row!.pid)).size).toBe(1);
  expect(database.pool).toMatchObject({ open: 1, idle: 1, waiting: 0 });
});

test('a client that nobody has wanted for a second goes back to the pool, and the others do not', async () => {
  const clock = new VirtualClock(0);
  const returned: string[] = [];
  const clientNamed = (name: string): pg.PoolClient => ({ release: () => returned.push(name) }) as unknown as pg.PoolClient;
  const recent = new RecentClients(clock);
  for (const name of ['a', 'b']) recent.keep(clientNamed(name));
  await clock.advance(1_000);
  expect(returned).toEqual([]);
  recent.keep(recent.take()!);
  await clock.advance(1_000);
  expect(returned).toEqual(['a']);
  await clock.advance(1_000);
  expect([returned, recent.count, clock.pending()]).toEqual([['a', 'b'], 0, 0]);
});

async function open(max: number): Promise<{ url: string; database: Database }> {
  const url = await freshDatabase();
  const settings = { schema: 'stint', max, prepare: true, statementTimeoutMs: waitMs, silenceMs: waitMs, patienceMs: waitMs };
  const database = new Database(parsePostgresUrl(url), settings, new ServerClock());
  onTestFinished(() => database.close());
  return { url, database };
}
