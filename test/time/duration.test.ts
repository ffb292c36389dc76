// Durations: what they mean, what is refused, and that writing and reading agree.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationMax, durationMs, formatDuration, type Duration } from '../../src/time/duration.ts';
import { refusalOf } from './refusal.ts';
import { sampleSize } from '../support/size.ts';

describe('a duration', () => {
  test.each<[Duration | `${number}` | number, number]>([
    ['30s', 30_000], ['5m', 300_000], ['1h', 3_600_000], ['1h30m', 5_400_000], ['2d', 172_800_000],
    ['1w', 604_800_000], ['250ms', 250], ['1s500ms', 1500], ['0s', 0], ['1.5h', 5_400_000], ['1.1h', 3_960_000],
    ['1500', 1500], [1500, 1500], [0, 0], [durationMax, durationMax],
  ])('%s is %d ms', (value, ms) => {
    expect(durationMs(value)).toBe(ms);
  });

  test.each<[string, number]>([
    ['', 0], ['abc', 0], ['5x', 0], ['5 m', 0], ['-5s', 0], ['+5s', 0], ['1h30', 2], ['1h 30m', 2], ['30m1h', 3],
    ['1h1h', 2], ['1e3s', 0], ['1.s', 0], ['.5s', 0], ['0.0001s', 0], ['101w1000000d', 0], ['36526d', 0], ['1H', 0],
    ['Infinity', 0], ['NaN', 0], ['١s', 0], ['999999999999999w', 0],
  ])('%j is refused with the position of the error', (text, position) => {
    const { code, detail } = refusalOf(() => durationMs(text as Duration));
    expect({ code, ...detail }).toEqual({ code: 'malformed.duration', position, text });
  });

  test.each([NaN, Infinity, -Infinity, -1, 0.5, durationMax + 1, Number.MAX_VALUE])('%d ms is refused', (ms) => {
    expect(refusalOf(() => durationMs(ms)).code).toBe('malformed.duration');
    expect(refusalOf(() => formatDuration(ms)).code).toBe('malformed.duration');
  });

  test.each([null, undefined, {}, [], true, 5n])('that is no text is refused', (value) => {
    expect(refusalOf(() => durationMs(value as Duration)).code).toBe('malformed.duration');
  });

  test('of a megabyte is refused with a short account of it', () => {
    const { detail } = refusalOf(() => durationMs('1'.repeat(1 << 20) as Duration));
    expect(String(detail['text'])).toHaveLength(200);
  });

  test.each([[0, '0s'], [250, '250ms'], [5_400_000, '1h30m'], [691_200_000, '8d'], [1_209_600_000, '2w']])(
    '%d ms is written %s', (ms, text) => {
      expect(formatDuration(ms)).toBe(text);
    });

  test('reads back as it was written', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: durationMax }), (ms) => {
      expect(durationMs(formatDuration(ms) as Duration)).toBe(ms);
    }), { seed: 1, numRuns: sampleSize(2000) });
  });
});
