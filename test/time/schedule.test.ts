// Schedules: made by constructors, validated as foreign data, described in words.
import { describe, expect, test } from 'vitest';
import { describeSchedule } from '../../src/time/describe.ts';
import { at, checkSchedule, cron, every, repeat, type Schedule } from '../../src/time/schedule.ts';
import { refusalOf } from './refusal.ts';

const made: Array<[Schedule, Schedule, string]> = [
  [cron('30 2 * * *', { zone: 'Europe/Berlin' }), { kind: 'cron', text: '30 2 * * *', zone: 'Europe/Berlin' },
    'every day at 02:30 Europe/Berlin'],
  [cron('@daily', { gap: 'skip', overlap: 'both', spread: '10m' }),
    { kind: 'cron', text: '@daily', zone: 'UTC', gap: 'skip', overlap: 'both', spreadMs: 600_000 },
    'every day at 00:00 UTC'],
  [every('15m'), { kind: 'every', everyMs: 900_000, from: 'scheduled' }, 'every 15 minutes'],
  [every('1h', { from: 'finished', spread: '30s' }),
    { kind: 'every', everyMs: 3_600_000, from: 'finished', spreadMs: 30_000 }, '1 hour after each run has finished'],
  [every(90_000, { from: 'started' }), { kind: 'every', everyMs: 90_000, from: 'started' },
    '1 minute 30 seconds after each run has started'],
  [repeat('FINISHED, +1 DAY, START OF DAY, +4 HOURS'),
    { kind: 'repeat', text: 'FINISHED, +1 DAY, START OF DAY, +4 HOURS' },
    'counted from the end of each run: +1 day, start of day, +4 hours UTC'],
  [repeat('SCHEDULED, -1 MONTH, WEEKDAY 1'), { kind: 'repeat', text: 'SCHEDULED, -1 MONTH, WEEKDAY 1' },
    'counted from each scheduled time: -1 month, next Monday UTC'],
  [at('2026-03-29T02:30:00Z'), { kind: 'at', at: Date.UTC(2026, 2, 29, 2, 30) }, 'once at 2026-03-29 02:30:00 UTC'],
  [at(new Date(5000)), { kind: 'at', at: 5000 }, 'once at 1970-01-01 00:00:05 UTC'],
  [at(5000), { kind: 'at', at: 5000 }, 'once at 1970-01-01 00:00:05 UTC'],
];

describe('a schedule', () => {
  test.each(made)('is plain data, equal to its copy, and can be described in words: %j', (schedule, data, words) => {
    expect(schedule).toStrictEqual(data);
    expect(checkSchedule(JSON.parse(JSON.stringify(schedule)))).toStrictEqual(data);
    expect(describeSchedule(schedule)).toBe(words);
  });

  test.each<[string, string]>([
    ['*/15 * * * *', 'every 15 minutes UTC'],
    ['* * * * *', 'every minute UTC'],
    ['* * * * * *', 'every second UTC'],
    ['5 * * * *', 'every hour at minute 5 UTC'],
    ['5,35 * * * *', 'every hour at minutes 5 and 35 UTC'],
    ['0 */2 * * *', 'every 2 hours UTC'],
    ['20 */2 * * *', 'every 2 hours at minute 20 UTC'],
    ['0 9,17 * * 1-5', 'Monday to Friday at 09:00 and 17:00 UTC'],
    ['15 0 9 * * MON,THU', 'every Monday and Thursday at 09:00:15 UTC'],
    ['0 0 1,15 * FRI', 'on day 1 and 15 of the month or every Friday at 00:00 UTC'],
    ['0 0 L 2,3 *', 'on the last day of the month in February and March at 00:00 UTC'],
    ['0 0 * * FRI#2', 'on the second Friday of the month at 00:00 UTC'],
    ['0 0 * * 0L', 'on the last Sunday of the month at 00:00 UTC'],
    ['*/10 * * * SUN', 'every 10 minutes, every Sunday UTC'],
    ['1-40 3,5 * * *', 'by cron 1-40 3,5 * * * UTC'],
    ['*/7 * * * * *', 'by cron */7 * * * * * UTC'],
  ])('by cron %s reads: %s', (text, words) => {
    expect(describeSchedule(cron(text))).toBe(words);
  });
});

describe('a constructor refuses at once', () => {
  test.each<[string, () => unknown, string]>([
    ['a malformed expression', () => cron('61 * * * *'), 'malformed.cron'],
    ['a date that no year has', () => cron('0 0 30 2 *'), 'impossible.schedule'],
    ['an unknown zone', () => cron('* * * * *', { zone: 'Europe/Atlantis' }), 'malformed.zone'],
    ['an unknown policy', () => cron('* * * * *', { gap: 'later' as 'next' }), 'malformed.schedule'],
    ['an unknown option', () => cron('* * * * *', { tz: 'UTC' } as object), 'malformed.option'],
    ['a malformed spread', () => cron('* * * * *', { spread: '5 minutes' as '5m' }), 'malformed.duration'],
    ['an interval of nothing', () => every('0s'), 'impossible.schedule'],
    ['an interval that is no number', () => every(NaN), 'malformed.duration'],
    ['an unknown base', () => every('1h', { from: 'ended' as 'finished' }), 'malformed.schedule'],
    ['a malformed repeat', () => repeat('FINISHED, + 1 HOUR'), 'malformed.repeat'],
    ['a repeat that leaves the calendar', () => repeat('FINISHED' + ', +999 YEARS'.repeat(8)), 'impossible.schedule'],
    ['a time without a zone', () => at('2026-03-29T02:30:00'), 'malformed.time'],
    ['an invalid Date', () => at(new Date(NaN)), 'malformed.time'],
  ])('%s', (_, make, code) => {
    expect(refusalOf(make).code).toBe(code);
  });
});

describe('foreign data is refused', () => {
  test.each<[unknown, string]>([
    [null, 'malformed.schedule'], [undefined, 'malformed.schedule'], ['* * * * *', 'malformed.schedule'],
    [[], 'malformed.schedule'], [{}, 'malformed.schedule'], [{ kind: 'daily' }, 'malformed.schedule'],
    [{ kind: 'constructor' }, 'malformed.schedule'], [{ kind: 'cron' }, 'malformed.cron'],
    [{ kind: 'cron', text: '* * * * *' }, 'malformed.zone'],
    [{ kind: 'cron', text: ['* * * * *'], zone: 'UTC' }, 'malformed.cron'],
    [{ kind: 'cron', text: '* * * * *', zone: 'UTC', spread: '5m' }, 'malformed.schedule'],
    [{ kind: 'cron', text: '* * * * *', zone: 'UTC', spreadMs: '5' }, 'malformed.schedule'],
    [{ kind: 'cron', text: '* * * * *', zone: 'UTC', spreadMs: -1 }, 'malformed.duration'],
    [{ kind: 'every', everyMs: '900000' }, 'malformed.schedule'],
    [{ kind: 'every', everyMs: 0 }, 'impossible.schedule'],
    [{ kind: 'every', everyMs: 1.5 }, 'malformed.duration'], [{ kind: 'repeat' }, 'malformed.repeat'],
    [{ kind: 'at', at: '2026-01-01' }, 'malformed.time'], [{ kind: 'at' }, 'malformed.time'],
    [JSON.parse('{"kind":"at","at":5,"__proto__":{"polluted":true}}'), 'malformed.schedule'],
  ])('%j', (data, code) => {
    expect(refusalOf(() => checkSchedule(data)).code).toBe(code);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
