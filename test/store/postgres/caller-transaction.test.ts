// Jobs in the caller's own transaction: with whatever can run a statement, and without harm to what the caller does.
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Engine, jobType } from '../../../src/index.ts';
import { noTag } from '../../../src/store/postgres/sql/notices.ts';
import type { Store } from '../../../src/store/store.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { waitMs } from '../../support/patience.ts';
import { whileTicking } from '../../support/ticking.ts';
import { born, claimed, connect, freshStore, made, openStore } from './ground.ts';

test('a job shares the fate of the transaction that made it', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query('create table own (id bigint)');
  for (const end of ['rollback', 'commit']) {
    const [change] = await born(store, {});
    await client.query('begin');
    await client.query('insert into own values (1)');
    expect(await store.within(client).commit({ changes: [change!] })).toEqual([true]);
    expect(await claimed(store)).toEqual([]);
    await client.query(end);
    expect((await claimed(store)).map(({ id }) => id)).toEqual(end === 'commit' ? [change!.after.id] : []);
  }
});

/** Counts the calls of a listener, from when it hears other processes on. */
async function listening(
  store: Pick<Store, 'onWake'>,
): Promise<{ readonly calls: () => number; next(): Promise<void> }> {
  let calls = 0;
  let call = (): void => {};
  const next = (): Promise<void> => new Promise((resolve) => (call = resolve));
  const isListening = next();
  onTestFinished(store.onWake(() => {
    calls += 1;
    call();
  }));
  await isListening;
  return { calls: () => calls, next };
}

test('the commit of the transaction wakes the listeners of every process, this one too', async () => {
  const { url, store } = await freshStore({ notify: true });
  const other = openStore(url, { notify: true });
  const client = await connect(url);
  const listeners = [await listening(store), await listening(other)];
  const [change, undone] = await born(store, {}, {});
  await client.query('begin');
  await store.within(client).commit({ changes: [undone!] });
  await client.query('rollback');
  const called = listeners.map(({ calls }) => calls());
  await client.query('begin');
  await store.within(client).commit({ changes: [change!] });
  const woken = listeners.map((listener) => listener.next());
  await client.query('commit');
  await Promise.all(woken);
  expect(listeners.map(({ calls }) => calls())).toEqual(called.map((calls) => calls + 1));
});

/** The notifications that reach a plain connection. `all` returns those that were sent before it was called. */
async function notifications(url: string): Promise<{ all(): Promise<readonly string[]> }> {
  const client = await connect(url);
  const received: string[] = [];
  let receive = (): void => {};
  client.on('notification', ({ payload = '' }) => {
    received.push(payload);
    receive();
  });
  await client.query('listen stint_wake');
  const last = 'the last one';
  return {
    all: async () => {
      await client.query(`select pg_notify('stint_wake', '${last}')`);
      while (received.at(-1) !== last) await new Promise<void>((resolve) => (receive = resolve));
      return received.filter((payload) => payload !== last);
    },
  };
}

test('a run created in the transaction starts when it commits, without a poll', async () => {
  const { url, store } = await freshStore({ notify: true });
  await listening(store);
  const started = Promise.withResolvers<string>();
  const greet = jobType('greet', { run: () => started.resolve('greeted') });
  // With a clock that stands still, the worker never polls. It has a store of its own, so that nothing but a
  // notification tells it of the run; and it has found nothing to do before the run exists.
  const searched = vi.spyOn(store, 'nextDue');
  const clock = new VirtualClock(Date.now());
  const worker = new Engine({ store, clock, types: [greet], instance: 'worker' });
  onTestFinished(() => worker.close());
  await worker.resume();
  await expect.poll(() => searched.mock.settledResults.length, { timeout: waitMs }).toBeGreaterThan(0);
  const producer = new Engine({ store: openStore(url, { notify: true }), types: [greet], instance: 'producer' });
  onTestFinished(() => producer.close());
  const notified = await notifications(url);
  const client = await connect(url);
  await client.query('begin');
  await producer.in(client).createJobRun(greet);
  const before = await notified.all();
  await client.query('commit');
  expect((await notified.all()).length).toBeGreaterThan(before.length);
  expect(await whileTicking(clock, started.promise)).toBe('greeted');
});

test('a client of a pool, and anything that answers like a client, will do', async () => {
  const { url, store } = await freshStore();
  const pool = new pg.Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  await client.query('begin');
  const like = { query: (text: string, values: unknown[]) => client.query(text, values) };
  const [a, b] = await born(store, {}, { unique: { key: 'k', forMs: 60_000 } });
  await store.within(client).commit({ changes: [a!] });
  await store.within(like).commit({ changes: [b!] });
  const seen = await store.within(like).load([a!.after.id, b!.after.id]);
  expect(seen.toSorted((x, y) => x.id - y.id)).toEqual([a!.after, b!.after]);
  expect(await store.within(like).jobsByKey(['k'])).toEqual(new Map([['k', b!.after.id]]));
  await client.query('commit');
  client.release();
  expect(await store.load([a!.after.id])).toEqual([a!.after]);
});

test('a value that cannot execute a statement is refused', async () => {
  const { store } = await freshStore();
  for (const wrong of [null, undefined, 'begin', 7, {}, { query: true }]) {
    expect(() => store.within(wrong)).toThrow(expect.objectContaining({ code: 'malformed.store' }) as Error);
  }
});

test('a pool, and a client without a transaction, are refused and create nothing', async () => {
  const { url, store } = await freshStore();
  const pool = new pg.Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  const [change] = await born(store, {});
  const refusal = expect.objectContaining({ code: 'malformed.store', message: expect.stringContaining('begin one') as string }) as Error;
  expect(() => store.within(pool)).toThrow(refusal);
  await expect(store.within(await connect(url)).commit({ changes: [change!] })).rejects.toThrow(refusal);
  expect(await store.load([change!.after.id])).toEqual([]);
});

