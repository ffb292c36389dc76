/** The preview: lists the next ticks of a schedule, and says how daylight saving affects them. */
import { Refusal } from '../refusal.ts';
import type { GapPolicy, OverlapPolicy } from './cron.ts';
import { checkInstant, formatTimestamp } from './instant.ts';
import { kindOf } from './malformed.ts';
import type { Schedule } from './schedule.ts';
import { delayOf, nextTick, type Tick, type TickMoments } from './ticks.ts';
import { instantsOf, wallOf } from './zone.ts';

export interface PreviewOptions {
  /** The preview contains ticks after this instant. */
  readonly from: number;
  /** How many ticks: 1 to 1000. */
  readonly count: number;
  /** The name of the definition. If the schedule has a `spread`, the delay of its runs is computed from this name. */
  readonly name?: string;
  /** For a cron schedule: policies to use instead of those of the schedule. */
  readonly policies?: { readonly gap?: GapPolicy; readonly overlap?: OverlapPolicy };
  /** The assumed duration of each run, for schedules that count from the end of a run; default: 0. */
  readonly runMs?: number;
  /** The times of the last tick and run of an active schedule. Default: the schedule becomes active at `from`. */
  readonly start?: TickMoments;
}

export interface PreviewTick extends Tick {
  /** The time at which the tick runs or is skipped, in the zone of the schedule: `2026-03-29 03:00:00`. */
  readonly shown: string;
  /** A sentence about daylight saving, if it affects the tick. */
  readonly remark?: string;
}

const countMax = 1000;

export function preview(schedule: Schedule, options: PreviewOptions): PreviewTick[] {
  const { from, count, name = '', policies = {}, runMs = 0, start } = options;
  if (!Number.isInteger(count) || count < 1 || count > countMax) {
    const sentence = `A preview has a whole number of ticks from 1 to ${countMax}, not ${kindOf(count)}.`;
    throw new Refusal('malformed.option', sentence);
  }
  const tried = schedule.kind === 'cron' ? { ...schedule, ...policies } : schedule;
  const ticks: PreviewTick[] = [];
  const activated = start?.activated ?? checkInstant(from);
  let moments: TickMoments = start ? startingAt(start, from - delayOf(tried, name)) : { activated, after: from };
  while (ticks.length < count) {
    const tick = nextTick(tried, moments, name);
    if (tick === null || tick === 'waiting') break;
    ticks.push(shownTick(tried, tick));
    const { nominal, due } = tick;
    moments = { activated, scheduled: nominal, started: due, finished: due + runMs, after: nominal };
  }
  return ticks;
}

/** Returns `start` with its field `after` raised to at least the given time, so that overdue ticks are not listed. */
const startingAt = (start: TickMoments, after: number): TickMoments => ({
  ...start,
  after: Math.max(start.after, after),
});

/** Adds the wall time of a tick in the zone of its schedule, and how daylight saving affects it. */
export function shownTick(schedule: Schedule, tick: Tick): PreviewTick {
  if (schedule.kind !== 'cron') return { ...tick, shown: formatTimestamp(tick.due) };
  const shown = formatTimestamp(tick.skipped ? tick.wall! : wallOf(schedule.zone, tick.due));
  return tick.note ? { ...tick, shown, remark: remarkOn(schedule.zone, tick) } : { ...tick, shown };
}

function remarkOn(zone: string, { nominal, wall, note, skipped }: Tick): string {
  const named = formatTimestamp(wall!);
  if (note === 'gap') {
    const outcome = skipped ? 'it is skipped' : `it runs at ${formatTimestamp(wallOf(zone, nominal)).slice(11)}`;
    return `${named} does not exist in ${zone}: ${outcome}.`;
  }
  const which = instantsOf(zone, wall!).indexOf(nominal) === 0 ? 'first' : 'second';
  return `${named} comes twice in ${zone}: this is the ${which}.`;
}
