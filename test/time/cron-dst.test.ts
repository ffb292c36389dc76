// Daylight saving: every change of clocks in many zones × specifications × policies, against the oracle.
import { describe, expect, test } from 'vitest';
import { nextCron, parseCron, type CronSpec } from '../../src/time/cron.ts';
import { bySize } from '../support/size.ts';
import {
  changesOf, expectedTicks, matchesIn, windowOf, type OraclePolicies, type OracleSpec, type OracleTick,
} from './dst-oracle.ts';

const hourMs = 3_600_000;
const utc = Date.UTC;

/** Years with the changes that make the zone interesting. */
const zones: Array<[zone: string, from: number, to: number, why: string]> = [
  ['UTC', 2020, 2021, 'never changes'],
  ['Asia/Kolkata', 2020, 2021, 'half an hour, never changes'],
  ['Europe/Berlin', 2020, 2030, 'the common case'],
  ['Europe/London', 2020, 2030, 'changes at 01:00'],
  ['Europe/Dublin', 2024, 2026, 'summer is its standard time'],
  ['America/New_York', 2020, 2030, 'changes at 02:00 local time'],
  ['America/St_Johns', 2006, 2012, 'changed at 00:01, and has half an hour'],
  ['America/Havana', 2020, 2024, 'changes at midnight and 01:00'],
  ['America/Sao_Paulo', 2012, 2020, 'gap at midnight'],
  ['Africa/Casablanca', 2020, 2030, 'goes back for Ramadan'],
  ['Africa/Cairo', 2023, 2027, 'gap at midnight, by Thursdays and Fridays'],
  ['Asia/Beirut', 2020, 2024, 'overlap at midnight'],
  ['Australia/Lord_Howe', 2020, 2030, 'changes by half an hour'],
  ['Pacific/Chatham', 2020, 2030, 'changes at 02:45'],
  ['Pacific/Apia', 2010, 2013, 'left out 30 December 2011'],
  ['Pacific/Kiritimati', 1994, 1996, 'left out a day with the year'],
  ['Pacific/Kwajalein', 1993, 1994, 'left out a day in August 1993'],
  ['Antarctica/Troll', 2020, 2024, 'changes by two hours'],
];

const policies: OraclePolicies[] = [
  {}, { gap: 'next', overlap: 'first' }, { gap: 'shift', overlap: 'last' }, { gap: 'skip', overlap: 'both' },
];

const specs: OracleSpec[] = [
  ...[0, 1, 2, 3, 23].flatMap((hour) => [0, 1, 15, 30, 45].map((minute) => fixed([minute], [hour]))),
  fixed([30], [12]), fixed([0], [0, 12]), fixed([0, 30], [2]), fixed([0], [1, 2, 3]), fixed([15, 45], [0, 1, 2]),
  fixed([59], [1, 2]), fixed([0], [2, 3]), fixed([30], [2, 3]), fixed([10, 20, 50], [0, 3]), fixed([29, 31], [1, 2]),
  everyMinuteOf([2]), everyMinuteOf([0, 1]),
  onDays('30 2 * * 0', 30, 2, ({ weekday }) => weekday === 0),
  onDays('30 2 * * 1-5', 30, 2, ({ weekday }) => weekday >= 1 && weekday <= 5),
  onDays('0 0 1 * *', 0, 0, ({ day }) => day === 1),
  onDays('0 0 31 12 *', 0, 0, ({ day, month }) => day === 31 && month === 12),
  onDays('30 0 30 12 *', 30, 0, ({ day, month }) => day === 30 && month === 12),
  onDays('30 2 25-31 3 0', 30, 2, ({ day, month, weekday }) => month === 3 && (day >= 25 || weekday === 0)),
  onDays('30 2 * 3,10,11 SUN', 30, 2, ({ month, weekday }) => [3, 10, 11].includes(month) && weekday === 0),
  rhythm('*/30 * * * *', ({ minute }) => minute % 30 === 0),
  rhythm('*/15 * * * *', ({ minute }) => minute % 15 === 0),
  rhythm('0 * * * *', ({ minute }) => minute === 0),
  rhythm('15 * * * *', ({ minute }) => minute === 15),
  rhythm('45 0-23 * * *', ({ minute }) => minute === 45),
  rhythm('0 */2 * * *', ({ minute, hour }) => minute === 0 && hour % 2 === 0),
  rhythm('30 */3 * * *', ({ minute, hour }) => minute === 30 && hour % 3 === 0),
  rhythm('5 1/2 * * *', ({ minute, hour }) => minute === 5 && hour % 2 === 1),
  rhythm('20 1-5/2 * * *', ({ minute, hour }) => minute === 20 && [1, 3, 5].includes(hour)),
  rhythm('7,37 * * * 0', ({ minute, weekday }) => minute % 30 === 7 && weekday === 0),
  rhythm('0 */6 1,15 * *', ({ minute, hour, day }) => minute === 0 && hour % 6 === 0 && [1, 15].includes(day)),
  rhythm('*/20 22-2/1 * * *', ({ minute, hour }) => minute % 20 === 0 && (hour >= 22 || hour <= 2)),
];

