// Repeat rules: the examples of the Bedrock documentation, and SQLite itself as the judge of dates.
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRefusal } from '../../src/refusal.ts';
import { formatTimestamp, instantMax, instantMin, parseTimestamp } from '../../src/time/instant.ts';
import { applyModifiers, nextRepeat, parseModifiers, parseRepeat } from '../../src/time/repeat.ts';
import { refusalOf } from './refusal.ts';
import { sampleSize } from '../support/size.ts';

const at = (text: string): number => parseTimestamp(text);

/** Scheduled at 1:00pm, started at 1:15pm, took 30 minutes; 2014-12-29 was a Monday. */
const moments = {
  scheduled: at('2014-12-29 13:00:00'),
  started: at('2014-12-29 13:15:00'),
  finished: at('2014-12-29 13:45:00'),
};

function next(text: string, given = moments): string {
  return formatTimestamp(nextRepeat(parseRepeat(text), given));
}

describe('an example of the documentation', () => {
  test.each([
    ['SCHEDULED, +1 HOUR', '2014-12-29 14:00:00'],
    ['STARTED, +1 HOUR', '2014-12-29 14:15:00'],
    ['FINISHED, +1 HOUR', '2014-12-29 14:45:00'],
    ['FINISHED, +1 DAY, START OF DAY, +4 HOURS', '2014-12-30 04:00:00'],
    ['FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS', '2015-01-05 06:00:00'],
    ['HOURLY', '2014-12-29 14:45:00'],
    ['DAILY', '2014-12-30 13:45:00'],
    ['WEEKLY', '2015-01-05 13:45:00'],
    ['finished, +1 minute', '2014-12-29 13:46:00'],
  ])('%s gives %s', (text, expected) => {
    expect(next(text)).toBe(expected);
  });

  test('SCHEDULED, +1 HOUR catches up one run after the other when hours were missed', () => {
    const now = at('2026-01-01 05:30:00');
    const late = { scheduled: at('2026-01-01 00:00:00'), started: now, finished: now };
    expect(next('SCHEDULED, +1 HOUR', late)).toBe('2026-01-01 01:00:00');
  });

  test('in the sample session repeats a minute after 07:38:51', () => {
    const finished = at('2014-12-29 07:38:51');
    expect(next('finished, +1 minute', { ...moments, finished })).toBe('2014-12-29 07:39:51');
  });
});

describe('the grammar', () => {
  test.each([
    'hourly', 'Daily', 'FINISHED,+1 DAY', 'finished,   +1 day', 'FINISHED, +1 DAY,', ',FINISHED,,+1 DAY',
    'STARTED, -99999999 SECONDS',
    'STARTED, +1 SECOND', 'SCHEDULED, +999 YEARS, -999 YEAR', 'FINISHED, START OF HOUR, +1 HOUR', 'FINISHED, Weekday 6',
    'FINISHED, +001 MONTH', 'FINISHED, +0 DAYS', '  FINISHED, +1 DAY',
  ])('takes %j', (text) => {
    expect(() => parseRepeat(text)).not.toThrow();
  });

  test.each<[string, number]>([
    ['', 0], [',', 0], ['FINISHED', 8], ['FINISHED,', 9], ['FINISHED, ,', 11], ['NEVER, +1 DAY', 0], ['+1 DAY', 0],
    ['FINISHED, + 1 HOUR', 10], ['FINISHED, +1 DAY ,', 10], ['FINISHED, +1 DAY ', 10], ['FINISHED , +1 DAY', 0],
    ['FINISHED, 1 DAY', 10],
    ['FINISHED, +1  DAY', 10], ['FINISHED, +1 FORTNIGHT', 10], ['FINISHED, +1000 DAYS', 11],
    ['FINISHED, +123456789 SECONDS', 10],
    ['FINISHED, +1.5 HOURS', 10], ['FINISHED, WEEKDAY 7', 10], ['FINISHED, WEEKDAY', 10],
    ['FINISHED, START OF WEEK', 10],
    ['FINISHED, +1 DAY, utc', 18], ['FINISHED, +1 DAY, localtime', 18], ['FINISHED, +1 DAY;', 10],
    ['FINISHED, +1 DAY\n', 10],
    [' HOURLY', 1], ['HOURLY, +1 DAY', 0], ['FINISHED, FINISHED', 10], ['FINISHED, +1\tDAY', 10],
    ['FINISHED, \t+1 DAY', 10],
    ['FINISHED, __proto__', 10], ['constructor', 0],
  ])('refuses %j with its position', (text, position) => {
    const { code, detail } = refusalOf(() => parseRepeat(text));
    expect({ code, ...detail }).toEqual({ code: 'malformed.repeat', position, text });
  });

  test('refuses a megabyte with a short account of it, and what is no text', () => {
    for (const text of ['FINISHED, ' + '+1 DAY, '.repeat(1 << 17), ','.repeat(1 << 20), ' '.repeat(1 << 20)]) {
      expect(String(refusalOf(() => parseRepeat(text)).detail['text'])).toHaveLength(200);
      expect(refusalOf(() => parseModifiers(text)).code).toBe('malformed.repeat');
    }
    expect(refusalOf(() => parseRepeat(null as unknown as string)).code).toBe('malformed.repeat');
  });

  test('any text is parsed or refused with a position within it', () => {
    const pieces = ['FINISHED', ',', ' ', '+1 DAY', 'WEEKDAY ', '3', 'START OF ', 'HOUR', 'YEAR', '-', '9', 's', '\n'];
    const joined = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((list) => list.join(''));
    fc.assert(fc.property(joined, (text) => {
      for (const parse of [parseRepeat, parseModifiers]) {
        try {
          parse(text);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          expect(error.detail['position']).toBeLessThanOrEqual(text.length);
        }
      }
    }), { seed: 1, numRuns: sampleSize(3000) });
  });
});

