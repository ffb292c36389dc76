// Which parts of the proof run at a time.
import { expect, test } from 'vitest';
import { setImmediate as turn } from 'node:timers/promises';
import type { Part } from './part.ts';
import { runParts, secondsOf } from './run-parts.ts';

const part = (name: string, seconds: number, beside: Pick<Part, 'runsBeside'> = {}): Part =>
  ({ name, seconds, ...beside, run: async () => ({ figures: {}, findings: [] }) });

const parts = [
  part('short', 1, { runsBeside: true }), part('one core', 9), part('long', 5, { runsBeside: true }), part('both cores', 7),
  part('middle', 3, { runsBeside: true }),
];

test('parts that run beside others run two at a time, after all others and the longest first', async () => {
  const running = new Set<string>();
  const seen: string[] = [];
  await runParts(parts, async ({ name }) => {
    running.add(name);
    seen.push([...running].join(' + '));
    await turn();
    running.delete(name);
  });
  expect(seen).toEqual(['one core', 'both cores', 'long', 'long + middle', 'middle + short']);
});

test('the time left counts half of the parts that run two at a time', () => {
  expect(secondsOf(parts, () => 0)).toBe(16 + 4.5);
  expect(secondsOf(parts, ({ name }) => (name === 'one core' ? 1 : 0))).toBe(7 + 4.5);
});
