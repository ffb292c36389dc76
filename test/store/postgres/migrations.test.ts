// Migrations: safe when many start at once, listed before they are executed, and never backwards.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { systemRandom } from '../../../src/random.ts';
import { PostgresStore } from '../../../src/store/postgres/store.ts';
import { detail } from '../../support/detail.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { nothingOpen } from '../../support/nothing-open.ts';
import { verify } from '../../../src/verify.ts';
import { commitStaged, fillEveryTable, readEveryTable, withoutNewer } from '../every-table.ts';
import { born, claimed, connect, decided, everything, freshStore, made, openStore } from './ground.ts';

test('eight instances that start at once make one schema', async () => {
  const url = await freshDatabase();
  const stores = Array.from({ length: 8 }, () => openStore(url));
  const migrations = await Promise.all(stores.map((store) => store.migrate()));
  expect(migrations.filter(({ from, to }) => from < to)).toHaveLength(1);
  const firsts = await Promise.all(stores.map((store) => store.reserveIds(10)));
  expect(new Set(firsts).size).toBe(8);
});

test('a dry run returns the statements and changes nothing', async () => {
  const url = await freshDatabase();
  const store = openStore(url, { schema: 'Odd "name"' });
  const { from, to, statements } = await store.migrate({ dryRun: true });
  expect(from).toBe(0);
  expect(statements[0]).toBe('create schema "Odd ""name"""');
  const client = await connect(url);
  expect((await client.query(`select 1 from pg_namespace where nspname like 'Odd%'`)).rows).toEqual([]);
  for (const statement of statements) await client.query(statement);
  await client.query(`update "Odd ""name""".meta set version = ${to}`);
  expect(await store.migrate()).toEqual({ from: to, to, statements: [] });
  await made(store, {});
  expect(await claimed(store)).toHaveLength(1);
});

test('a second migration does nothing, and needs no right to create anything', async () => {
  const { url } = await freshStore();
  const guest = `guest_${systemRandom.hex(6)}`;
  const client = await connect(url);
  await client.query(`create role ${guest} login; grant usage on schema stint to ${guest};
    grant select, insert, update, delete on all tables in schema stint to ${guest}`);
  const guestUrl = new URL(url);
  guestUrl.username = guest;
  const store = openStore(guestUrl.href);
  expect((await store.migrate()).statements).toEqual([]);
  await made(store, {});
  expect(await claimed(store)).toHaveLength(1);
});

test('a schema made by a newer version is refused and left alone', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query('update stint.meta set version = 1000');
  const refusal = { name: 'Refusal', code: 'newer.schema', detail: { found: 1000 } };
  await expect(store.migrate()).rejects.toMatchObject(refusal);
  await expect(store.migrate({ dryRun: true })).rejects.toMatchObject(refusal);
  expect((await client.query('select version from stint.meta')).rows).toEqual([{ version: 1000 }]);
});

test('a schema that was not migrated is refused with advice', async () => {
  const store = openStore(await freshDatabase());
  await expect(store.load([1])).rejects.toMatchObject({ name: 'Refusal', code: 'older.schema' });
});

detail('stores in schemas of their own do not see each other', async () => {
  const { url, store } = await freshStore();
  const other = openStore(url, { schema: 'other' });
  await other.migrate();
  await made(store, {});
  expect((await other.find({})).jobs).toEqual([]);
  expect(await claimed(other)).toEqual([]);
});

test('a feed that was restored on another server continues', async () => {
  const { url, store } = await freshStore();
  const [job] = await made(store, {});
  const client = await connect(url);
  // What a dump brings along from a server that has seen many more transactions.
  await client.query(`update stint.feed set xid = '900000000000'; update stint.job set xid = '900000000000'`);
  expect((await store.eventsAfter(null, 10)).events).toEqual([]);
  await store.migrate();
  await claimed(store);
  await nothingOpen(client);
  const { events } = await store.eventsAfter(null, 10);
  expect(events.map(({ job: id, event }) => [id, event.kind])).toEqual([[job!.id, 'created'], [job!.id, 'claimed']]);
});

