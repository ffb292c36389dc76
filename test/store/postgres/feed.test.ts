// The feed: whatever commits when, a reader misses nothing, reads nothing twice, and meets no effect before its cause.
import type pg from 'pg';
import { expect, test } from 'vitest';
import type { Job } from '../../../src/model/job.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import type { FeedEvent } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { nothingOpen } from '../../support/nothing-open.ts';
import { bySize } from '../../support/size.ts';
import { born, claimed, connect, decided, freshStore, made, many, openStore, type Made } from './ground.ts';

/** Reads on in small helpings until there is nothing more. */
async function readOn(store: PostgresStore, cursor: string | null): Promise<{ events: FeedEvent[]; cursor: string }> {
  const read: FeedEvent[] = [];
  for (let from = cursor; ; ) {
    const page = await store.eventsAfter(from, 3);
    read.push(...page.events);
    from = page.cursor;
    if (page.events.length === 0) return { events: read, cursor: page.cursor };
  }
}

/** Reads until so many have come: other tests on this server may hold some back for a moment. Then there is no more. */
async function readAll(store: PostgresStore, cursor: string | null, count: number): Promise<FeedEvent[]> {
  const read: FeedEvent[] = [];
  let from = cursor;
  while (read.length < count) {
    const page = await readOn(store, from);
    read.push(...page.events);
    from = page.cursor;
  }
  return [...read, ...(await readOn(store, from)).events];
}

const told = (events: readonly FeedEvent[]): string[] => events.map(({ job, event }) => `${job}/${event.n}`);

test('a transaction that commits late is not missed by a reader that read before', async () => {
  const { url, store } = await freshStore();
  const [late, ...early] = await born(store, ...many(5));
  const client = await connect(url);
  await client.query('begin');
  await store.within(client).commit({ changes: [late!] });
  await store.commit({ changes: early });
  const before = await readOn(store, null);
  await client.query('commit');
  const after = await readAll(store, before.cursor, 5 - before.events.length);
  const all = [...told(before.events), ...told(after)];
  expect(all.toSorted()).toEqual([late!, ...early].map((change) => `${change.after.id}/1`).toSorted());
});

test('the feed has transactions that commit in reverse order, each once', async () => {
  const { url, store } = await freshStore();
  const changes = await born(store, ...many(6));
  const clients = await Promise.all(changes.map(() => connect(url)));
  for (const [index, client] of clients.entries()) {
    await client.query('begin');
    await store.within(client).commit({ changes: [changes[index]!] });
  }
  const read: string[] = [];
  let cursor: string | null = null;
  for (const client of clients.toReversed()) {
    await client.query('commit');
    const page = await readOn(store, cursor);
    read.push(...told(page.events));
    cursor = page.cursor;
  }
  read.push(...told(await readAll(store, cursor, changes.length - read.length)));
  expect(read.toSorted()).toEqual(changes.map(({ after }) => `${after.id}/1`).toSorted());
});

test('a rolled back transaction is not in the feed and does not delay it', async () => {
  const { url, store } = await freshStore();
  const [gone, kept] = await born(store, {}, {});
  const client = await connect(url);
  await client.query('begin');
  await store.within(client).commit({ changes: [gone!] });
  await store.commit({ changes: [kept!] });
  await client.query('rollback');
  expect(told(await readAll(store, null, 1))).toEqual([`${kept!.after.id}/1`]);
});

test('the feed orders a transaction that began earlier and committed later after the other', async () => {
  const { url, store } = await freshStore();
  const [job] = await made(store, {});
  const client = await connect(url);
  await client.query('begin');
  await client.query('select pg_current_xact_id()'); // its xid is now lower than that of the next transaction
  const edited = decided(job!, { do: 'edit', edit: { priority: 1 } }, store.now());
  expect(await store.commit({ changes: [edited] })).toEqual([true]);
  const again = decided(edited.after, { do: 'edit', edit: { priority: 2 } }, store.now());
  expect(await store.within(client).commit({ changes: [again] })).toEqual([true]);
  await client.query('commit');
  await claimed(store);
  expect(told(await readAll(store, null, 4))).toEqual([1, 2, 3, 4].map((n) => `${job!.id}/${n}`));
});

test('an entry that the server makes of the written rows has the definitions of the jobs', async () => {
  const { url, store } = await freshStore();
  const jobs = await made(store, { def: 'nightly "x"' }, { def: null });
  const client = await connect(url);
  await client.query('begin');
  await client.query('select pg_current_xact_id()');
  const prioritized = (some: readonly Job[], priority: number): Made[] =>
    some.map((job) => decided(job, { do: 'edit', edit: { priority } }, store.now()));
  const edited = prioritized(jobs, 1);
  await store.commit({ changes: edited });
  await store.within(client).commit({ changes: prioritized(edited.map(({ after }) => after), 2) });
  await client.query('commit');
  await claimed(store);
  const events = await readAll(store, null, 8);
  for (const { id, def } of jobs) {
    expect(events.filter(({ job }) => job === id).map((event) => event.def)).toEqual([def, def, def, def]);
  }
});

