// Ends of jobs that were claimed together, while another transaction holds the row of their claim.
import type pg from 'pg';
import { expect, test } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import { waitMs } from '../../support/patience.ts';
import { claimed, connect, decided, freshStore, many, made, openStore } from './ground.ts';

interface HeldJobs {
  readonly store: PostgresStore;
  readonly ends: readonly Change[];
  readonly other: PostgresStore;
  /** Connections beside the stores: one that locks the claim, and one that observes. */
  readonly locker: pg.Client;
  readonly client: pg.Client;
}

/** Claims `count` jobs together; returns the changes that end them. */
async function heldTogether(count: number): Promise<HeldJobs> {
  const { url, store } = await freshStore();
  await made(store, ...many(count, { type: 'together' }));
  const jobs = await claimed(store, { limit: count });
  const ends = jobs.map((job) => decided(job, { do: 'succeed', fence: job.fence }, store.now()));
  return { store, other: openStore(url), ends, locker: await connect(url), client: await connect(url) };
}

async function remaining(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ remaining: number }>('select remaining from stint.claim');
  return rows.map((row) => row.remaining);
}

async function untilWaiting(client: pg.Client, count: number): Promise<void> {
  const waiters = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(async () => (await client.query(waiters)).rowCount, { timeout: waitMs }).toBe(count);
}

test('ends that wait for the lock of their claim are counted, and the last one deletes the claim', async () => {
  const { store, ends, locker, client } = await heldTogether(4);
  expect(await remaining(client)).toEqual([4]);
  await locker.query('begin');
  await locker.query('update stint.claim set lease_until = lease_until');
  const ending = store.commit({ changes: ends.slice(0, 2) });
  await untilWaiting(client, 1);
  await locker.query('commit');
  expect(await ending).toEqual([true, true]);
  expect(await remaining(client)).toEqual([2]);
  expect(await store.commit({ changes: ends.slice(2) })).toEqual([true, true]);
  expect(await remaining(client)).toEqual([]);
});

test('the last ends of a claim delete it also if others have ended while they waited for its lock', async () => {
  const { store, other, ends, locker, client } = await heldTogether(4);
  await locker.query('begin');
  await locker.query('select 1 from stint.claim for update');
  const ending = [store.commit({ changes: ends.slice(0, 2) }), other.commit({ changes: ends.slice(2) })];
  await untilWaiting(client, 2);
  await locker.query('commit');
  expect(await Promise.all(ending)).toEqual([[true, true], [true, true]]);
  expect(await remaining(client)).toEqual([]);
});
