// The slots: synchronous handlers yield to the event loop.
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { Slots } from '../../src/engine/loops/slots.ts';
import { turn } from '../../src/time/clock.ts';

function slotsFor(size: number, work: (item: number) => void | Promise<void>) {
  const frees = { count: 0 };
  const slots = new Slots<number>(size, { work, mayStart: () => true });
  slots.onFree(() => (frees.count += 1));
  return { slots, frees };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('many synchronous handlers yield to the event loop in between, and run in order', async () => {
  const seen: number[] = [];
  const { slots, frees } = slotsFor(10, (item) => void seen.push(item));
  slots.add(upTo(2_000));
  const atOnce = seen.length;
  await slots.whenIdle();

  expect(atOnce).toBeLessThan(2_000);
  expect(seen).toEqual(upTo(2_000));
  expect(frees.count).toBe(2_000);
  expect(slots.busy).toBe(0);
});

test('asynchronous handlers occupy their slots until they end', async () => {
  const ends: (() => void)[] = [];
  const { slots } = slotsFor(2, () => new Promise((resolve) => ends.push(resolve)));
  slots.add(upTo(3));

  expect([slots.busy, slots.waiting]).toEqual([2, 1]);
  ends[0]!();
  await turn();
  expect([slots.busy, slots.waiting, ends.length]).toEqual([2, 0, 3]);
});

test('jobs that are taken from the queue during a yield do not start', async () => {
  const seen: number[] = [];
  const { slots } = slotsFor(1, (item) => void seen.push(item));
  slots.add(upTo(1_000));
  const taken = slots.takeQueued();
  await turn();

  expect(seen.length + taken.length).toBe(1_000);
});

test('handlers see no asynchronous context of who adds their job, or had their slot before', async () => {
  const tenant = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const { slots } = slotsFor(1, async () => {
    seen.push(tenant.getStore());
    await turn();
  });
  tenant.run('acme', () => slots.add([1]));
  slots.add([2]);
  await slots.whenIdle();
  expect(seen).toEqual([undefined, undefined]);
});