describe('a list of modifiers for retryAfter', () => {
  test('is applied one after the other', () => {
    expect(formatTimestamp(applyModifiers(parseModifiers('+1 day, start of day, +90 SECONDS'), moments.finished)))
      .toBe('2014-12-30 00:01:30');
  });

  test('is empty for the empty text', () => {
    expect(parseModifiers('')).toEqual([]);
    expect(applyModifiers([], moments.finished + 999)).toBe(moments.finished);
  });

  test.each([',', ' ', 'FINISHED, +1 DAY', 'HOURLY', '5 MINUTES', '+5 MINUTES, START OF HOUR'])(
    'refuses %j', (text) => {
      expect(refusalOf(() => parseModifiers(text)).code).toBe('malformed.repeat');
    });
});

describe('START OF HOUR, which SQLite does not have', () => {
  test.each([
    ['FINISHED, START OF HOUR', '2014-12-29 13:00:00'],
    ['FINISHED, +1 HOUR, START OF HOUR', '2014-12-29 14:00:00'],
    ['FINISHED, START OF HOUR, +5 MINUTES', '2014-12-29 13:05:00'],
  ])('%s gives %s', (text, expected) => {
    expect(next(text)).toBe(expected);
  });
});

describe('re-anchoring', () => {
  const late = (finished: string): typeof moments =>
    ({ scheduled: at('2026-01-01 00:05:00'), started: at(finished), finished: at(finished) });
  test.each([
    ['SCHEDULED, +1 HOUR', '2026-01-01 05:30:00', '2026-01-01 06:05:00'],
    ['SCHEDULED, +1 HOUR', '2026-01-01 05:05:00', '2026-01-01 06:05:00'],
    ['SCHEDULED, +1 HOUR', '2026-01-01 01:05:00', '2026-01-01 02:05:00'],
    ['SCHEDULED, +1 HOUR', '2026-01-01 01:04:59', '2026-01-01 01:05:00'],
    ['SCHEDULED, +1 HOUR, -1 MINUTE', '2026-01-01 05:30:00', '2026-01-01 05:59:00'],
    ['SCHEDULED, +14399 SECONDS', '2026-01-01 12:00:00', '2026-01-01 12:04:57'],
    ['SCHEDULED, +4 HOURS', '2026-01-01 12:00:00', '2026-01-01 04:05:00'],
    ['SCHEDULED, +1 HOUR, START OF HOUR', '2026-01-01 12:00:00', '2026-01-01 01:00:00'],
    ['SCHEDULED, +0 SECONDS', '2026-01-01 12:00:00', '2026-01-01 00:05:00'],
    ['SCHEDULED, -1 HOUR', '2026-01-01 12:00:00', '2025-12-31 23:05:00'],
    ['FINISHED, +1 HOUR', '2026-01-01 12:00:00', '2026-01-01 13:00:00'],
  ])('of %s, finished at %s, gives %s', (text, finished, expected) => {
    expect(formatTimestamp(nextRepeat(parseRepeat(text), late(finished), { reanchor: true }))).toBe(expected);
  });
});