test('a job that cannot be stored leaves the rest of the transaction to the caller', async () => {
  const { url, store } = await freshStore();
  await made(store, { unique: { key: 'taken', forMs: null } });
  const client = await connect(url);
  await client.query('create table own (id bigint)');
  await client.query('begin');
  await client.query('insert into own values (1)');
  const [good, keyed] = await born(store, {}, { unique: { key: 'taken', forMs: null } });
  const [impossible] = await born(store, { type: 'a\0b' });
  expect(await store.within(client).commit({ changes: [good!, keyed!], whole: true })).toEqual([false, false]);
  await expect(store.within(client).commit({ changes: [impossible!] })).rejects.toThrow();
  expect(await store.within(client).commit({ changes: [good!, keyed!] })).toEqual([true, false]);
  await client.query('commit');
  expect((await client.query('select id from own')).rows).toHaveLength(1);
  expect(await store.load([good!.after.id, keyed!.after.id])).toEqual([good!.after]);
});

/** Records the statements of a client, each with the name under which it is prepared. */
function recorded(client: pg.Client): { readonly text: string; readonly name: string | undefined }[] {
  const statements: { text: string; name: string | undefined }[] = [];
  const query = client.query.bind(client) as (...values: unknown[]) => unknown;
  const recording = (...values: [string | pg.QueryConfig, ...unknown[]]): unknown => {
    const [first] = values;
    statements.push(typeof first === 'string' ? { text: first, name: undefined } : { text: first.text, name: first.name });
    return query(...values);
  };
  client.query = recording as typeof client.query;
  return statements;
}

const summaryOf = ({ text, name }: { readonly text: string; readonly name: string | undefined }): string =>
  text.startsWith('with') ? (name === undefined ? 'insert' : 'prepared insert') : text;

test('a new job takes one statement between those of its savepoint, with the notification, prepared once', async () => {
  const { url, store } = await freshStore({ notify: true });
  const notified = await notifications(url);
  const client = await connect(url);
  const changes = await born(store, {}, {}, { unique: { key: 'k', forMs: null } }, { unique: { key: 'k', forMs: null } });
  const statements = recorded(client);
  await client.query('begin');
  for (const [index, change] of changes.entries()) {
    expect(await store.within(client).commit({ changes: [change] })).toEqual([index < 3]);
  }
  await client.query('commit');
  const ofOne = ['savepoint stint', 'prepared insert', 'release savepoint stint'];
  expect(statements.map(summaryOf)).toEqual(['begin', ...changes.flatMap(() => ofOne), 'commit']);
  expect(new Set(statements.flatMap(({ name }) => name ?? [])).size).toBe(2);
  expect((await notified.all()).filter((payload) => payload === noTag)).toHaveLength(1);
  const seen = await store.load(changes.map(({ after }) => after.id));
  expect(seen.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(changes.slice(0, 3).map(({ after }) => after.id));
});

test('a connection that forgets its prepared statements stores the jobs all the same', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const changes = await born(store, {}, {}, {});
  const statements = recorded(client);
  await client.query('begin');
  await store.within(client).commit({ changes: [changes[0]!] });
  await client.query('deallocate all');
  expect(await store.within(client).commit({ changes: [changes[1]!] })).toEqual([true]);
  expect(await store.within(client).commit({ changes: [changes[2]!] })).toEqual([true]);
  await client.query('commit');
  expect(statements.map(summaryOf).filter((text) => text.endsWith('insert')))
    .toEqual(['prepared insert', 'prepared insert', 'insert', 'insert']);
  expect(await store.load(changes.map(({ after }) => after.id))).toHaveLength(3);
});

test('no statement of the caller is prepared if the store must not prepare any', async () => {
  const { url, store } = await freshStore({ prepare: false });
  const client = await connect(url);
  const [change] = await born(store, {});
  const statements = recorded(client);
  await client.query('begin');
  expect(await store.within(client).commit({ changes: [change!] })).toEqual([true]);
  await client.query('commit');
  expect(statements.filter(({ name }) => name !== undefined)).toEqual([]);
});

test('a job whose id is used is not stored, and the transaction goes on', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const [open, other] = await born(store, {}, {});
  await store.commit({ changes: [open!] });
  await client.query('begin');
  expect(await store.within(client).commit({ changes: [open!] })).toEqual([false]);
  expect(await store.within(client).commit({ changes: [other!] })).toEqual([true]);
  await client.query('commit');
  expect(await store.load([other!.after.id])).toEqual([other!.after]);
});

test('runs that are created in transactions share blocks of ids', async () => {
  const { url } = await freshStore();
  const store = openStore(url, {});
  const reserved = vi.spyOn(store, 'reserveIds');
  vi.spyOn(store, 'now').mockReturnValue(store.now());
  const greet = jobType('greet', { run: () => {} });
  const producer = new Engine({ store, types: [greet] });
  onTestFinished(() => producer.close());
  await producer.ready();
  reserved.mockClear();
  const client = await connect(url);
  await client.query('begin');
  for (let count = 0; count < 16; count += 1) await producer.in(client).createJobRun(greet);
  await client.query('commit');
  expect(reserved.mock.calls.length).toBeLessThanOrEqual(5);
});

test('ids can be reserved by others while a transaction is open', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query('begin');
  const within = store.within(client);
  const first = await within.reserveIds(5);
  expect(await store.reserveIds(5)).toBeGreaterThanOrEqual(first + 5);
  await client.query('rollback');
  expect(await store.reserveIds(1)).toBeGreaterThanOrEqual(first + 10);
});
