// Deadlines: each fires at its time, whatever others there are, and no timer stays armed without a pending deadline.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadlines } from '../../src/engine/attempt/deadlines.ts';
import { VirtualClock } from '../../src/time/clock.ts';

test('each deadline fires at its time, and a cancelled one does not', async () => {
  const asks = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 50 }), cancelAt: fc.option(fc.integer({ min: 0, max: 50 })) }));
  await fc.assert(
    fc.asyncProperty(asks, async (asked) => {
      const clock = new VirtualClock(0);
      const deadlines = new Deadlines(clock);
      const rung: (number | null)[] = asked.map(() => null);
      const cancels = asked.map(({ ms }, index) => deadlines.after(ms, () => (rung[index] = clock.monotonic())));
      for (let now = 0; now <= 50; now++) {
        asked.forEach(({ cancelAt }, index) => cancelAt === now && cancels[index]!());
        await clock.advance(1);
      }
      const wanted = asked.map(({ ms, cancelAt }) => (cancelAt !== null && cancelAt < Math.max(ms, 1) ? null : ms));
      expect(rung.map((at, index) => (at !== null && asked[index]!.ms === 0 ? 0 : at))).toEqual(wanted);
    }),
  );
});

test('no timer is armed when no deadline is pending', () => {
  let armed = 0;
  const clock = Object.assign(new VirtualClock(0), {
    after: () => {
      armed += 1;
      return () => (armed -= 1);
    },
  });
  const deadlines = new Deadlines(clock);
  const cancels = [5, 1, 9].map((ms) => deadlines.after(ms, () => {}));
  expect(armed).toBe(1);
  for (const cancel of cancels) cancel();
  expect(armed).toBe(0);
});
