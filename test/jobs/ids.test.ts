// Ids: handed out from blocks, rising, never twice, and again after the store was away.
import { expect, test } from 'vitest';
import { Ids } from '../../src/jobs/ids.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { stores } from '../support/stores.ts';

/** Counts reservations, and fails on demand. */
class Counter {
  last = 0;
  readonly asked: number[] = [];
  isAway = false;
  time = 1_000;

  now(): number {
    return this.time;
  }

  async reserveIds(count: number): Promise<number> {
    this.asked.push(count);
    if (this.isAway) throw new Error('the store is away');
    const first = this.last + 1;
    this.last += count;
    return first;
  }
}

/** Waits until all that is reserved has been answered. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('ids rise, and none is given twice, however many ask at once', async () => {
  const ids = new Ids(new Counter());
  const taken = (await Promise.all(Array.from({ length: 200 }, (_, at) => ids.take((at % 7) + 1)))).flat();
  expect(new Set(taken).size).toBe(taken.length);
  for (const block of [await ids.take(5), await ids.take(1000)]) expect(block).toEqual(block.toSorted((a, b) => a - b));
});

test('the store is asked less and less often', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  for (let time = 0; time < 40_000; time += 1) await ids.take(1);
  expect(counter.asked.length).toBeLessThan(25);
  expect(counter.asked[0]).toBe(1);
  expect(Math.max(...counter.asked)).toBe(16_384);
});

test('the first block has as many ids as requested: a single job wastes none', async () => {
  const counter = new Counter();
  expect(await new Ids(counter).take(3)).toEqual([1, 2, 3]);
  expect(counter.asked).toEqual([3]);
});

test('a request for no ids reserves none', async () => {
  const counter = new Counter();
  expect(await new Ids(counter).take(0)).toEqual([]);
  expect(counter.asked).toEqual([]);
});

test('a reservation that failed does not fail those after it', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  counter.isAway = true;
  await expect(ids.take(1)).rejects.toThrow('the store is away');
  await expect(Promise.all([ids.take(1), ids.take(2)])).rejects.toThrow('the store is away');
  counter.isAway = false;
  expect(await ids.take(2)).toEqual([1, 2]);
});

test('the rest of a block goes unused after a while, and the next block is as large as the last was used', async () => {
  const counter = new Counter();
  const [ids, others] = [new Ids(counter), new Ids(counter)];
  for (let taken = 0; taken < 20; taken += 1) await ids.take(1);
  counter.time += 40;
  expect(await ids.take(1)).toEqual([21]);
  const [other] = await others.take(1);
  counter.time += 1_000;
  const [next] = await ids.take(1);
  expect(next).toBeGreaterThan(other!);
  expect(counter.asked.at(-1)).toBe(6);
});

test('while jobs are created less than 100 ms apart, the next block is reserved between creates', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  const waited: boolean[] = [];
  const taken: number[] = [];
  for (let created = 0; created < 60; created += 1, counter.time += 20) {
    const asked = counter.asked.length;
    taken.push(...(await ids.take(1)));
    waited.push(counter.asked.length > asked);
    ids.reserveAhead();
    await settled();
  }
  expect(taken).toEqual(taken.toSorted((a, b) => a - b));
  expect(new Set(taken).size).toBe(60);
  expect(waited.lastIndexOf(true)).toBeLessThan(3);
  expect(counter.asked.length).toBeLessThan(30);
});

test('no block is reserved ahead of a job that is created long after the last', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  for (let created = 0; created < 5; created += 1, counter.time += 1_000) {
    await ids.take(1);
    ids.reserveAhead();
    await settled();
  }
  expect(counter.asked).toEqual([1, 1, 1, 1, 1]);
});

test('no block is reserved ahead while jobs are created without a pause', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  for (let created = 0; created < 100; created += 1) {
    const asked = counter.asked.length;
    await ids.take(1);
    const wanted = counter.asked.length - asked;
    ids.reserveAhead();
    await settled();
    if (created > 30) expect(counter.asked.length).toBe(asked + wanted);
  }
});

test('a block that was reserved ahead expires like any other', async () => {
  const counter = new Counter();
  const [ids, others] = [new Ids(counter), new Ids(counter)];
  for (let taken = 0; taken < 6; taken += 1) await ids.take(1);
  ids.reserveAhead();
  await settled();
  const [other] = await others.take(1);
  counter.time += 101;
  const [next] = await ids.take(1);
  expect(next).toBeGreaterThan(other!);
});

test('an error while a block is reserved ahead fails no create', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  for (let taken = 0; taken < 6; taken += 1) await ids.take(1);
  const [asked, left] = [counter.asked.length, counter.last];
  counter.isAway = true;
  ids.reserveAhead();
  await settled();
  expect(counter.asked.length).toBe(asked + 1);
  counter.isAway = false;
  for (let id = 7; id <= left + 3; id += 1) expect(await ids.take(1)).toEqual([id]);
});

test('inside of a transaction of the caller no block is reserved ahead: its statement could follow the commit', async () => {
  const counter = new Counter();
  const jobs = new Jobs({ within: () => counter } as unknown as Store);
  const { ids } = jobs.within('a transaction');
  for (let taken = 0; taken < 6; taken += 1) await ids.take(1);
  ids.reserveAhead();
  await settled();
  expect(counter.asked).toEqual([1, 2, 4]);
});

test('takes that wait for a block that is reserved ahead use it, in order', async () => {
  const counter = new Counter();
  const ids = new Ids(counter);
  for (let taken = 0; taken < 6; taken += 1) await ids.take(1);
  ids.reserveAhead();
  const taken = (await Promise.all([ids.take(3), ids.take(2), ids.take(1)])).flat();
  expect(new Set(taken).size).toBe(6);
  expect(Math.min(...taken)).toBeGreaterThan(6);
  expect(counter.asked).toEqual([1, 2, 4, 8]);
  expect(await ids.take(1)).toEqual([Math.max(...taken) + 1]);
});

test.each(stores)('newest first is newest first, whichever of two instances created a run ($name)', async (kind) => {
  const clock = new VirtualClock(1_800_000_000_000);
  const opened = await kind.open(clock);
  const { store } = opened;
  const instances = [new Jobs(store), new Jobs(await opened.again())];
  const created: number[] = [];
  for (const [count, turn] of [[40, 0], [3, 1], [1, 0], [40, 1], [1, 0], [1, 1], [2, 0]] as const) {
    for (let left = count; left > 0; left -= 1) {
      created.push((await instances[turn]!.create({ type: 'plain' }, 'test')).job!.id);
      await clock.advance(1);
    }
    await clock.advance(1_000);
  }
  const { jobs } = await store.find({}, { limit: 200 });
  expect(jobs.map(({ id }) => id)).toEqual(created.toReversed());
  await opened.close();
});
