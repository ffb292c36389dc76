// Ticks: what comes next, and what becomes of every tick after an outage of any length.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, cron, every, repeat, type Schedule } from '../../src/time/schedule.ts';
import { walkMax } from '../../src/time/series.ts';
import { spreadOf } from '../../src/time/spread.ts';
import {
  dueTicks, graceDefaultMs, nextTick, type DueTicks, type Misfire, type TickMoments,
} from '../../src/time/ticks.ts';
import { bySize } from '../support/size.ts';
import { refusalOf } from './refusal.ts';

const utc = Date.UTC;
const start = utc(2026, 0, 1);
const [secondMs, minuteMs, hourMs, dayMs] = [1000, 60_000, 3_600_000, 86_400_000] as const;
const fresh: TickMoments = { activated: start, after: start };

function nominalOf(schedule: Schedule, moments: Partial<TickMoments>): number | 'waiting' | null {
  const next = nextTick(schedule, { ...fresh, ...moments }, 'def');
  return typeof next === 'object' && next !== null ? next.nominal : next;
}

describe('the next tick', () => {
  test('of an interval keeps the rhythm of its activation', () => {
    expect(nominalOf(every('15m'), {})).toBe(start + 15 * minuteMs);
    expect(nominalOf(every('15m'), { after: start + 50 * minuteMs })).toBe(start + 60 * minuteMs);
    expect(nominalOf(every('15m'), { scheduled: start + 15 * minuteMs, after: start + 15 * minuteMs }))
      .toBe(start + 30 * minuteMs);
  });

  test('of an interval from the start or finish of a run waits for it', () => {
    const ran = { scheduled: start + hourMs, after: start + hourMs };
    const [started, finished] = [start + hourMs + 5000, start + hourMs + 9000];
    expect(nominalOf(every('1h', { from: 'started' }), {})).toBe(start + hourMs);
    expect(nominalOf(every('1h', { from: 'started' }), { ...ran, started: null, finished: null })).toBe('waiting');
    expect(nominalOf(every('1h', { from: 'started' }), { ...ran, started, finished: null })).toBe(started + hourMs);
    expect(nominalOf(every('1h', { from: 'finished' }), { ...ran, started, finished: null })).toBe('waiting');
    expect(nominalOf(every('1h', { from: 'finished' }), { ...ran, started, finished })).toBe(finished + hourMs);
  });

  test('does not wait for a run that will not come: its tick was skipped, or it was cancelled before its start', () => {
    const skipped = { scheduled: start + hourMs, after: start + hourMs };
    expect(nominalOf(every('1h', { from: 'finished' }), skipped)).toBe(start + 2 * hourMs);
    expect(nominalOf(every('1h', { from: 'started' }), { ...skipped, started: null, finished: start + hourMs + 1 }))
      .toBe(start + 2 * hourMs + 1);
  });

  test('comes after the activation, whatever ran before it', () => {
    const before = start - 25 * minuteMs;
    const old = { scheduled: before, started: before, finished: before, after: before };
    expect(nominalOf(every('1h'), old)).toBe(start + hourMs);
    expect(nominalOf(every('1h', { from: 'finished' }), old)).toBe(start + hourMs);
    expect(nominalOf(cron('0 * * * *'), old)).toBe(start + hourMs);
    expect(nominalOf(repeat('FINISHED, +1 HOUR'), old)).toBe(start + hourMs);
    expect(nominalOf(at(start - 1), old)).toBeNull();
  });

  test('of a repeat follows its rule and its base', () => {
    const [scheduled, started, finished] = [start + 13 * hourMs, start + 13.25 * hourMs, start + 13.75 * hourMs];
    const ran = { scheduled, started, finished, after: scheduled };
    expect(nominalOf(repeat('SCHEDULED, +1 HOUR'), ran)).toBe(start + 14 * hourMs);
    expect(nominalOf(repeat('STARTED, +1 HOUR'), ran)).toBe(start + 14.25 * hourMs);
    expect(nominalOf(repeat('FINISHED, +1 HOUR'), ran)).toBe(start + 14.75 * hourMs);
    expect(nominalOf(repeat('FINISHED, +1 DAY, START OF DAY, +4 HOURS'), ran)).toBe(start + 28 * hourMs);
    expect(nominalOf(repeat('FINISHED, +1 HOUR'), { ...ran, finished: null })).toBe('waiting');
  });

  test('of a repeat that does not lead on is the next second, and so still comes later', () => {
    const ran = { scheduled: start + 1500, finished: start + 1600, after: start + 1500 };
    expect(nominalOf(repeat('SCHEDULED, START OF DAY'), ran)).toBe(start + 2000);
    expect(nominalOf(repeat('FINISHED, -1 DAY'), ran)).toBe(start + 2000);
  });

  test('of at() comes once', () => {
    expect(nominalOf(at(start + 5), {})).toBe(start + 5);
    expect(nominalOf(at(start + 5), { after: start + 5 })).toBeNull();
  });

  test('beyond the calendar does not exist', () => {
    const end = utc(9999, 11, 31, 23);
    for (const schedule of [every('1d'), cron('@yearly'), repeat('SCHEDULED, +1 MONTH'), repeat('SCHEDULED, +1 DAY')]) {
      expect(nominalOf(schedule, { activated: end, after: end })).toBeNull();
    }
  });

  test('in a gap that is skipped is marked as skipped', () => {
    const [before, gap] = [utc(2026, 2, 28, 12), utc(2026, 2, 29, 1) - 1];
    const schedule = cron('30 2 * * *', { zone: 'Europe/Berlin', gap: 'skip' });
    expect(nextTick(schedule, { activated: before, after: before }, '')).toEqual(
      { nominal: gap, due: gap, wall: utc(2026, 2, 29, 2, 30), note: 'gap', skipped: true });
  });

  test.each([NaN, Infinity, undefined])('refuses the moment %s', (moment) => {
    expect(refusalOf(() => nominalOf(every('1h'), { after: moment as number })).code).toBe('malformed.time');
    expect(refusalOf(() => nominalOf(every('1h'), { activated: moment as number })).code).toBe('malformed.time');
    expect(refusalOf(() => nominalOf(every('1h'), { finished: NaN })).code).toBe('malformed.time');
  });
});

