// Zones: offsets and wall times, compared with Intl read directly.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkZone, instantsOf, offsetAt, stretchAt, tzdataVersion, wallOf,
} from '../../src/time/zone.ts';
import { bySize } from '../support/size.ts';
import { refusalOf } from './refusal.ts';

const utc = Date.UTC;

describe('a wall time', () => {
  test.each<[string, string, number, number[]]>([
    ['is shown once on a normal day', 'Europe/Berlin', utc(2026, 5, 1, 2, 30), [utc(2026, 5, 1, 0, 30)]],
    ['is shown never in the gap', 'Europe/Berlin', utc(2026, 2, 29, 2, 30), []],
    ['is shown at the end of the gap', 'Europe/Berlin', utc(2026, 2, 29, 3), [utc(2026, 2, 29, 1)]],
    ['is shown twice in the overlap', 'Europe/Berlin', utc(2026, 9, 25, 2, 30),
      [utc(2026, 9, 25, 0, 30), utc(2026, 9, 25, 1, 30)]],
    ['is shown once at the end of the overlap', 'Europe/Berlin', utc(2026, 9, 25, 3), [utc(2026, 9, 25, 2)]],
    ['is lost with half an hour', 'Australia/Lord_Howe', utc(2026, 9, 4, 2, 15), []],
    ['comes back with half an hour', 'Australia/Lord_Howe', utc(2026, 3, 5, 1, 45),
      [utc(2026, 3, 4, 14, 45), utc(2026, 3, 4, 15, 15)]],
    ['is lost with a whole day at the date line', 'Pacific/Apia', utc(2011, 11, 30, 12), []],
    ['is lost at midnight', 'America/Sao_Paulo', utc(2018, 10, 4, 0, 30), []],
  ])('%s (%s)', (_, zone, wall, instants) => {
    expect(instantsOf(zone, wall)).toEqual(instants);
  });
});

test('the offset of every zone equals that of Intl, at random instants from 1850 to 2100', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC');
  const instant = fc.integer({ min: utc(1850, 0) / 1000, max: utc(2100, 0) / 1000 }).map((second) => second * 1000);
  fc.assert(fc.property(zone, instant, (name, at) => {
    const offset = offsetFromIntl(name, at);
    expect(offsetAt(name, at)).toBe(offset);
    expect(instantsOf(name, wallOf(name, at))).toContain(at);
  }), { seed: 1, numRuns: bySize({ small: 500, ci: 5_000 }) });
});

test('a stretch ends where the offset changes, in many zones and each year from 1970 to 2040', () => {
  for (const zone of Intl.supportedValuesOf('timeZone').filter((_, index) => index % bySize({ small: 40, ci: 5 }) === 0)) {
    let { to, offset, after } = stretchAt(zone, utc(1970, 0));
    for (let steps = 0; to < utc(2040, 0); steps += 1) {
      expect([offsetFromIntl(zone, to - 1000), offsetFromIntl(zone, to)]).toEqual([offset, after]);
      ({ to, offset, after } = stretchAt(zone, to));
      expect(steps).toBeLessThan(500);
    }
  }
});

test.each([
  ['America/Recife', utc(2000, 9, 1), utc(2000, 10, 1)],
  ['Asia/Gaza', utc(2040, 9, 1), utc(2040, 10, 15)],
  ['Africa/Tunis', utc(1943, 3, 1), utc(1943, 4, 15)],
])('changes of %s within a week of each other are both seen', (zone, from, to) => {
  const offsets = new Set<number>();
  for (let at = from; at < to; at += 3_600_000) {
    offsets.add(offsetAt(zone, at));
    expect(offsetAt(zone, at)).toBe(offsetFromIntl(zone, at));
  }
  expect(offsets.size).toBeGreaterThan(1);
});

test.each(['', 'Nowhere', 'Europe', 'Europe/Atlantis', '+01:00', 'UTC+1', 'x'.repeat(65), 5, null, undefined, 'UTC '])(
  '%j is refused as a zone', (zone) => {
    expect(refusalOf(() => checkZone(zone)).code).toBe('malformed.zone');
  });

test.each(['UTC', 'Europe/Berlin', 'europe/berlin', 'Asia/Kolkata', 'Asia/Calcutta', 'Etc/GMT-1'])(
  '%s is a zone', (zone) => {
    expect(checkZone(zone)).toBe(zone);
  });

test('the version of the zone data is known', () => {
  expect(tzdataVersion).toMatch(/^20\d\d[a-z]/);
});

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetFromIntl(zone: string, at: number): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(zone, format);
  }
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value;
  const found = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(name)!;
  const size = (Number(found[2] ?? 0) * 3600 + Number(found[3] ?? 0) * 60 + Number(found[4] ?? 0)) * 1000;
  return found[1] === '-' ? -size : size;
}
