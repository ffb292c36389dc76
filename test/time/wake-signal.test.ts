// The wake signal: waiters wake by a notification, by time or by their own abort signal.
import { expect, test } from 'vitest';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { WakeSignal } from '../../src/time/wake-signal.ts';

const start = () => {
  const clock = new VirtualClock(0);
  return { clock, signal: new WakeSignal(clock) };
};

test('a notification wakes every waiter and leaves no timer', async () => {
  const { clock, signal } = start();
  const waits = [signal.wait(1_000), signal.wait(Infinity)];
  expect(signal.waiting).toBe(2);
  signal.notify();
  await Promise.all(waits);
  expect([signal.waiting, clock.pending()]).toEqual([0, 0]);
});

test('a waiter wakes when its time has passed and not before', async () => {
  const { clock, signal } = start();
  let isAwake = false;
  void signal.wait(100).then(() => (isAwake = true));
  await clock.advance(99);
  expect(isAwake).toBe(false);
  await clock.advance(1);
  expect([isAwake, signal.waiting]).toEqual([true, 0]);
});

test('an abort wakes its own waiter only', async () => {
  const { clock, signal } = start();
  const leave = new AbortController();
  const mine = signal.wait(Infinity, leave.signal);
  const other = signal.wait(Infinity);
  leave.abort();
  await mine;
  expect([signal.waiting, clock.pending()]).toEqual([1, 1]);
  signal.notify();
  await other;
});

test('a wait with an aborted signal returns at once', async () => {
  const { signal } = start();
  await signal.wait(Infinity, AbortSignal.abort());
  expect(signal.waiting).toBe(0);
});

test('a notification does not wake a wait that begins after it', async () => {
  const { signal } = start();
  signal.notify();
  let isAwake = false;
  void signal.wait(Infinity).then(() => (isAwake = true));
  await turn();
  expect(isAwake).toBe(false);
});
