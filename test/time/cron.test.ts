// Cron expressions: what they mean, what is refused and where, and that the next tick always comes soon and later.
import { Cron } from 'croner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextCron, parseCron, type CronRules, type CronSpec } from '../../src/time/cron.ts';
import { refusalOf } from './refusal.ts';
import { sampleSize } from '../support/size.ts';

const utc = Date.UTC;

function ticksOf(text: string, from: number, count: number, zone = 'UTC'): string[] {
  const spec = parseCron(text);
  const seen: string[] = [];
  for (let at = from; seen.length < count;) {
    const tick = nextCron(spec, { zone }, at);
    if (!tick) break;
    at = tick.at;
    seen.push(new Date(at).toISOString().slice(0, 19));
  }
  return seen;
}

describe('an expression', () => {
  const from = utc(2026, 0, 1);
  test.each<[string, string[]]>([
    ['30 2 * * *', ['2026-01-01T02:30:00', '2026-01-02T02:30:00']],
    ['15 30 2 * * *', ['2026-01-01T02:30:15', '2026-01-02T02:30:15']],
    ['*/15 * * * *', ['2026-01-01T00:15:00', '2026-01-01T00:30:00']],
    ['5/15 * * * *', ['2026-01-01T00:05:00', '2026-01-01T00:20:00', '2026-01-01T00:35:00', '2026-01-01T00:50:00']],
    ['0 22-6/4 * * *', ['2026-01-01T02:00:00', '2026-01-01T06:00:00', '2026-01-01T22:00:00']],
    ['0 0 1 NOV-FEB *', ['2026-02-01T00:00:00', '2026-11-01T00:00:00', '2026-12-01T00:00:00', '2027-01-01T00:00:00']],
    ['0 9 * * mon-fri', ['2026-01-01T09:00:00', '2026-01-02T09:00:00', '2026-01-05T09:00:00']],
    ['0 0 * * 5-7', ['2026-01-02T00:00:00', '2026-01-03T00:00:00', '2026-01-04T00:00:00', '2026-01-09T00:00:00']],
    ['0 0 * * SAT-MON', ['2026-01-03T00:00:00', '2026-01-04T00:00:00', '2026-01-05T00:00:00', '2026-01-10T00:00:00']],
    ['0 0 * * 7', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
    ['0 0 29 2 *', ['2028-02-29T00:00:00', '2032-02-29T00:00:00']],
    ['0 0 L * *', ['2026-01-31T00:00:00', '2026-02-28T00:00:00', '2026-03-31T00:00:00', '2026-04-30T00:00:00']],
    ['0 0 15,L * ?', ['2026-01-15T00:00:00', '2026-01-31T00:00:00']],
    ['0 0 ? * FRI#2', ['2026-01-09T00:00:00', '2026-02-13T00:00:00']],
    ['0 0 * * 5L', ['2026-01-30T00:00:00', '2026-02-27T00:00:00']],
    ['0 0 * 7 5L', ['2026-07-31T00:00:00', '2027-07-30T00:00:00']],
    ['0 0 1-31 1,4 *', ['2026-01-02T00:00:00', '2026-01-03T00:00:00']],
    [' 0\t0  1 1 * ', ['2027-01-01T00:00:00']],
    ['@yearly', ['2027-01-01T00:00:00']], ['@annually', ['2027-01-01T00:00:00']], ['@monthly', ['2026-02-01T00:00:00']],
    ['@weekly', ['2026-01-04T00:00:00']], ['@daily', ['2026-01-02T00:00:00']], ['@Midnight', ['2026-01-02T00:00:00']],
    ['@hourly', ['2026-01-01T01:00:00', '2026-01-01T02:00:00']],
  ])('%s means what cron says', (text, expected) => {
    expect(ticksOf(text, from, expected.length)).toEqual(expected);
  });

  test('with day of month and weekday runs when either matches', () => {
    expect(ticksOf('0 0 13 * FRI', from, 4)).toEqual(
      ['2026-01-02T00:00:00', '2026-01-09T00:00:00', '2026-01-13T00:00:00', '2026-01-16T00:00:00']);
  });

  test('with a star in one of them runs when both match, as cron does', () => {
    expect(ticksOf('0 0 */2 * MON', from, 3)).toEqual(
      ['2026-01-05T00:00:00', '2026-01-19T00:00:00', '2026-02-09T00:00:00']);
  });

  test('finds 29 February across a century without one, and on a Sunday across forty years', () => {
    expect(ticksOf('0 0 29 2 *', utc(2096, 2), 1)).toEqual(['2104-02-29T00:00:00']);
    expect(ticksOf('0 0 29 2 */7', utc(2088, 2), 1)).toEqual(['2128-02-29T00:00:00']);
  });

  test('has no tick after the year 9999', () => {
    expect(nextCron(parseCron('0 0 1 1 *'), { zone: 'Asia/Tokyo' }, utc(9999, 5))).toBeNull();
    expect(ticksOf('* * * * * *', utc(9999, 11, 31, 23, 59, 57), 10)).toHaveLength(2);
  });
});

describe('a mistake', () => {
  test.each<[string, number]>([
    ['', 0], ['   ', 0], ['* * * *', 7], ['* * * * * * *', 12], ['60 * * * *', 0], ['* 24 * * *', 2], ['* * 0 * *', 4],
    ['* * 32 * *', 4], ['* * * 13 *', 6], ['* * * 0 *', 6], ['* * * * 8', 8], ['* * * * MONDAY', 8], ['* * * FOO *', 6],
    ['1,,2 * * * *', 2], [',1 * * * *', 0], ['1, * * * *', 2], ['*/0 * * * *', 2], ['*/61 * * * *', 2],
    ['*/90 * * * *', 2],
    ['* */25 * * *', 4], ['1-2-3 * * * *', 2], ['1- * * * *', 2], ['-1 * * * *', 0], ['1/ * * * *', 2],
    ['*/5/5 * * * *', 2],
    ['** * * * *', 0], ['*5 * * * *', 0], ['1.5 * * * *', 0], ['1e1 * * * *', 0], ['007 * * * *', 0], ['? * * * *', 0],
    ['L * * * *', 0], ['* * 25-5 * *', 4], ['* * * * L', 8], ['* * * * 5#6', 10], ['* * * * 5#0', 10],
    ['* * * * #2', 8],
    ['* * * * FRI#', 12], ['* * L-3 * *', 4], ['* * 15W * *', 4], ['@reboot', 0], ['@every 5m', 7], ['@daily x', 7],
    ['\n* * * * *', 0], ['١ * * * *', 0], ['__proto__ * * * *', 0], ['* * * constructor *', 6],
  ])('in %j is refused with its position', (text, position) => {
    const { code, detail, message } = refusalOf(() => parseCron(text));
    expect({ code, ...detail }).toEqual({ code: 'malformed.cron', position, text });
    expect(message).toMatch(/^[A-Z].*\.$/);
  });

  test.each(['0 0 31 4 *', '0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 31 APR ?', '0 0 0 30 2 *', '0 0 */31 4 5#5'])(
    '%s can never fire and is refused', (text) => {
      const { code, detail } = refusalOf(() => parseCron(text));
      expect(code).toBe('impossible.schedule');
      expect(detail['position']).toBe(text.split(' ').length === 6 ? 6 : 4);
    });

  test('of a megabyte is refused with a short account of it', () => {
    for (const text of ['*'.repeat(1 << 20), '1,'.repeat(1 << 19), ' '.repeat(1 << 20), '* '.repeat(1 << 19)]) {
      const { code, detail } = refusalOf(() => parseCron(text));
      expect(code).toBe('malformed.cron');
      expect(String(detail['text'])).toHaveLength(200);
    }
  });

  test.each([null, undefined, 5, {}, ['* * * * *']])('such as %s instead of a text is refused', (value) => {
    expect(refusalOf(() => parseCron(value as string)).code).toBe('malformed.cron');
  });

  test('in the instant is refused', () => {
    const spec = parseCron('* * * * *');
    for (const at of [NaN, Infinity, 1e300]) {
      expect(refusalOf(() => nextCron(spec, { zone: 'UTC' }, at)).code).toBe('malformed.time');
    }
  });
});

/** Values, ranges, steps and lists of a field, in any combination that is well formed. */
function fieldArb(min: number, max: number, size: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const step = fc.integer({ min: 1, max: size });
  const item = fc.oneof(
    value.map(String),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.tuple(value, value, step).map(([a, b, by]) => `${Math.min(a, b)}-${Math.max(a, b)}/${by}`),
    step.map((by) => `*/${by}`),
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join());
  return fc.oneof({ weight: 2, arbitrary: fc.constant('*') }, { weight: 3, arbitrary: list });
}

const expressionArb = fc.tuple(
  fc.oneof(fc.constant(''), fieldArb(0, 59, 60).map((field) => `${field} `)),
  fieldArb(0, 59, 60), fieldArb(0, 23, 24), fieldArb(1, 31, 31), fieldArb(1, 12, 12), fieldArb(0, 6, 7),
).map(([seconds, ...fields]) => seconds + fields.join(' ')).filter((text) => text.length <= 256);
const instantArb = fc.integer({ min: utc(1970, 0), max: utc(2040, 0) });
const zoneArb = fc.constantFrom('UTC', ...Intl.supportedValuesOf('timeZone').filter((_, index) => index % 9 === 0));
const rulesArb: fc.Arbitrary<CronRules> = fc.record({
  zone: zoneArb,
  gap: fc.constantFrom(undefined, 'next' as const, 'shift' as const, 'skip' as const),
  overlap: fc.constantFrom(undefined, 'first' as const, 'last' as const, 'both' as const),
});

/** A spec that counts its reads: a measure of work that does not depend on the speed of the machine. */
function counting(spec: CronSpec): { spec: CronSpec; looks: () => number } {
  let count = 0;
  const get = (target: CronSpec, key: string | symbol): unknown => {
    count += 1;
    return Reflect.get(target, key);
  };
  return { spec: new Proxy(spec, { get }), looks: () => count };
}

/** At less than 0.1 µs a read, five milliseconds allow more than twice this. */
const looksMax = 20_000;

describe('the next tick of any expression', () => {
  test('comes after the given instant, the same each time, within a bound of steps', () => {
    fc.assert(fc.property(expressionArb, rulesArb, instantArb, (text, rules, after) => {
      const spec = tryParse(text);
      if (!spec) return;
      const { spec: counted, looks } = counting(spec);
      const tick = nextCron(counted, rules, after);
      expect(tick).not.toBeNull();
      expect(tick!.at).toBeGreaterThan(after);
      expect(nextCron(spec, rules, after)).toEqual(tick);
      expect(nextCron(spec, rules, tick!.at - 1)).toEqual(tick);
      expect(looks()).toBeLessThan(looksMax);
    }), { seed: 54, numRuns: sampleSize(5000) });
  });

  test('is found within the bound even for the rarest dates', () => {
    for (const text of ['0 0 29 2 */7', '59 59 23 29 2 */7', '0 0 * 2 0#5', '0 0 L 2 1#5', '0 0 29 2 *']) {
      for (const zone of ['UTC', 'Pacific/Apia', 'America/New_York']) {
        const { spec, looks } = counting(parseCron(text));
        expect(nextCron(spec, { zone, gap: 'skip' }, utc(2088, 2))).not.toBeNull();
        expect(looks()).toBeLessThan(looksMax);
      }
    }
  });

  test('is that of croner, in UTC', () => {
    let compared = 0;
    fc.assert(fc.property(expressionArb, instantArb, (text, after) => {
      // croner takes a star with a step for a restriction, where cron does not.
      const [day, , weekday] = text.split(' ').slice(-3);
      const isDisputed = [day!, weekday!].some((field) => field.includes('*') && field !== '*');
      const spec = isDisputed ? null : tryParse(text);
      if (!spec) return;
      const from = Math.floor(after / 1000) * 1000;
      const theirs = new Cron(text, { timezone: 'UTC', paused: true }).nextRuns(3, new Date(from));
      let at = from;
      const ours = theirs.map(() => (at = nextCron(spec, { zone: 'UTC' }, at)!.at));
      expect(ours).toEqual(theirs.map((date) => date.getTime()));
      compared += 1;
    }), { seed: 11, numRuns: sampleSize(1500) });
    expect(compared).toBeGreaterThan(sampleSize(500));
  });
});

test('any text is parsed or refused with a position within it', () => {
  const pieces = [...'0123456789*/,-#?L@ \tWMONFRIJANx'.split(''), ' * ', '*/5', 'MON-FRI', '\0', 'é', '😀'];
  const joined = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((list) => list.join(''));
  const text = fc.oneof(fc.string({ maxLength: 300 }), joined);
  fc.assert(fc.property(text, (given) => {
    try {
      expect(nextCron(parseCron(given), { zone: 'UTC' }, 0)).not.toBeNull();
    } catch {
      const { code, detail } = refusalOf(() => parseCron(given));
      expect(['malformed.cron', 'impossible.schedule']).toContain(code);
      expect(detail['position']).toBeGreaterThanOrEqual(0);
      expect(detail['position']).toBeLessThanOrEqual(given.length);
    }
  }), { seed: 3, numRuns: sampleSize(5000) });
});

/** Null for dates that no year has, which random fields name at times. */
function tryParse(text: string): CronSpec | null {
  try {
    return parseCron(text);
  } catch {
    expect(refusalOf(() => parseCron(text)).code).toBe('impossible.schedule');
    return null;
  }
}
