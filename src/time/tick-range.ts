/** The ticks of a schedule in a range of time, in the past or the future, whether or not anything ran then. */
import { isFixed, seriesOf, type Occurrence, type Series } from './series.ts';
import type { Schedule } from './schedule.ts';

/**
 * Returns the series of a schedule from `from` on; null: its ticks depend on runs, so that they are not known before.
 * Cron expressions and fixed times have ticks at all times. An interval has ticks only since it became active, because
 * it counts from then.
 */
export function seriesFrom(schedule: Schedule, from: number, activated: number): Series | null {
  const series = seriesOf(schedule, { activated: isFixed(schedule) ? from - 1 : activated });
  return series === 'waiting' || series.awaitsRun ? null : series;
}

/** Yields the occurrences from `from` to before `to`. */
export function* occurrencesIn(series: Series, from: number, to: number): Generator<Occurrence, void, undefined> {
  for (let next = series.next(from - 1); next !== null && next.nominal < to; next = series.next(next.nominal)) yield next;
}
