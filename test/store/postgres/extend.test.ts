// Extending a lease while another transaction writes the same row.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { claimed, connect, freshStore, made } from './ground.ts';

const later = 1_000_000;

test('a lease is extended although its row is changed meanwhile', async () => {
  const { url, store } = await freshStore();
  await made(store, {});
  const [job] = await claimed(store);
  const [writer, watcher] = [await connect(url), await connect(url)];
  await writer.query('begin');
  await writer.query('update stint.job set cancel_asked = 1 where id = $1', [job!.id]);
  const until = store.now() + later;
  const extending = store.extend([{ id: job!.id, fence: job!.fence }], until);
  await someoneWaits(watcher);
  await writer.query('commit');
  expect(await extending).toEqual([true]);
  const { rows } = await watcher.query('select lease_until::float8 as until, cancel_asked from stint.job');
  expect(rows).toEqual([{ until, cancel_asked: 1 }]);
});

test('a lease is not extended when its job was taken over meanwhile', async () => {
  const { url, store } = await freshStore();
  await made(store, {});
  const [job] = await claimed(store);
  const [writer, watcher] = [await connect(url), await connect(url)];
  await writer.query('begin');
  await writer.query('update stint.job set fence = fence + 1 where id = $1', [job!.id]);
  const extending = store.extend([{ id: job!.id, fence: job!.fence }], store.now() + later);
  await someoneWaits(watcher);
  await writer.query('commit');
  expect(await extending).toEqual([false]);
});

async function someoneWaits(watcher: pg.Client): Promise<void> {
  const text = `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'
    and datname = current_database()`;
  for (;;) if ((await watcher.query<{ count: number }>(text)).rows[0]!.count > 0) return;
}
