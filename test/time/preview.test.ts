// The preview: the next ticks as people in the zone will see them.
import { expect, test } from 'vitest';
import { preview, type PreviewOptions } from '../../src/time/preview.ts';
import { at, cron, every, repeat, type Schedule } from '../../src/time/schedule.ts';
import { refusalOf } from './refusal.ts';

const utc = Date.UTC;
const nightly = cron('30 2 * * *', { zone: 'Europe/Berlin' });

function shown(schedule: Schedule, options: Partial<PreviewOptions>): string[] {
  const ticks = preview(schedule, { from: utc(2026, 2, 28), count: 3, ...options });
  return ticks.map((tick) => tick.shown + (tick.skipped ? ' skipped' : '') + (tick.note ? ` ${tick.note}` : ''));
}

test('a night without 02:30 shows what each policy does', () => {
  expect(shown(nightly, {})).toEqual(['2026-03-28 02:30:00', '2026-03-29 03:00:00 gap', '2026-03-30 02:30:00']);
  expect(shown(nightly, { policies: { gap: 'shift' } })[1]).toBe('2026-03-29 03:30:00 gap');
  expect(shown(nightly, { policies: { gap: 'skip' } })[1]).toBe('2026-03-29 02:30:00 skipped gap');
});

test('a night with two 02:30 shows which of them run', () => {
  const from = utc(2026, 9, 24);
  expect(shown(nightly, { from }).slice(1)).toEqual(['2026-10-25 02:30:00 overlap', '2026-10-26 02:30:00']);
  expect(shown(nightly, { from, policies: { overlap: 'both' } }).slice(1))
    .toEqual(['2026-10-25 02:30:00 overlap', '2026-10-25 02:30:00 overlap']);
});

test('the effect of daylight saving is described in a sentence', () => {
  const remarks = (options: Partial<PreviewOptions>): Array<string | undefined> =>
    preview(nightly, { from: utc(2026, 2, 28), count: 3, ...options }).map(({ remark }) => remark);
  expect(remarks({})).toEqual(
    [undefined, '2026-03-29 02:30:00 does not exist in Europe/Berlin: it runs at 03:00:00.', undefined]);
  expect(remarks({ policies: { gap: 'skip' } })[1])
    .toBe('2026-03-29 02:30:00 does not exist in Europe/Berlin: it is skipped.');
  expect(remarks({ from: utc(2026, 9, 24), policies: { overlap: 'last' } })[1])
    .toBe('2026-10-25 02:30:00 comes twice in Europe/Berlin: this is the second.');
});

test('schedules that count from their runs are shown as if each took so long', () => {
  expect(shown(every('1h', { from: 'finished' }), { runMs: 600_000 }))
    .toEqual(['2026-03-28 01:00:00', '2026-03-28 02:10:00', '2026-03-28 03:20:00']);
  expect(shown(repeat('FINISHED, +1 DAY, START OF DAY, +4 HOURS'), {}))
    .toEqual(['2026-03-29 04:00:00', '2026-03-30 04:00:00', '2026-03-31 04:00:00']);
});

test('a schedule that ends shows no more than it has', () => {
  expect(shown(at('2026-04-01T00:00:00Z'), {})).toEqual(['2026-04-01 00:00:00']);
  expect(shown(at('2026-01-01T00:00:00Z'), {})).toEqual([]);
});

test('the spread of a name is part of what is shown', () => {
  const ticks = preview(cron('0 2 * * *', { spread: '1h' }), { from: utc(2026, 2, 28), count: 2, name: 'reports' });
  expect(ticks[0]!.due).toBeGreaterThan(ticks[0]!.nominal);
  expect(ticks[1]!.due - ticks[0]!.due).toBe(86_400_000);
});

test.each([0, -1, 1.5, 1001, NaN])('a preview of %d ticks is refused', (count) => {
  expect(refusalOf(() => preview(nightly, { from: 0, count })).code).toBe('malformed.option');
});