test('there are enough specifications', () => {
  expect(specs.length).toBeGreaterThanOrEqual(50);
});

/** Every tenth of them in npm test, all in the proof. */
const specsOfRun = specs.filter((_, index) => index % bySize({ small: 10, ci: 1 }) === 0);

/** Each year has two changes: of every third year in npm test both, in the proof all. */
const isOfRun = (_: unknown, index: number): boolean => Math.floor(index / 2) % bySize({ small: 3, ci: 1 }) === 0;

describe('every change of clocks, under every policy', () => {
  test.each(zones)('in %s, %d to %d: %s', (zone, from, to) => {
    const changes = changesOf(zone, utc(from, 0), utc(to, 0));
    const middles = (changes.length > 0 ? changes : [utc(from, 2, 29, 1), utc(from, 9, 25, 1)]).filter(isOfRun);
    const differences: unknown[] = [];
    for (const middle of middles) {
      // Two days after, since a day that is left out can be shifted by a day.
      const window = windowOf(zone, middle - 26 * hourMs, middle + 50 * hourMs);
      for (const spec of specsOfRun) {
        const found = matchesIn(window, spec);
        const parsed = parseCron(spec.text);
        for (const policy of policies) {
          const expected = expectedTicks(found, spec, policy);
          const actual = actualTicks(parsed, zone, policy, window.from, window.to);
          if (told(expected) !== told(actual)) {
            differences.push({ zone, text: spec.text, ...policy, expected: told(expected), actual: told(actual) });
          }
        }
      }
    }
    expect(differences.slice(0, 3)).toEqual([]);
  });

  test('the zones have the changes they are chosen for', () => {
    const count = (zone: string): number => {
      const [, from, to] = zones.find(([name]) => name === zone)!;
      return changesOf(zone, utc(from, 0), utc(to, 0)).length;
    };
    expect(count('Europe/Berlin')).toBe(20);
    expect(count('Pacific/Kiritimati')).toBe(1);
    expect(count('Asia/Kolkata')).toBe(0);
    expect(count('Africa/Casablanca')).toBeGreaterThan(10);
  });
});

