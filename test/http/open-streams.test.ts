// Open streams: they end with the access of their caller, are limited in number, and share what they read.
import { expect, test } from 'vitest';
import { RunTurns, runsPerTurn, turnMs } from '../../src/http/events/run-turns.ts';
import type { FeedItem } from '../../src/http/events/feed.ts';
import type { TokenRecord } from '../../src/http/access/tokens.ts';
import { waitMs } from '../support/patience.ts';
import { api, as, ended, records, tokens, until, world, type World } from './world.ts';

interface Reading {
  readonly status: number;
  readonly over: Promise<string>;
  close(): void;
}

async function read(on: World, path: string, who: Parameters<typeof as>[0]): Promise<Reading> {
  const leave = new AbortController();
  const response = await fetch(`${on.url}${api}${path}`, { ...as(who), signal: leave.signal });
  return { status: response.status, over: response.text().catch(() => 'left'), close: () => leave.abort() };
}

const within = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject(new Error('it has not ended')), waitMs).unref())]);

test('end when the token of their reader is revoked or gets another role, and others stay', async () => {
  let valid: readonly TokenRecord[] = records;
  const own = await world({ access: { tokens: () => valid }, isIdle: true });
  const { body: { id } } = await own.post(`${api}/runs`, { type: 'echo', delay: '1h' }, as('admin'));
  const [all, one, other, operators] = await Promise.all([
    read(own, '/stream', 'viewer'), read(own, `/runs/${id}/stream`, 'viewer'), read(own, '/stream', 'admin'),
    read(own, '/stream', 'operator'),
  ]);
  let isOtherOver = false;
  void other.over.then(() => (isOtherOver = true));
  valid = records
    .filter(({ hash }) => hash !== tokens.viewer.record.hash)
    .map((record) => (record.name === 'olga' ? { ...record, role: 'viewer' } : record));
  await within(Promise.all([all.over, one.over, operators.over]));
  expect(isOtherOver).toBe(false);
  other.close();
  await own.close();
});

test('a worker whose token is revoked while it waits gets no job', async () => {
  let valid: readonly TokenRecord[] = records;
  const own = await world({ access: { tokens: () => valid }, isIdle: true });
  const waiting = own.post(`${api}/work/claim`, { worker: 'w', types: ['echo'], waitMs: 60_000 }, as('worker'));
  await until(async () => (await own.get(`${api}/instances`, as('admin'))).body.items.some(({ id }: { id: string }) => id.endsWith('/w')));
  valid = records.filter(({ hash }) => hash !== tokens.worker.record.hash);
  await own.post(`${api}/runs`, { type: 'echo' }, as('admin'));
  expect((await waiting).status).toBe(401);
  await own.close();
});

test('open streams are limited per client and in total, and one that ends makes room', async () => {
  const own = await world({ access: { tokens: records }, isIdle: true, streams: { max: 3, perClient: 2 } });
  const first = await read(own, '/stream', 'viewer');
  const { body: { id } } = await own.post(`${api}/runs`, { type: 'echo', delay: '1h' }, as('admin'));
  const second = await read(own, `/runs/${id}/stream`, 'viewer');
  const third = await read(own, '/stream', 'viewer');
  expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
  expect(await third.over).toContain('vera reads 2 event streams already');
  const fourth = await read(own, '/stream', 'admin');
  expect([fourth.status, (await read(own, '/stream', 'operator')).status]).toEqual([200, 429]);
  first.close();
  await until(async () => {
    const next = await read(own, '/stream', 'operator');
    next.close();
    return next.status === 200;
  });
  second.close();
  fourth.close();
  await own.close();
});

test('streams of one run share their reads, and read a waiting run only after an event', async () => {
  const own = await world({ access: { tokens: records } });
  const { engine } = own;
  let snapshots = 0;
  const snapshot = engine.snapshot.bind(engine);
  engine.snapshot = (id) => {
    snapshots += 1;
    return snapshot(id);
  };
  const start = async (body: object): Promise<number> => (await own.post(`${api}/runs`, body, as('admin'))).body.id as number;
  const [waiting, running] = [await start({ type: 'echo', delay: '1h' }), await start({ type: 'patient' })];
  const count = 15;
  const readings = await Promise.all(Array.from({ length: 2 * count }, (_, n) =>
    read(own, `/runs/${n % 2 === 0 ? waiting : running}/stream`, 'viewer')));
  const [before, startedAt] = [snapshots, performance.now()];
  const paused = await start({ type: 'echo', delay: '1500ms' });
  await until(async () => (await own.engine.get(paused)).state === 'ended');
  const turns = (performance.now() - startedAt) / turnMs;
  // One read per turn for the running run, and a first one of each stream that had yet to begin.
  expect(snapshots - before).toBeLessThanOrEqual(turns + 2 * count + 5);
  for (const reading of readings) reading.close();
  await own.close();
});

test('a stream notices an event that comes while it reads', async () => {
  const own = await world();
  const ids = await Promise.all(Array.from({ length: 20 }, async () =>
    (await own.post(`${api}/runs`, { type: 'echo' })).body.id as number));
  const texts = await Promise.all(ids.map(async (id) => (await fetch(`${own.url}${api}/runs/${id}/stream`)).text()));
  for (const text of texts) expect(text).toContain('event: end');
  for (const id of ids) await ended(own, id);
  await own.close();
});

/** Watches of the runs 1 to `count`, with a timer and a feed that the test moves. */
async function watches(count: number, isRunning: boolean) {
  const timers: (() => void)[] = [];
  const clock = { after: (ms: number, call: () => void) => (ms === turnMs && timers.push(call), () => {}) };
  let publish: (item: FeedItem) => void = () => {};
  const feed = { start: async () => {}, follow: (call: typeof publish) => ((publish = call), () => {}) };
  const turns = new RunTurns(feed, clock);
  const woken: number[] = [];
  const { signal } = new AbortController();
  for (let id = 1; id <= count; id++) {
    const watch = await turns.watch(id);
    void watch.wait(isRunning, signal).then(() => woken.push(id));
  }
  const turn = async (): Promise<number> => {
    const before = woken.length;
    for (const call of timers.splice(0)) call();
    await new Promise((resolve) => setImmediate(resolve));
    return woken.length - before;
  };
  const change = (job: number, parent: number | null): void =>
    publish({ position: null, event: { job, parent, kind: 'task', type: 'x', event: {} } as unknown as FeedItem['event'] });
  return { woken, turn, change };
}

test('a run that waits is read after an event of it, and not before', async () => {
  const { woken, turn, change } = await watches(3, false);
  expect([await turn(), await turn()]).toEqual([0, 0]);
  change(2, null);
  expect([await turn(), await turn(), woken]).toEqual([1, 0, [2]]);
});

test('read a limited number of runs per turn, changed ones first', async () => {
  const count = runsPerTurn * 2 + 10;
  const { woken, turn, change } = await watches(count, true);
  change(999_999, count);
  expect(await turn()).toBe(runsPerTurn);
  expect(woken[0]).toBe(count);
  expect([await turn(), await turn(), await turn()]).toEqual([runsPerTurn, 10, 0]);
});
