/** How the metrics count the ticks of an event: started in time, started late, or skipped. */
import type { Event } from '../../model/event.ts';

export interface TickCount {
  /** `run`, `late`, or `skipped_` with the reason. */
  readonly outcome: string;
  readonly count: number;
  readonly lateMs: number;
}

const lateMin = 1_000;

/** Returns none for a backfill: every tick of it is late. */
export const tickCounts = ({ ticks, backfill }: Extract<Event, { kind: 'ticked' }>): readonly TickCount[] =>
  backfill !== undefined ? [] : ticks.map((tick) => ('run' in tick
    ? { outcome: tick.lateMs > lateMin ? 'late' : 'run', count: 1, lateMs: Math.max(0, tick.lateMs) }
    : { outcome: `skipped_${tick.skipped}`, count: tick.count ?? 1, lateMs: 0 }));
