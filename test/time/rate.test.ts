import { describe, expect, test } from 'vitest';
import { formatRate, parseRate } from '../../src/time/rate.ts';
import { Refusal } from '../../src/refusal.ts';

describe('a rate', () => {
  test.each([
    ['500/1m', 500, 60_000], ['10/s', 10, 1_000], ['1/1h30m', 1, 5_400_000], ['3/250ms', 3, 250],
    ['1000000000/1d', 1_000_000_000, 86_400_000],
  ])('%s is a number per period', (text, count, per) => {
    expect(parseRate(text)).toEqual({ count, per });
    expect(parseRate(formatRate({ count, per }))).toEqual({ count, per });
  });

  test.each([
    ['', 0], ['500', 0], ['/1m', 0], ['-5/1m', 0], ['1.5/1m', 0], ['0/1m', 0], ['1000000001/s', 0], ['500/60', 4],
    ['500/', 0], ['500/x', 4], ['500/1m2h', 4], ['500/0s', 4], ['500/400d', 4], ['500 / 1m', 0],
  ])('%j is refused with the position of the error', (text, position) => {
    const refused = refusalOf(text);
    expect(refused.code).toBe('malformed.rate');
    expect(refused.detail).toMatchObject({ position, text });
  });

  test.each([5, null, undefined, {}])('that is %j is refused', (value) => {
    expect(refusalOf(value as string).code).toBe('malformed.rate');
  });
});

function refusalOf(text: string): Refusal {
  try {
    parseRate(text);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('it was not refused');
}
