// End notices: a process that waits for a job is woken when another process ends the job, and not before.
import { expect, test } from 'vitest';
import type { Job } from '../../../src/model/job.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import { calls, connect, decided, freshStore, made, openStore, type Made } from './ground.ts';

const cancelled = (store: PostgresStore, job: Job): Made => decided(job, { do: 'cancel', code: 'user' }, store.now());

/** Waits for the end of a job; `count` is how often the store has called. */
function endOf(store: PostgresStore, { id }: Job): { count: number; readonly heard: Promise<void> } {
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  const wait = { count: 0, heard };
  store.onEnd(id, () => {
    wait.count += 1;
    resolve();
  });
  return wait;
}

/** Listens; `heard` resolves when a waiting process has announced all of these jobs. */
async function announcementOf(url: string, jobs: readonly Job[]): Promise<{ readonly heard: Promise<void> }> {
  const client = await connect(url);
  const missing = new Set(jobs.map(({ id }) => String(id)));
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  client.on('notification', ({ payload = '' }) => {
    for (const id of /wait ([\d,]+)$/.exec(payload)?.[1]?.split(',') ?? []) missing.delete(id);
    if (missing.size === 0) resolve();
  });
  await client.query('listen stint_wake');
  return { heard };
}

/** Two jobs, whose ends another process waits for, and a store that knows it. */
async function awaitedJobs() {
  const { url, store: ender } = await freshStore({ notify: true });
  const waiter = openStore(url, { notify: true });
  const woken = calls(ender);
  await woken(); // once it listens
  const [job, other] = (await made(ender, {}, {})) as [Job, Job];
  const announced = await announcementOf(url, [job, other]);
  const [ends, otherEnds] = [endOf(waiter, job), endOf(waiter, other)];
  await announced.heard;
  // Notifications keep their order: once the ender is woken, it knows what is waited for.
  await made(waiter, {});
  await woken();
  return { url, ender, job, other, ends, otherEnds };
}

test('an end that was refused sends no notice, and the real end sends one', async () => {
  const { ender, job, other, ends, otherEnds } = await awaitedJobs();

  const stale = cancelled(ender, job);
  const edited = decided(job, { do: 'edit', edit: { priority: 1 } }, ender.now());
  expect(await ender.commit({ changes: [edited] })).toEqual([true]);
  expect(await ender.commit({ changes: [stale] })).toEqual([false]);
  await ender.commit({ changes: [cancelled(ender, other)] });
  await otherEnds.heard;
  expect(ends.count).toBe(0);
  expect(await ender.commit({ changes: [cancelled(ender, edited.after)] })).toEqual([true]);
  await ends.heard;
});

test('an end in a caller\'s transaction sends a notice when it commits, and none when it is rolled back', async () => {
  const { url, ender, job, other, ends, otherEnds } = await awaitedJobs();
  const client = await connect(url);
  await client.query('begin');
  await ender.within(client).commit({ changes: [cancelled(ender, other)] });
  await client.query('rollback');
  await client.query('begin');
  await ender.within(client).commit({ changes: [cancelled(ender, job)] });
  await client.query('commit');
  await ends.heard;
  expect(otherEnds.count).toBe(0);
});
