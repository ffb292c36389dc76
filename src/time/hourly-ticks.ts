/** Counts the ticks of a schedule in each hour, without visiting every tick of a frequent schedule. */
import type { Schedule } from './schedule.ts';
import type { Series } from './series.ts';
import { offsetAt } from './zone.ts';

export const hourMs = 3_600_000;

/**
 * Returns the ticks in each of `hours` hours from `from`, which is a whole hour in UTC. An hour that begins like an
 * earlier one has as many ticks, so that only the first of them is visited tick by tick; except in hours of a clock
 * change, in zones whose clocks are not whole hours from UTC, and for repeat rules.
 */
export function ticksPerHour(schedule: Schedule, series: Series, from: number, hours: number): number[] {
  const counts = Array<number>(hours).fill(0);
  const known = new Map<number, number>();
  const end = from + hours * hourMs;
  for (let next = series.next(from - 1); next !== null && next.nominal < end; ) {
    const hour = Math.floor((next.nominal - from) / hourMs);
    const start = from + hour * hourMs;
    const first = next.nominal - start;
    const isAlike = isRegular(schedule, start);
    counts[hour] = (isAlike ? known.get(first) : undefined) ?? countIn(series, start);
    if (isAlike) known.set(first, counts[hour]);
    next = series.next(start + hourMs - 1);
  }
  return counts;
}

function isRegular(schedule: Schedule, start: number): boolean {
  if (schedule.kind === 'repeat') return false;
  if (schedule.kind !== 'cron') return true;
  const offset = offsetAt(schedule.zone, start);
  return offset % hourMs === 0 && offset === offsetAt(schedule.zone, start - hourMs) && offset === offsetAt(schedule.zone, start + hourMs);
}

function countIn(series: Series, start: number): number {
  let count = 0;
  for (let next = series.next(start - 1); next !== null && next.nominal < start + hourMs; next = series.next(next.nominal)) {
    if (!next.skipped) count += 1;
  }
  return count;
}
