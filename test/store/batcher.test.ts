// The batcher: items that meet run together, and a failing item rejects nothing but itself.
import { expect, test } from 'vitest';
import { Batcher, type BatcherOptions } from '../../src/store/batcher.ts';

/** A batcher that answers each item doubled and throws for negative ones; it records the groups that it ran. */
function doubling(options: Partial<BatcherOptions<number>> = {}) {
  const groups: (readonly number[])[] = [];
  const run = async (take: () => readonly number[]): Promise<number[]> => {
    const items = take();
    groups.push(items);
    await Promise.resolve();
    if (items.some((item) => item < 0)) throw new Error('negative');
    return items.map((item) => item * 2);
  };
  return { groups, batcher: new Batcher(run, { runningMax: 1, ...options }) };
}

test('items that are added in the same turn run as one group, and each gets its answer', async () => {
  const { batcher, groups } = doubling();
  expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([2, 4, 6]);
  expect(groups).toEqual([[1, 2, 3]]);
});

test('a group that fails is run item by item', async () => {
  const { batcher, groups } = doubling();
  const answers = await Promise.allSettled([1, -2, 3].map((item) => batcher.add(item)));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(groups).toEqual([[1, -2, 3], [1], [-2], [3]]);
});

test('an error that is not caused by an item rejects the group at once', async () => {
  const { batcher, groups } = doubling({ isForAll: () => true });
  const answers = await Promise.allSettled([1, -2].map((item) => batcher.add(item)));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(groups).toEqual([[1, -2]]);
});

test('a group holds no more than its size, but always one item', async () => {
  const { batcher, groups } = doubling({ sizeMax: 5, sizeOf: (item) => item });
  await Promise.all([9, 2, 3, 1].map((item) => batcher.add(item)));
  expect(groups).toEqual([[9], [2, 3], [1]]);
});

test('an error before the items are taken rejects all that wait', async () => {
  const batcher = new Batcher<number, number>(() => Promise.reject(new Error('no database')), { runningMax: 1 });
  const answers = await Promise.allSettled([1, 2].map((item) => batcher.add(item)));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
