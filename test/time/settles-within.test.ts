import { expect, test } from 'vitest';
import { VirtualClock } from '../../src/time/clock.ts';
import { settlesWithin } from '../../src/time/settles-within.ts';

test('a promise that rejects in time leaves no timer armed', async () => {
  const clock = new VirtualClock(0);
  const waiting = settlesWithin(clock, 5_000, Promise.reject(new Error('broken')));
  await expect(waiting).rejects.toThrow('broken');
  await clock.advance(0);
  expect(clock.untilNext()).toBe(Infinity);
});

test('tells a promise that is fulfilled in time from one that is late', async () => {
  const clock = new VirtualClock(0);
  expect(await settlesWithin(clock, 5_000, Promise.resolve())).toBe(true);
  const late = settlesWithin(clock, 5_000, new Promise(() => {}));
  await clock.advance(5_000);
  expect(await late).toBe(false);
  expect(clock.untilNext()).toBe(Infinity);
});