describe('the spread', () => {
  test('delays what is due but not the nominal time, and the same name always by as much', () => {
    const schedule = cron('0 2 * * *', { spread: '10m' });
    const delay = spreadOf('reports.nightly', 10 * minuteMs);
    const first = nextTick(schedule, fresh, 'reports.nightly');
    expect(first).toEqual(nextTick(schedule, fresh, 'reports.nightly'));
    expect(first).toMatchObject({ nominal: start + 2 * hourMs, due: start + 2 * hourMs + delay });
    const next = nextTick(schedule, { ...fresh, after: start + 2 * hourMs }, 'reports.nightly');
    expect(next).toMatchObject({ due: start + 26 * hourMs + delay });
  });

  test('is even over its whole width for similar names', () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let index = 0; index < 10_000; index += 1) {
      const delay = spreadOf(`tenant-${index}.nightly`, 999);
      expect(delay >= 0 && delay <= 999).toBe(true);
      tenths[Math.floor(delay / 100)]! += 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(850);
    expect(spreadOf('x', 0)).toBe(0);
  });

  test('keeps a tick from being due before its delay is over', () => {
    const schedule = every('1h', { spread: '30m' });
    const delay = spreadOf('def', 30 * minuteMs);
    const misfire: Misfire = { policy: 'all', windowMs: dayMs, cap: 10 };
    expect(dueTicks(schedule, fresh, start + hourMs + delay - 1, misfire, 'def').fire).toEqual([]);
    expect(dueTicks(schedule, fresh, start + hourMs + delay, misfire, 'def').fire)
      .toEqual([{ nominal: start + hourMs, due: start + hourMs + delay, lateMs: 0 }]);
  });
});

