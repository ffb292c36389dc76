// The calendar over all definitions: how many ticks each hour has, and which definitions have the most.
import { expect, test } from 'vitest';
import { at, cron, every, jobDef, jobType, type Schedule } from '../../../src/index.ts';
import { hourMs, ticksPerHour } from '../../../src/time/hourly-ticks.ts';
import { occurrencesIn, seriesFrom } from '../../../src/time/tick-range.ts';
import { hour, minute, newYear, refused, start, type TestEngine } from './kit.ts';

const quick = jobType('quick', { run: () => {} });

test('the ticks of each hour are counted, with the definitions that have the most', async () => {
  const slow = jobType('slow', { run: () => t.clock.sleep(3 * minute) });
  const t: TestEngine = await start({
    defs: [
      jobDef('minutely', slow, { schedules: cron('* * * * *'), overlap: 'skip' }),
      jobDef('nightly', quick, { schedules: [cron('30 2 * * *', { zone: 'Europe/Berlin' }), at(newYear + 3 * hour + 1)] }),
      jobDef('after itself', quick, { schedules: every('1h', { from: 'finished' }) }),
      jobDef('off', quick, { schedules: cron('* * * * *'), enabled: false }),
      jobDef('by hand', quick),
    ],
  });
  await t.advance('5m');
  const { hours, busiest, definitions, unknown } = await t.engine.calendar({ zone: 'Europe/Berlin', hours: 4 });
  expect([definitions, unknown]).toEqual([2, 1]);
  expect(hours).toEqual([
    { at: newYear, shown: '2026-01-01 01:00:00', ticks: 60, definitions: 1, load: 3, most: [{ name: 'minutely', ticks: 60 }] },
    {
      at: newYear + hour, shown: '2026-01-01 02:00:00', ticks: 61, definitions: 2, load: 3,
      most: [{ name: 'minutely', ticks: 60 }, { name: 'nightly', ticks: 1 }],
    },
    expect.objectContaining({ ticks: 60 }),
    expect.objectContaining({ ticks: 61 }),
  ]);
  expect(busiest).toEqual([
    { name: 'minutely', ticks: 240, lastRunMs: 3 * minute, overlapsItself: true },
    { name: 'nightly', ticks: 2, lastRunMs: null, overlapsItself: false },
  ]);
});

test('it is refused for a wrong zone or number of hours', async () => {
  const t = await start();
  expect(await refused(t.engine.calendar({ zone: 'Mars' }))).toBe('malformed.zone');
  expect(await refused(t.engine.calendar({ hours: 169 }))).toBe('malformed.number');
});

const schedules: readonly Schedule[] = [
  cron('* * * * *'), cron('*/7 8-17 * * mon-fri', { zone: 'Europe/Berlin' }), cron('15,45 * * * *', { zone: 'Asia/Kolkata' }),
  cron('0,30 9-10 * * *', { zone: 'Asia/Kathmandu' }), cron('30 2 * * *', { zone: 'Europe/Berlin', gap: 'skip', overlap: 'both' }),
  cron('*/10 2 * * *', { zone: 'Europe/Berlin' }), every('7m'), every('90m'), every('25s'),
];

test.each(schedules)('hours are counted as if every tick was visited: %o', (schedule) => {
  for (const day of ['2026-03-28', '2026-06-10', '2026-10-24']) {
    const from = Date.parse(`${day}T00:00:00Z`);
    const series = seriesFrom(schedule, from, from - 3_333_333)!;
    const visited = Array<number>(72).fill(0);
    for (const { nominal, skipped } of occurrencesIn(series, from, from + 72 * hourMs)) {
      if (!skipped) visited[Math.floor((nominal - from) / hourMs)]! += 1;
    }
    expect(ticksPerHour(schedule, series, from, 72)).toEqual(visited);
  }
});

test('a calendar of many definitions that tick often visits few of their ticks', () => {
  const schedule = cron('* * * * * *');
  const series = seriesFrom(schedule, newYear, 0)!;
  let visits = 0;
  const counting = { ...series, next: (after: number) => (visits += 1, series.next(after)) };
  expect(ticksPerHour(schedule, counting, newYear, 168).every((count) => count === 3600)).toBe(true);
  expect(visits).toBeLessThan(4_000);
});
