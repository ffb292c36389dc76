// Ends of jobs that were claimed together, while another transaction holds the row of their claim.
import { expect, test } from 'vitest';
import { claimed, connect, decided, freshStore, many, made } from './ground.ts';

test('ends that wait for the lock of their claim are counted, and the last one deletes the claim', async () => {
  const { url, store } = await freshStore();
  await made(store, ...many(4, { type: 'together' }));
  const [first, second, third, fourth] = await claimed(store, { limit: 4 });
  const ends = [first!, second!, third!, fourth!].map((job) => decided(job, { do: 'succeed', fence: job.fence }, store.now()));
  const client = await connect(url);
  const remaining = async (): Promise<number[]> =>
    (await client.query<{ remaining: number }>('select remaining from stint.claim')).rows.map((row) => row.remaining);
  expect(await remaining()).toEqual([4]);

  await client.query('begin');
  await client.query('update stint.claim set lease_until = lease_until');
  const ending = store.commit({ changes: ends.slice(0, 2) });
  await expect.poll(async () =>
    (await client.query('select 1 from pg_locks where not granted')).rowCount).toBeGreaterThan(0);
  await client.query('commit');
  expect(await ending).toEqual([true, true]);
  expect(await remaining()).toEqual([2]);
  expect(await store.commit({ changes: ends.slice(2) })).toEqual([true, true]);
  expect(await remaining()).toEqual([]);
});