describe('ticks that are due', () => {
  const skip: Misfire = { policy: 'skip', windowMs: dayMs, cap: 100 };
  const once: Misfire = { policy: 'once', windowMs: dayMs, cap: 100 };
  const all: Misfire = { policy: 'all', windowMs: dayMs, cap: 100 };
  const nominals = ({ fire }: DueTicks): number[] => fire.map(({ nominal }) => nominal);

  test('are none before their time', () => {
    for (const misfire of [skip, once, all]) {
      expect(dueTicks(every('1h'), fresh, start + hourMs - 1, misfire, 'def')).toEqual({
        fire: [], skips: [], next: { nominal: start + hourMs, due: start + hourMs }, after: start,
      });
    }
  });

  test('and on time run under every policy, up to the grace of a minute', () => {
    for (const misfire of [skip, once, all]) {
      for (const lateMs of [0, 1, graceDefaultMs]) {
        expect(dueTicks(every('1h'), fresh, start + hourMs + lateMs, misfire, 'def')).toEqual({
          fire: [{ nominal: start + hourMs, due: start + hourMs, lateMs }],
          skips: [],
          next: { nominal: start + 2 * hourMs, due: start + 2 * hourMs },
          after: start + hourMs,
        });
      }
    }
  });

  test('and late are skipped, run once, or all run, as the policy says', () => {
    const now = start + 3.5 * hourMs;
    const range = { from: start + hourMs, counted: true, reason: 'misfire' };
    expect(dueTicks(every('1h'), fresh, now, skip, 'def')).toMatchObject({
      fire: [], skips: [{ ...range, to: start + 3 * hourMs, count: 3 }], after: start + 3 * hourMs,
    });
    expect(dueTicks(every('1h'), fresh, now, once, 'def')).toMatchObject({
      fire: [{ nominal: start + 3 * hourMs, lateMs: hourMs / 2 }],
      skips: [{ ...range, to: start + 2 * hourMs, count: 2 }],
    });
    expect(nominals(dueTicks(every('1h'), fresh, now, all, 'def')))
      .toEqual([start + hourMs, start + 2 * hourMs, start + 3 * hourMs]);
  });

  test('and late do not run beside one that is on time when one run stands for all', () => {
    const due = dueTicks(every('1h'), fresh, start + 3 * hourMs + 10 * secondMs, once, 'def');
    expect(nominals(due)).toEqual([start + 3 * hourMs]);
    expect(due.skips).toMatchObject([{ count: 2, reason: 'misfire' }]);
  });

  test('and later than the window never run, whatever the policy', () => {
    const now = start + 100.5 * hourMs;
    const tight = { windowMs: 3 * hourMs, cap: 100 };
    expect(dueTicks(every('1h'), fresh, now, { policy: 'once', ...tight }, 'def').skips).toEqual([
      { from: start + hourMs, to: start + 97 * hourMs, count: 97, counted: true, reason: 'window' },
      { from: start + 98 * hourMs, to: start + 99 * hourMs, count: 2, counted: true, reason: 'misfire' },
    ]);
    const due = dueTicks(every('1h'), fresh, now, { policy: 'all', ...tight }, 'def');
    expect(nominals(due)).toEqual([98, 99, 100].map((hour) => start + hour * hourMs));
    expect(due.skips).toMatchObject([{ count: 97, reason: 'window' }]);
    const daily = dueTicks(every('1d'), fresh, start + 2.5 * dayMs, { policy: 'once', ...tight }, 'def');
    expect(daily.fire).toEqual([]);
    expect(daily.skips).toMatchObject([{ count: 2, reason: 'window' }]);
  });

  test('and more than the cap run only as many, the newest', () => {
    const due = dueTicks(every('1m'), fresh, start + hourMs, { policy: 'all', windowMs: dayMs, cap: 5 }, 'def');
    expect(nominals(due)).toEqual([56, 57, 58, 59, 60].map((minute) => start + minute * minuteMs));
    expect(due.skips).toEqual(
      [{ from: start + minuteMs, to: start + 55 * minuteMs, count: 55, counted: true, reason: 'cap' }]);
  });

  test('from a gap that is skipped are recorded with that reason', () => {
    const schedule = cron('30 2 * * *', { zone: 'Europe/Berlin', gap: 'skip' });
    const activated = utc(2026, 2, 27);
    const gap = utc(2026, 2, 29, 1) - 1;
    for (const misfire of [skip, once, all]) {
      const due = dueTicks(schedule, { activated, after: utc(2026, 2, 28, 1, 30) }, gap, misfire, 'def');
      expect(due).toMatchObject({
        fire: [],
        skips: [{ from: gap, to: gap, count: 1, reason: 'gap' }],
        next: { nominal: utc(2026, 2, 30, 0, 30) },
        after: gap,
      });
    }
    const [moments, now] = [{ activated, after: activated }, utc(2026, 2, 31, 12)];
    const late = dueTicks(schedule, moments, now, { ...all, windowMs: 7 * dayMs }, 'def');
    expect(nominals(late)).toEqual(
      [utc(2026, 2, 27, 1, 30), utc(2026, 2, 28, 1, 30), utc(2026, 2, 30, 0, 30), utc(2026, 2, 31, 0, 30)]);
    expect(late.skips).toMatchObject([{ from: gap, reason: 'gap' }]);
    const none = dueTicks(schedule, moments, now, skip, 'def');
    const counts = none.skips.map(({ count, reason }) => [count, reason]);
    expect(counts).toEqual([[2, 'misfire'], [1, 'gap'], [2, 'misfire']]);
  });

  test('of a schedule that counts from its runs are one at a time', () => {
    const schedule = every('1h', { from: 'finished' });
    const ran = { activated: start, scheduled: start, started: start, finished: start, after: start };
    for (const misfire of [once, all]) {
      expect(dueTicks(schedule, ran, start + 10.5 * hourMs, misfire, 'def')).toEqual({
        fire: [{ nominal: start + hourMs, due: start + hourMs, lateMs: 9.5 * hourMs }],
        skips: [], next: 'waiting', after: start + hourMs,
      });
    }
    expect(dueTicks(schedule, ran, start + 10.5 * hourMs, skip, 'def')).toMatchObject({
      fire: [], skips: [{ count: 10, reason: 'misfire' }], next: { nominal: start + 11 * hourMs },
    });
    const late = dueTicks(schedule, ran, start + 10.5 * hourMs, { ...once, windowMs: 2 * hourMs }, 'def');
    expect(nominals(late)).toEqual([start + 9 * hourMs]);
    expect(late.skips).toMatchObject([{ count: 8, reason: 'window' }]);
    expect(dueTicks(schedule, { ...ran, finished: null }, start + dayMs, all, 'def'))
      .toEqual({ fire: [], skips: [], next: 'waiting', after: start });
  });

  test('stay none when the clock stands before the last tick', () => {
    const moments = { activated: start, scheduled: start + 5 * hourMs, after: start + 5 * hourMs };
    expect(dueTicks(every('1h'), moments, start - dayMs, all, 'def'))
      .toMatchObject({ fire: [], skips: [], next: { nominal: start + 6 * hourMs }, after: start + 5 * hourMs });
  });

  test.each<[string, object]>([
    ['an unknown policy', { policy: 'never' }], ['a cap of none', { cap: 0 }], ['a cap without bounds', { cap: 1e6 }],
    ['a window that is no number', { windowMs: NaN }], ['an endless window', { windowMs: Infinity }],
    ['a negative grace', { graceMs: -1 }],
  ])('are refused with %s', (_, wrong) => {
    const { code } = refusalOf(() => dueTicks(every('1h'), fresh, start, { ...all, ...wrong }, 'def'));
    expect(code).toBe('malformed.option');
  });
});

