// Waking: other stores are notified of new jobs, even after their connection was lost; a notification is only a hint.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { createLimit, deleteLimit, overrideLimit, pauseLimit, resumeLimit } from '../../../src/jobs/limits.ts';
import { PostgresStore } from '../../../src/store/postgres/store.ts';
import { systemDriver } from '../../../src/store/postgres/sql/driver.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { migratedDatabase } from '../../support/fresh-database.ts';
import { calls, claimed, connect, freshStore, made, openStore } from './ground.ts';

/** How many connections listen in the database. */
async function listeners(client: pg.Client): Promise<number> {
  const question = `select pid from pg_stat_activity where query like 'listen %' and datname = current_database()`;
  return (await client.query(question)).rows.length;
}

test('a store is woken at once by its own commits', async () => {
  const { store } = await freshStore({ notify: true });
  let heard = 0;
  const unlisten = store.onWake(() => (heard += 1));
  await made(store, {});
  expect(heard).toBeGreaterThan(0);
  unlisten();
  const before = heard;
  await made(store, {});
  expect(heard).toBe(before);
});

test('a store is woken by the commits of another, and again after its connection was lost', async () => {
  const { url, store } = await freshStore({ notify: true });
  const other = openStore(url, { notify: true });
  const woken = calls(other);
  await woken(); // once it listens
  await made(store, {});
  await woken();
  const client = await connect(url);
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where query like 'listen %' and datname = current_database()`);
  await woken(); // since something may have been missed
  await expect.poll(() => listeners(client)).toBe(1);
  await made(store, {});
  await woken();
});

test('a store is woken when a limit is overridden, resumed, reopened or deleted through another', async () => {
  const { url, store } = await freshStore({ notify: true });
  const asker = { by: 'ada' };
  await createLimit(store, { name: 'api', keyed: false, override: { concurrency: 1 } }, asker);
  await pauseLimit(store, 'api', null, asker);
  const other = openStore(url, { notify: true });
  const woken = calls(other);
  await woken(); // once it listens
  const changes = [
    () => overrideLimit(store, 'api', { concurrency: 2 }, asker),
    () => resumeLimit(store, 'api', asker),
    () => store.reopenLimit('api', null),
    () => deleteLimit(store, 'api', async () => false),
  ];
  for (const change of changes) {
    await change();
    await woken();
  }
});

test('without NOTIFY no connection listens, and jobs are found by polling', async () => {
  const { url, store } = await freshStore({ notify: false });
  const other = openStore(url, { notify: false });
  other.onWake(() => {});
  await made(store, {});
  const client = await connect(url);
  expect(await listeners(client)).toBe(0);
  expect(await claimed(other)).toHaveLength(1);
});

/** The details of the notifications that arrive on a connection, each behind the tag of its sender. */
async function detailsHeard(client: pg.Client): Promise<string[]> {
  const heard: string[] = [];
  client.on('notification', ({ payload = '' }) => heard.push(payload.slice(systemDriver.random.hex(8).length)));
  await client.query('listen stint_wake');
  return heard;
}

test('a notification that is sent behind a write replaces the one that was to follow, and has no hint', async () => {
  const url = await migratedDatabase();
  const client = await connect(url);
  const heard = await detailsHeard(client);
  const clock = new VirtualClock(0);
  const store = new PostgresStore(url, {}, { ...systemDriver, clock });
  await made(store, {}); // is announced with a hint
  await clock.advance(4);
  await made(store, {}); // is to be announced after a pause
  await clock.advance(4);
  await made(store, {});
  await clock.advance(4);
  await store.close();
  await client.query('select 1');
  expect(heard.map((details) => details !== '')).toEqual([true, false]);
});
