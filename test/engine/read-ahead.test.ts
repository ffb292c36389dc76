// Reading ahead: pages come out in their order, though several are read at the same time.
import { expect, test } from 'vitest';
import { readAhead } from '../../src/engine/inspect/read-ahead.ts';

async function* numbers(count: number, taken: number[] = []): AsyncGenerator<number, void> {
  for (let page = 1; page <= count; page += 1) {
    taken.push(page);
    yield page;
  }
}

test('pages come out in their order, whichever is read first', async () => {
  const gates = Array.from({ length: 8 }, () => Promise.withResolvers<void>());
  const reads = readAhead(numbers(8), async (page) => (await gates[page - 1]!.promise, page), 4);
  for (const { resolve } of gates.toReversed()) resolve();
  expect(await Array.fromAsync(reads)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('the first page is read alone, then up to four at the same time', async () => {
  let running = 0;
  const atOnce: number[] = [];
  const reads = readAhead(numbers(12), async () => {
    running += 1;
    await new Promise(setImmediate);
    atOnce.push(running);
    running -= 1;
  }, 4);
  await Array.fromAsync(reads);
  expect(atOnce[0]).toBe(1);
  expect(Math.max(...atOnce)).toBe(4);
});

test('a caller who takes one page reads no other', async () => {
  const taken: number[] = [];
  for await (const page of readAhead(numbers(12, taken), async (page) => page, 4)) if (page === 1) break;
  expect(taken).toEqual([1]);
});

test('an error reaches the caller in its place, and those behind it disturb nobody', async () => {
  const seen: number[] = [];
  const reads = readAhead(numbers(8), async (page) => {
    if (page >= 3) throw new Error(`page ${page}`);
    return page;
  }, 4);
  await expect((async () => {
    for await (const page of reads) seen.push(page);
  })()).rejects.toThrow('page 3');
  expect(seen).toEqual([1, 2]);
});