describe('an outage', () => {
  const schedules: Array<[string, Schedule, periodMs: number]> = [
    ['an interval of a second', every('1s'), secondMs],
    ['an interval of a day', every('1d'), dayMs],
    ['cron, each minute', cron('* * * * *'), minuteMs],
    ['cron, each second', cron('* * * * * *', { zone: 'Europe/Berlin' }), secondMs],
    ['a repeat of an hour', repeat('SCHEDULED, +1 HOUR'), hourMs],
    ['a repeat that snaps', repeat('SCHEDULED, +1 HOUR, START OF HOUR'), hourMs],
  ];
  const cases = schedules.flatMap(([title, schedule, periodMs]) =>
    [1, 100, 101, 1_000_000].map((periods) => ({ title, schedule, periodMs, periods })));

  test.each(cases)('of $periods periods of $title ends in time, with every tick handled in order', (given) => {
    const { schedule, periodMs, periods } = given;
    const now = start + periods * periodMs;
    if (now > utc(9999, 0)) return;
    const isExact = schedule.kind === 'every' || periods <= walkMax || schedule === schedules[4]![1];
    for (const policy of ['skip', 'once', 'all'] as const) {
      const misfire: Misfire = { policy, windowMs: 50 * periodMs, cap: 10, graceMs: 0 };
      const { fire, skips, next, after } = dueTicks(schedule, fresh, now, misfire, 'def');
      const most = policy === 'all' ? 10 : 1;
      const expected = Array.from({ length: Math.min(most, periods) }, (_, index) => now - index * periodMs).reverse();
      expect(fire.map(({ nominal }) => nominal)).toEqual(expected);
      expect(next).toMatchObject({ nominal: now + periodMs });
      expect(after).toBe(now);
      expect(skips.length).toBeLessThanOrEqual(3);
      expect(skips.every(({ from, to }, index) => from <= to && from > (skips[index - 1]?.to ?? start))).toBe(true);
      const ends = [skips[0]?.from, skips.at(-1)?.to];
      if (periods > most) expect(ends).toEqual([start + periodMs, fire[0]!.nominal - periodMs]);
      const count = skips.reduce((sum, range) => sum + range.count, 0);
      if (isExact) expect([count, skips.every(({ counted }) => counted)]).toEqual([periods - fire.length, true]);
      else expect([count >= walkMax, skips.some(({ counted }) => !counted)]).toEqual([true, true]);
    }
  });

  test('of a schedule that is dense in January and silent since is found again from July', () => {
    const schedule = cron('* * * 1 *');
    const moments = { activated: utc(2025, 6, 1), after: utc(2025, 6, 1) };
    const misfire: Misfire = { policy: 'all', windowMs: 365 * dayMs, cap: 3 };
    const { fire, skips, next } = dueTicks(schedule, moments, utc(2026, 6, 1), misfire, '');
    expect(fire.map(({ nominal }) => nominal)).toEqual([57, 58, 59].map((minute) => utc(2026, 0, 31, 23, minute)));
    expect(skips).toEqual(
      [{ from: utc(2026, 0), to: utc(2026, 0, 31, 23, 56), count: walkMax, counted: false, reason: 'cap' }]);
    expect(next).toMatchObject({ nominal: utc(2027, 0) });
  });
});