/** The xids of a server that has seen many more transactions. */
const foreignXids = 900_000_000_000n;

test('a cursor of the former server continues where it was in a restored feed', async () => {
  const { url, store } = await freshStore();
  const jobs = [...(await made(store, {})), ...(await made(store, {})), ...(await made(store, {}))];
  const client = await connect(url);
  await nothingOpen(client);
  const { cursor: here } = await store.eventsAfter(null, 2);
  const atEnd = await store.feedEnd();
  const moved = `xid = (xid::text::bigint + ${foreignXids})::text::xid8`;
  await client.query(`update stint.feed set ${moved}; update stint.job set ${moved}`);
  const there = (cursor: string): string => cursor.replace(/^\d+/, (xid) => String(BigInt(xid) + foreignXids));
  await store.migrate();
  await claimed(store);
  await nothingOpen(client);
  const read = async (cursor: string): Promise<string[]> =>
    (await store.eventsAfter(there(cursor), 10)).events.map(({ job, event }) => `${job} ${event.kind}`);
  const later = jobs.map(({ id }) => `${id} claimed`);
  expect(await read(here)).toEqual([`${jobs[2]!.id} created`, ...later]);
  expect(await read(atEnd)).toEqual(later);
  const { cursor: next } = await store.eventsAfter(there(atEnd), 1);
  expect((await store.eventsAfter(next, 10)).events).toHaveLength(2);
});

test('a restored feed keeps its order if this server has reached some of its xids', async () => {
  const { url, store } = await freshStore();
  const [job] = await made(store, {});
  await claimed(store);
  const client = await connect(url);
  await client.query(`update stint.feed set xid = '${foreignXids}' where seq = (select max(seq) from stint.feed);
    update stint.job set xid = '${foreignXids}'`);
  await store.migrate();
  await nothingOpen(client);
  const { events } = await store.eventsAfter(null, 10);
  expect(events.map(({ job: id, event }) => [id, event.kind])).toEqual([[job!.id, 'created'], [job!.id, 'claimed']]);
});

test('a server that cannot be reached is refused after some time', async () => {
  const store = new PostgresStore('postgres://postgres@127.0.0.1:1/none', { patienceMs: 300, notify: false });
  await expect(store.load([1])).rejects.toMatchObject({ name: 'Refusal', code: 'unavailable.store' });
  await store.close();
  await expect(store.load([1])).rejects.toMatchObject({ name: 'Refusal', code: 'unavailable.store' });
});

detail('a feed with one entry per job has the same events after the migration', async () => {
  const url = await freshDatabase();
  const store = openStore(url);
  const event = { n: 1, at: 1_800_000_000_000, by: 'a "b"\n☃', kind: 'created', due: 5, priority: -1 };
  // Data of a handler may resemble the head of an entry, and stays unchanged.
  const failed = { ...event, n: 2, kind: 'failed', error: { code: 'unknown', message: '', data: [{ job: 1, kind: 'x' }] } };
  const told = [
    { job: 1, kind: 'run', type: 'mail "x"', def: null, parent: null, event },
    { job: 9_007_199_254_740_991, kind: 'task', type: 'mail', def: null, parent: 1, event: failed },
  ];
  const entries = told.map(({ job, kind, type, parent, event: one }) => ({ job, kind, type, parent, events: [one] }));
  const { statements, to } = await store.migrate({ dryRun: true });
  const conversion = statements.findIndex((statement) => statement.includes('.feed set events'));
  expect(conversion).toBeGreaterThan(0);
  const client = await connect(url);
  for (const statement of statements.slice(0, conversion)) await client.query(statement);
  await client.query(
    `insert into stint.feed (told, at, count, events) values ('1', $1, 2, $2)`, [event.at, JSON.stringify(entries)],
  );
  for (const statement of statements.slice(conversion)) await client.query(statement);
  await client.query(`update stint.meta set version = ${to}`);
  await nothingOpen(client);
  expect((await store.eventsAfter(null, 10)).events).toEqual(told);
});

