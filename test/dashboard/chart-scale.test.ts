// The value axes of the dashboard's charts.
import { expect, test } from 'vitest';
import { countTicks, durationRange, durationTicks } from '../../dashboard/src/components/chart-scale.ts';
import { compact, duration } from '../../dashboard/src/format.ts';

test('every tick of a count axis is a different whole number', () => {
  for (const max of [0, 0.5, 1, 1.08, 2, 3, 7, 12, 99, 1_000, 54_321]) {
    const labels = countTicks(max).map(compact);
    expect(new Set(labels).size, String(max)).toBe(labels.length);
    expect(countTicks(max).every(Number.isInteger), String(max)).toBe(true);
    expect(labels.length, String(max)).toBeLessThanOrEqual(6);
  }
  expect(countTicks(1.08)).toEqual([0, 1]);
  expect(countTicks(12)).toEqual([0, 5, 10]);
});

test('every tick of a duration axis is one round unit of time', () => {
  for (const max of [1, 80, 999, 20_000, 100_000, 4_000_000, 400_000_000]) {
    const [low, high] = durationRange(1, max);
    for (const tick of durationTicks(low, high)) expect(duration(tick)).toMatch(/^1(0|00)? (ms|s|min|h|d)$/);
  }
});

test('a duration axis encloses its values and has at least two ticks', () => {
  for (const [min, max] of [[1, 1], [40, 40], [3, 20_000], [60_000, 90_000], [0, 0]] as const) {
    const [low, high] = durationRange(min, max);
    expect(low).toBeLessThanOrEqual(Math.max(1, min));
    expect(high).toBeGreaterThanOrEqual(max);
    expect(durationTicks(low, high).length).toBeGreaterThanOrEqual(2);
  }
  expect(durationRange(null, null)).toEqual([1, 1_000]);
});

test('on a duration axis a median of 40 ms stays visible beside a 99th percentile of 20 s', () => {
  const [low, high] = durationRange(40, 20_000);
  const height = (ms: number): number => Math.log(ms / low) / Math.log(high / low);
  expect(height(40)).toBeGreaterThan(0.1);
});