describe('of all ticks', () => {
  const scheduleArb = fc.oneof(
    fc.integer({ min: 10, max: 5000 }).map((seconds) => every(seconds * 1000)),
    fc.constantFrom('*/7 * * * *', '0 * * * *', '30 2 * * *', '15 0-6/2 * * 0', '20 30 1,2 * * *').chain((text) =>
      fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe').chain((zone) =>
        fc.constantFrom('next', 'shift', 'skip').map((gap) => cron(text, { zone, gap: gap as 'next' })))),
    fc.constantFrom('+7 MINUTES', '+1 DAY, START OF DAY, +4 HOURS', '+3 HOURS, START OF HOUR')
      .map((modifiers) => repeat(`SCHEDULED, ${modifiers}`)),
  );
  const misfireArb: fc.Arbitrary<Misfire> = fc.record({
    policy: fc.constantFrom('skip' as const, 'once' as const, 'all' as const),
    windowMs: fc.integer({ min: 0, max: 3 * dayMs }),
    cap: fc.integer({ min: 1, max: 20 }),
    graceMs: fc.integer({ min: 0, max: 2 * hourMs }),
  });

  /** The same question answered tick by tick, without a thought for speed. */
  function slowly(schedule: Schedule, moments: TickMoments, now: number, misfire: Misfire): Map<number, string> {
    const ticks: Array<{ nominal: number; skipped: boolean }> = [];
    let tick = nextTick(schedule, moments, 'def');
    while (tick && tick !== 'waiting' && tick.due <= now) {
      ticks.push({ nominal: tick.nominal, skipped: tick.skipped ?? false });
      tick = nextTick(schedule, { ...moments, after: tick.nominal, scheduled: tick.nominal }, 'def');
    }
    const isOnTime = (nominal: number): boolean => now - nominal <= misfire.graceMs!;
    const isInWindow = (nominal: number): boolean => isOnTime(nominal) || now - nominal <= misfire.windowMs;
    const real = ticks.filter(({ skipped }) => !skipped).map(({ nominal }) => nominal);
    const onTime = real.filter(isOnTime);
    const late = real.filter((nominal) => !isOnTime(nominal) && isInWindow(nominal));
    const runs = {
      skip: onTime.slice(-misfire.cap),
      once: onTime.length > 0 ? onTime.slice(-misfire.cap) : late.slice(-1),
      all: [...late, ...onTime].slice(-misfire.cap),
    }[misfire.policy];
    return new Map(ticks.map(({ nominal, skipped }) => {
      if (skipped) return [nominal, 'gap'];
      if (runs.includes(nominal)) return [nominal, 'run'];
      if (misfire.policy !== 'skip' && !isInWindow(nominal)) return [nominal, 'window'];
      const isSurplus = isOnTime(nominal) || misfire.policy === 'all';
      return [nominal, isSurplus ? 'cap' : 'misfire'];
    }));
  }

  test('each runs or is skipped once, with the reason that a slow count gives', () => {
    fc.assert(fc.property(
      scheduleArb, misfireArb, fc.integer({ min: 0, max: 4 * dayMs }),
      fc.constantFrom(start, utc(2026, 2, 27), utc(2026, 9, 23)),
      (schedule, misfire, lengthMs, activated) => {
        const moments = { activated, after: activated };
        const now = activated + lengthMs;
        const { fire, skips } = dueTicks(schedule, moments, now, misfire, 'def');
        const expected = slowly(schedule, moments, now, misfire);
        const ofReason = (reason: string): number[] =>
          [...expected].filter(([, why]) => why === reason).map(([nominal]) => nominal);
        expect(fire.map(({ nominal }) => nominal)).toEqual(ofReason('run'));
        for (const reason of ['misfire', 'window', 'cap', 'gap']) {
          const ranges = skips.filter((range) => range.reason === reason);
          const isCovered = (tick: number): boolean => ranges.some(({ from, to }) => tick >= from && tick <= to);
          const covered = ofReason(reason).filter(isCovered);
          expect(covered).toEqual(ofReason(reason));
          expect(ranges.reduce((sum, { count }) => sum + count, 0)).toBe(covered.length);
        }
      }), { seed: 40, numRuns: bySize({ small: 200, ci: 2_000 }) });
  });

  test('none is lost or doubled when due ticks are asked for at random moments', () => {
    fc.assert(fc.property(
      scheduleArb, misfireArb, fc.array(fc.integer({ min: 1, max: 12 * hourMs }), { minLength: 1, maxLength: 8 }),
      (schedule, misfire, pauses) => {
        const first: TickMoments = { activated: utc(2026, 2, 27), after: utc(2026, 2, 27) };
        const seen: number[] = [];
        let [moments, now, count] = [first, first.activated, 0];
        for (const pause of pauses) {
          now += pause;
          const { fire, skips, after } = dueTicks(schedule, moments, now, misfire, 'def');
          seen.push(...fire.map(({ nominal }) => nominal));
          count += fire.length + skips.reduce((sum, range) => sum + range.count, 0);
          moments = { ...moments, scheduled: after, after };
        }
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
        expect(count).toBe(slowly(schedule, first, now, misfire).size);
      }), { seed: 41, numRuns: bySize({ small: 200, ci: 2_000 }) });
  });
});