describe('SQLite agrees', () => {
  const database = new DatabaseSync(':memory:');
  const statements = [1, 2, 3, 4, 5, 6].map((count) =>
    database.prepare(`select datetime(?${', ?'.repeat(count)}) as result`));

  const sqlite = (base: number, modifiers: string[]): string | null => {
    const row = statements[modifiers.length - 1]!.get(formatTimestamp(base), ...modifiers) as { result: string | null };
    // Before the year 0000 it answers with a negative year, which no column of ours can hold.
    return row.result?.startsWith('-') ? null : row.result;
  };
  const ours = (base: number, modifiers: string[]): string | null => {
    const parsed = parseModifiers(modifiers.join(', '));
    try {
      return formatTimestamp(applyModifiers(parsed, base));
    } catch (error) {
      if (isRefusal(error) && error.code === 'impossible.schedule') return null;
      throw error;
    }
  };

  const unit = fc.constantFrom('SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'months', 'Years', 'days');
  const sum = (max: number, units: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max }), units).map(([sign, n, of]) => `${sign}${n} ${of}`);
  const modifier = fc.oneof(
    { weight: 5, arbitrary: sum(999, unit) },
    { weight: 2, arbitrary: sum(36, unit) },
    { weight: 1, arbitrary: sum(99_999_999, fc.constant('SECONDS')) },
    { weight: 2, arbitrary: fc.constantFrom('START OF DAY', 'START OF MONTH', 'start of year') },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 6 }).map((day) => `WEEKDAY ${day}`) },
  );
  const modifiers = fc.array(modifier, { minLength: 1, maxLength: 6 });
  const thisCentury = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2100, 0) });
  const ends = fc.oneof(
    fc.integer({ min: instantMin, max: instantMin + 40 * 31_557_600_000 }),
    fc.integer({ min: instantMax - 40 * 31_557_600_000, max: instantMax }),
  );
  const monthEnds = fc
    .tuple(fc.integer({ min: 1900, max: 2120 }), fc.integer({ min: 0, max: 11 }), fc.integer({ min: 28, max: 31 }))
    .map(([year, month, day]) => Date.UTC(year, month, day, 23, 59, 59));

  test.each([
    ['this century', thisCentury, 12_000],
    ['the ends of months', monthEnds, 8000],
    ['ten thousand years', fc.integer({ min: instantMin, max: instantMax }), 6000],
    ['the ends of the calendar', ends, 6000],
  ] as const)('on random modifiers of random instants in %s', (_, base, numRuns) => {
    fc.assert(fc.property(base, modifiers, (instant, list) => {
      const told = `${formatTimestamp(instant)}, ${list.join(', ')} = `;
      expect(told + ours(instant, list)).toBe(told + sqlite(instant, list));
    }), { seed: 2, numRuns: sampleSize(numRuns) });
  });

  test('that 31 January and a month is 3 March, or 2 March in a leap year', () => {
    const bases = [at('2026-01-31'), at('2024-01-31')];
    const results = ['2026-03-03 00:00:00', '2024-03-02 00:00:00'];
    expect(bases.map((base) => ours(base, ['+1 MONTH']))).toEqual(results);
    expect(bases.map((base) => sqlite(base, ['+1 MONTH']))).toEqual(results);
  });

  test('that a result outside the calendar is none', () => {
    expect(ours(at('9999-12-31'), ['+1 DAY'])).toBeNull();
    expect(sqlite(at('9999-12-31'), ['+1 DAY'])).toBeNull();
    expect(ours(at('0000-01-01'), ['-1 DAY'])).toBeNull();
    expect(ours(at('9999-12-31'), ['+1 DAY', '-1 DAY'])).toBe('9999-12-31 00:00:00');
  });
});

test('instants are cut to whole seconds, before 1970 too', () => {
  expect(applyModifiers(parseModifiers('+1 SECOND'), 1999)).toBe(2000);
  expect(applyModifiers(parseModifiers('+1 SECOND'), -1)).toBe(0);
  expect(refusalOf(() => applyModifiers([], NaN)).code).toBe('malformed.time');
});