test('the end of the feed comes before whatever is still open', async () => {
  const { url, store } = await freshStore();
  const [open, later] = await born(store, {}, {});
  await made(store, {});
  const client = await connect(url);
  await client.query('begin');
  await store.within(client).commit({ changes: [open!] });
  const end = await store.feedEnd();
  await client.query('commit');
  await store.commit({ changes: [later!] });
  const read = told(await readAll(store, end, 2));
  expect(read.slice(-2)).toEqual([open!, later!].map(({ after }) => `${after.id}/1`));
});

/** Raises the xids of the server until they are above this one. */
async function pass(client: pg.Client, xid: bigint): Promise<void> {
  const next = async (): Promise<bigint> => {
    const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
    return BigInt(rows[0]!.xid);
  };
  while ((await next()) <= xid);
}

test('a cursor whose event was lost in a failover skips nothing, even if the server has passed its xid', async () => {
  const { url, store } = await freshStore();
  const [kept, lost] = [await made(store, {}), await made(store, {})].flat() as [Job, Job];
  const client = await connect(url);
  await nothingOpen(client);
  const { cursor } = await readOn(store, null);
  const { rows: [newest] } = await client.query<{ xid: string }>(
    'delete from stint.feed where seq = (select max(seq) from stint.feed) returning pg_current_xact_id()::text as xid');
  const lostXid = BigInt(newest!.xid) + 60n;
  const later = [];
  for (let count = 0; count < 5; count += 1) later.push(...(await made(store, {})));
  await pass(client, lostXid);
  const read = await readAll(store, cursor.replace(/^\d+/, String(lostXid)), 5);
  expect(told(read)).not.toContain(`${lost.id}/1`);
  expect(told(read).slice(-5)).toEqual(later.map(({ id }) => `${id}/1`));
  expect(told(read).slice(0, -5)).toEqual([`${kept.id}/1`]); // less than a minute older: it comes twice
});

test('a cursor whose event was purged continues with the oldest event', async () => {
  const { url, store } = await freshStore();
  await made(store, {});
  const client = await connect(url);
  await nothingOpen(client);
  const { cursor } = await readOn(store, null);
  const later = [...(await made(store, {})), ...(await made(store, {}))];
  await client.query('delete from stint.feed where seq = (select min(seq) from stint.feed)');
  expect(told(await readAll(store, cursor, 2))).toEqual(later.map(({ id }) => `${id}/1`));
});

test('a cursor of an older version, without a time, continues where it was', async () => {
  const { url, store } = await freshStore();
  const jobs = [...(await made(store, {})), ...(await made(store, {}))];
  await nothingOpen(await connect(url));
  const { cursor } = await store.eventsAfter(null, 1);
  expect(told(await readAll(store, cursor.replace(/@.*/, ''), 1))).toEqual([`${jobs[1]!.id}/1`]);
});

test('a cursor of another kind of store is refused', async () => {
  const { store } = await freshStore();
  for (const cursor of ['', '7', '1:2', '1:2:3:4', 'a:b:c', '1:2:-1', '1:2:3@', '1:2:3@x', `${'9'.repeat(20)}:1:1`, '1.0']) {
    await expect(store.eventsAfter(cursor, 1)).rejects.toMatchObject({ name: 'Refusal', code: 'malformed.cursor' });
  }
});

const starts = bySize({ small: 40, ci: 150 });

test('S29: instances that start while others work leave the feed as it is', async () => {
  const { url, store } = await freshStore({ max: 8 });
  const starting = openStore(url, { max: 4 });
  let isOver = false;
  const working = Promise.all(many(6).map(async () => {
    while (!isOver) await made(store, {});
  }));
  for (let start = 0; start < starts; start += 1) await Promise.all(many(3).map(() => starting.migrate()));
  isOver = true;
  await working;

  const client = await connect(url);
  const { rows } = await client.query(`select count(*)::int as moved from stint.feed where xid = '1'`);
  expect(rows).toEqual([{ moved: 0 }]);
});

test('a transaction that is open in another database does not hold back the feed', async () => {
  const { store } = await freshStore();
  const other = await connect(await freshDatabase());
  await other.query('begin');
  await other.query('select pg_current_xact_id()');
  const end = await store.feedEnd();
  const jobs = await made(store, ...many(4));
  expect(told(await readAll(store, end, 4))).toEqual(jobs.map(({ id }) => `${id}/1`));
  await other.query('commit');
});

test('a transaction that is open in this database holds back what commits after it, and what it wrote comes first', async () => {
  const { url, store } = await freshStore();
  const [first, second] = [await connect(url), await connect(await freshDatabase())];
  await second.query('begin');
  await second.query('select pg_current_xact_id()');
  const [late, early] = await born(store, {}, {});
  await first.query('begin');
  await store.within(first).commit({ changes: [late!] });
  const end = await store.feedEnd();
  await store.commit({ changes: [early!] });
  expect((await readOn(store, end)).events).toEqual([]);
  await first.query('commit');
  expect(told(await readAll(store, end, 2))).toEqual([`${late!.after.id}/1`, `${early!.after.id}/1`]);
});