describe('the examples of the promise', () => {
  const berlin = (text: string, policy: OraclePolicies, from: number, count: number): string[] => {
    const spec = parseCron(text);
    const seen: string[] = [];
    for (let at = from; seen.length < count;) {
      const tick = nextCron(spec, { zone: 'Europe/Berlin', ...policy }, at)!;
      at = tick.at;
      const notes = [tick.note, tick.skipped && 'skipped'].filter(Boolean);
      seen.push([new Date(at).toISOString().slice(5, 16), ...notes].join(' '));
    }
    return seen;
  };
  const march = utc(2026, 2, 29);
  const october = utc(2026, 9, 24, 22);

  test('02:30 in the gap runs at 03:00, at 03:30 when shifted, and leaves a skip when skipped', () => {
    expect(berlin('30 2 * * *', {}, march, 2)).toEqual(['03-29T01:00 gap', '03-30T00:30']);
    expect(berlin('30 2 * * *', { gap: 'shift' }, march, 2)).toEqual(['03-29T01:30 gap', '03-30T00:30']);
    expect(berlin('30 2 * * *', { gap: 'skip' }, march, 2)).toEqual(['03-29T00:59 gap skipped', '03-30T00:30']);
  });

  test('02:30 in the overlap runs first, last or both', () => {
    expect(berlin('30 2 * * *', {}, october, 2)).toEqual(['10-25T00:30 overlap', '10-26T01:30']);
    expect(berlin('30 2 * * *', { overlap: 'last' }, october, 2)).toEqual(['10-25T01:30 overlap', '10-26T01:30']);
    expect(berlin('30 2 * * *', { overlap: 'both' }, october, 3)).toEqual(
      ['10-25T00:30 overlap', '10-25T01:30 overlap', '10-26T01:30']);
  });

  test('a repeating interval continues in real time through both hours and has no tick in the gap', () => {
    expect(berlin('*/30 * * * *', {}, october + 2 * hourMs - 1, 5)).toEqual([
      '10-25T00:00 overlap', '10-25T00:30 overlap', '10-25T01:00 overlap', '10-25T01:30 overlap', '10-25T02:00',
    ]);
    expect(berlin('*/30 * * * *', {}, march + 30 * 60_000, 2)).toEqual(['03-29T01:00', '03-29T01:30']);
  });

  test('every second runs on after clocks go back (croner #343)', () => {
    const spec = parseCron('* * * * * *');
    for (let at = utc(2026, 9, 25, 0, 59, 30); at < utc(2026, 9, 25, 1, 1); at += 1000) {
      expect(nextCron(spec, { zone: 'Europe/Berlin' }, at)!.at).toBe(at + 1000);
    }
  });

  test('seconds are preserved in gap and overlap', () => {
    expect(berlin('59 59 2 * * *', { overlap: 'both' }, october, 2)).toEqual(
      ['10-25T00:59 overlap', '10-25T01:59 overlap']);
    const tick = nextCron(parseCron('7 30 2 * * *'), { zone: 'Europe/Berlin', gap: 'shift' }, march)!;
    expect(tick).toEqual({ at: march + 90 * 60_000 + 7000, wall: march + 150 * 60_000 + 7000, note: 'gap' });
  });
});

function actualTicks(spec: CronSpec, zone: string, policy: OraclePolicies, from: number, to: number): OracleTick[] {
  const ticks: OracleTick[] = [];
  let tick = nextCron(spec, { zone, ...policy }, from - 1);
  while (tick && tick.at < to) {
    if (tick.at <= (ticks.at(-1)?.at ?? -Infinity)) throw new Error(`${spec.text} stands still in ${zone}`);
    ticks.push({ at: tick.at, skipped: tick.skipped ?? false });
    tick = nextCron(spec, { zone, ...policy }, tick.at);
  }
  return ticks;
}

function told(ticks: OracleTick[]): string {
  return ticks.map(({ at, skipped }) => `${at}${skipped ? ' skipped' : ''}`).join();
}

function fixed(minutes: number[], hours: number[]): OracleSpec {
  return {
    text: `${minutes.join()} ${hours.join()} * * *`,
    isRhythm: false,
    matches: ({ minute, hour }) => minutes.includes(minute) && hours.includes(hour),
  };
}

function everyMinuteOf(hours: number[]): OracleSpec {
  return { text: `* ${hours.join()} * * *`, isRhythm: false, matches: ({ hour }) => hours.includes(hour) };
}

function onDays(text: string, minute: number, hour: number, isDay: OracleSpec['matches']): OracleSpec {
  return { text, isRhythm: false, matches: (clock) => clock.minute === minute && clock.hour === hour && isDay(clock) };
}

function rhythm(text: string, matches: OracleSpec['matches']): OracleSpec {
  return { text, isRhythm: true, matches };
}
