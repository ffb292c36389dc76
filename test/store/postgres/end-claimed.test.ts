// Ends of jobs that were claimed together, while another transaction holds the row of their claim.
import type pg from 'pg';
import { expect, test } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import { verify } from '../../../src/verify.ts';
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

test('a purge gives the last jobs of a large claim rows of their own, in which they end', async () => {
  const { store, other, ends, client } = await heldTogether(64);
  await store.commit({ changes: ends.slice(3) });
  const purge = { limit: 1, feedKeptMs: 1e9, retentionMs: null };
  await other.purge(purge);
  expect(await remaining(client)).toEqual([3]);
  await store.commit({ changes: ends.slice(2, 3) });
  await other.purge(purge);
  expect(await remaining(client)).toEqual([]);
  const { jobs } = await store.find({ standings: ['running'] }, { order: 'oldest' });
  expect(jobs).toEqual(ends.slice(0, 2).map(({ before }) => before));
  expect(await store.commit({ changes: ends.slice(0, 2) })).toEqual([true, true]);
  expect(await Array.fromAsync(verify(store, { patienceMs: 0 }))).toEqual([]);
});

test('a purge leaves a claim alone that another transaction has locked', async () => {
  const { store, ends, locker, client } = await heldTogether(32);
  await store.commit({ changes: ends.slice(1) });
  await locker.query('begin');
  await locker.query('select 1 from stint.claim for update');
  await store.purge({ limit: 1, feedKeptMs: 1e9, retentionMs: null });
  expect(await remaining(client)).toEqual([1]);
});

test('a transaction of the caller ends and edits jobs that run in a claim', async () => {
  const { store, ends, client } = await heldTogether(4);
  const edit = decided(ends[2]!.before!, { do: 'edit', edit: { priority: 7 } }, store.now());
  for (const end of ['rollback', 'commit']) {
    await client.query('begin');
    const writer = store.within(client);
    expect(await writer.load([ends[0]!.before!.id])).toEqual([ends[0]!.before]);
    expect(await writer.commit({ changes: [ends[0]!, ends[1]!, edit], whole: true })).toEqual([true, true, true]);
    expect(await writer.load([edit.after.id])).toEqual([edit.after]);
    await client.query(end);
    expect(await remaining(client)).toEqual([end === 'commit' ? 1 : 4]);
  }
  expect(await store.commit({ changes: ends })).toEqual([false, false, false, true]);
  expect(await store.load([edit.after.id])).toEqual([edit.after]);
});

test('after a savepoint of the caller was rolled back, a job that had left its claim is in it again', async () => {
  const { store, ends, client } = await heldTogether(3);
  const cancel = decided(ends[0]!.before!, { do: 'cancel', code: 'user' }, store.now());
  await client.query('begin');
  const writer = store.within(client);
  await client.query('savepoint own');
  expect(await writer.commit({ changes: [cancel] })).toEqual([true]);
  await client.query('rollback to savepoint own');
  expect(await writer.load([cancel.after.id])).toEqual([ends[0]!.before]);
  expect(await writer.commit({ changes: [ends[0]!] })).toEqual([true]);
  await client.query('commit');
  expect(await store.commit({ changes: [cancel, ...ends.slice(1)] })).toEqual([false, true, true]);
  expect(await remaining(client)).toEqual([]);
});

test('a transaction of the caller ends a job that has left its claim since it was read', async () => {
  const { store, ends, client } = await heldTogether(3);
  await store.extend([{ id: ends[0]!.before!.id, fence: 1 }], store.now() + 120_000);
  await client.query('begin');
  expect(await store.within(client).commit({ changes: ends.slice(0, 2), whole: true })).toEqual([true, true]);
  await client.query('commit');
  expect(await remaining(client)).toEqual([1]);
  expect(await store.load([ends[0]!.before!.id])).toEqual([ends[0]!.after]);
});
