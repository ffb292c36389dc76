// Instants: how they are read and written, and what is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { civilOf, daysInMonth, daysOf, weekdayOf } from '../../src/time/civil.ts';
import {
  checkInstant, formatTimestamp, instantMax, instantMin, parseInstant, parseTimestamp,
} from '../../src/time/instant.ts';
import { refusalOf } from './refusal.ts';
import { sampleSize } from '../support/size.ts';

test('the calendar agrees with that of the language on every tenth day of ten thousand years', () => {
  for (let days = Math.ceil(instantMin / 86_400_000); days * 86_400_000 <= instantMax; days += 10) {
    const date = new Date(days * 86_400_000);
    const { year, month, day } = civilOf(days);
    const ours = [year, month, day, weekdayOf(days), daysOf(year, month, day)];
    const theirs = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay(), days];
    if (ours.join() !== theirs.join()) expect(ours).toEqual(theirs);
  }
  expect([1900, 2000, 2023, 2024].map((year) => daysInMonth(year, 2))).toEqual([28, 29, 28, 29]);
});

describe('an ISO time', () => {
  test.each([
    ['2026-03-29T02:30:00Z', Date.UTC(2026, 2, 29, 2, 30)],
    ['2026-03-29T02:30Z', Date.UTC(2026, 2, 29, 2, 30)],
    ['2026-03-29T02:30:00.25Z', Date.UTC(2026, 2, 29, 2, 30, 0, 250)],
    ['2026-03-29T02:30:00.123456789Z', Date.UTC(2026, 2, 29, 2, 30, 0, 123)],
    ['2026-03-29T02:30:00+02:00', Date.UTC(2026, 2, 29, 0, 30)],
    ['2026-03-29 02:30:00-03:30', Date.UTC(2026, 2, 29, 6)],
    ['2024-02-29T00:00:00z', Date.UTC(2024, 1, 29)],
  ])('%s is read', (text, instant) => {
    expect(parseInstant(text)).toBe(instant);
  });

  test.each([
    '', 'tomorrow', '2026-03-29', '2026-03-29T02:30:00', '2026-13-01T00:00:00Z', '2026-02-29T00:00:00Z',
    '2026-04-31T00:00Z',
    '2026-01-00T00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+24:00',
    '12026-01-01T00:00:00Z', '2026-1-1T00:00:00Z', ' 2026-01-01T00:00:00Z', '0000-01-01T00:00:00+23:00',
  ])('%j is refused', (text) => {
    expect(refusalOf(() => parseInstant(text)).code).toBe('malformed.time');
  });
});

describe('a timestamp of the Bedrock protocol', () => {
  test.each([
    ['2014-12-29 07:38:51', Date.UTC(2014, 11, 29, 7, 38, 51)],
    ['2014-12-29', Date.UTC(2014, 11, 29)],
    ['2014-12-29 07:38:51.042', Date.UTC(2014, 11, 29, 7, 38, 51, 42)],
    ['0000-01-01 00:00:00', instantMin],
  ])('%s is read', (text, instant) => {
    expect(parseTimestamp(text)).toBe(instant);
  });

  test.each([
    '', 'garbage', '2014-12-29 ', '2014-12-29 07:38', '2014-12-29T07:38:51', '2014-12-29 07:38:51Z', '2014-02-30',
    '2014-12-29 25:00:00', '2014-12-29 07:38:51.4',
  ])('%j is refused', (text) => {
    expect(refusalOf(() => parseTimestamp(text)).code).toBe('malformed.time');
  });

  test('reads back as it was written, to the second', () => {
    fc.assert(fc.property(fc.integer({ min: instantMin, max: instantMax }), (instant) => {
      expect(parseTimestamp(formatTimestamp(instant))).toBe(Math.floor(instant / 1000) * 1000);
    }), { seed: 1, numRuns: sampleSize(2000) });
  });
});

test.each([NaN, Infinity, instantMin - 1, instantMax + 1, '0', null, undefined, 0n, new Date(0)])(
  'the instant %s is refused', (value) => {
    expect(refusalOf(() => checkInstant(value)).code).toBe('malformed.time');
  });
