// Which parts of the proof run at a time.
import { expect, test } from 'vitest';
import { setImmediate as turn } from 'node:timers/promises';
import type { Part } from './part.ts';
import { runParts, secondsOf } from './run-parts.ts';

type Beside = Pick<Part, 'runsBeside' | 'runsBehind'>;

const part = (name: string, cpuSeconds: Part['cpuSeconds'], beside: Beside = {}): Part =>
  ({ name, cpuSeconds, ...beside, run: async () => ({ figures: {}, findings: [] }) });

const parts = [
  part('short', 1, { runsBeside: true }), part('alone', 9), part('long', 5, { runsBeside: true }),
  part('behind', { ci: 10, full: 20 }, { runsBehind: true }), part('alone, too', 7), part('middle', 3, { runsBeside: true }),
  part('last', 2, { runsBehind: true }),
];

test('after the parts that run alone, two run at a time, the longest first, and one more behind them', async () => {
  const running = new Set<string>();
  const seen: string[] = [];
  await runParts(parts, async ({ name }) => {
    running.add(name);
    seen.push([...running].join(' + '));
    await turn();
    running.delete(name);
  });
  expect(seen).toEqual([
    'alone', 'alone, too', 'long', 'long + middle', 'long + middle + behind',
    'middle + behind + short', 'short + last',
  ]);
});

test('the time left is what the parts compute on two cores, in the size of the proof', () => {
  expect(secondsOf(parts, 'ci', () => 0)).toBe((1 + 9 + 5 + 10 + 7 + 3 + 2) / 2);
  expect(secondsOf(parts, 'full', () => 0)).toBe((1 + 9 + 5 + 20 + 7 + 3 + 2) / 2);
  expect(secondsOf(parts, 'ci', ({ name }) => (name === 'alone' ? 1 : 0.5))).toBe((1 + 5 + 10 + 7 + 3 + 2) / 4);
});