/** The version of the schema before tables and columns were renamed. */
const beforeRenames = 6;

detail('a database of the version before the renames keeps every row', async () => {
  const url = await freshDatabase();
  const [written, old] = [openStore(url, { schema: 'written' }), openStore(url, { schema: 'old' })];
  await written.migrate();
  await fillEveryTable(written);

  const client = await connect(url);
  const { statements, to } = await old.migrate({ dryRun: true });
  const renaming = statements.findIndex((statement) => statement.includes('rename column told'));
  for (const statement of statements.slice(0, renaming)) await client.query(statement);
  await client.query(`update old.meta set version = ${beforeRenames}; delete from old.counter; ${withoutNewer('written')}`);
  // The renames keep the order of the columns.
  const formerNames = { unique_key: 'taken', history_chunk: 'chunk' };
  const idColumn: Record<string, string> = { job: 'row.id', ended: 'row.id', history_chunk: 'row.job' };
  for (const table of ['counter', 'job', 'ended', 'progress', 'log', 'instance', 'leader', 'feed', 'staged', 'unique_key', 'history_chunk']) {
    const former = (formerNames as Record<string, string>)[table] ?? table;
    const { rowCount } = await client.query(`insert into old.${former} overriding system value
      select ${await formerColumns(client, table)} from written.${table} as row
        left join written.origin as first on first.id = ${idColumn[table] ?? 'null'}`);
    expect([table, rowCount]).not.toEqual([table, 0]);
  }
  await client.query(`update old.staged set way = case way when 'fast' then 'quick' else 'careful' end`);

  expect(await old.migrate()).toMatchObject({ from: beforeRenames, to });
  await nothingOpen(client);
  expect(await readEveryTable(old)).toEqual(await readEveryTable(written));
  const { jobs: [running] } = await old.find({ standings: ['running'] });
  expect(await old.log(running!.id)).toMatchObject([{ text: 'started', fence: null }]);
  expect([await commitStaged(old), await commitStaged(written)]).toEqual([[], []]);
  expect((await old.find({ kinds: ['task'] })).jobs).toHaveLength(2);
  expect(await Array.fromAsync(verify(old, { patienceMs: 0 }))).toEqual([]);
  await made(old, {});
  expect(await claimed(old)).toHaveLength(4);
});

/**
 * The columns of a table in the form of the version before `origin`: input, body and the first line of the history were
 * in the row of the job; in the oldest chunk, if the history had chunks. Log lines had no fence, and jobs no version.
 */
async function formerColumns(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(`select column_name as name from information_schema.columns
    where table_schema = 'written' and table_name = $1
      and (table_name, column_name) not in (('log', 'fence'), ('job', 'type_version'))
    order by ordinal_position`, [table]);
  const older = table === 'history_chunk' ? 'and older.upto < row.upto' : '';
  const withFirst = (name: string, job: string): string => `case when exists (
    select 1 from written.history_chunk older where older.job = row.${job} ${older}) then row.${name}
    else concat_ws(E'\\n', first.history, row.${name}) end`;
  const former: Record<string, string> = { input: 'coalesce(row.input, first.input)', body: 'coalesce(row.body, first.body)' };
  return rows.map(({ name }) => {
    if (table === 'history_chunk' && name === 'lines') return withFirst(name, 'job');
    if (table !== 'job' && table !== 'ended') return `row.${name}`;
    return name === 'history' ? withFirst(name, 'id') : (former[name] ?? `row.${name}`);
  }).join(', ');
}

test('an instance whose columns have been renamed is refused clearly', async () => {
  const { url, store } = await freshStore();
  await (await connect(url)).query('alter table stint.job rename column xid to newer_name');
  const [change] = await born(store, {});
  await store.commit({ changes: [change!] });
  const refused = store.claim(everything, (candidates, now) =>
    candidates.map(({ job }) => decided(job, { do: 'claim', holder: 'h', until: null }, now)));
  await expect(refused).rejects.toMatchObject({ name: 'Refusal', code: 'older.schema' });
});
