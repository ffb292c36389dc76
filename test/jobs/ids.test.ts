// Ids: handed out from blocks, rising, never twice, and again after the store was away.
import { expect, test } from 'vitest';
import { Ids } from '../../src/jobs/ids.ts';

/** Counts reservations, and fails on demand. */
class Counter {
  last = 0;
  readonly asked: number[] = [];
  isAway = false;

  async reserve(count: number): Promise<number> {
    this.asked.push(count);
    if (this.isAway) throw new Error('the store is away');
    const first = this.last + 1;
    this.last += count;
    return first;
  }
}

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
