/** The schedule preview: the next ticks of a definition, with the effect of its overlap policy on each. */
import type { KnownDefinition } from '../../jobs/define.ts';
import type { Overlap } from '../../model/definition.ts';
import type { SchedulePlan } from '../../model/job.ts';
import type { Schedule } from '../../time/schedule.ts';
import { preview, type PreviewOptions, type PreviewTick } from '../../time/preview.ts';
import type { TickMoments } from '../../time/ticks.ts';

export interface PreviewedTick extends PreviewTick {
  /** The index of the schedule in the list `schedules` of the definition. */
  readonly schedule: number;
  /**
   * `waits`: the run of this tick waits for the previous run to end. `replaces`: the previous run is cancelled, and the
   * run of this tick starts when the previous run has ended.
   */
  readonly does: 'runs' | 'is skipped' | 'waits' | 'replaces';
}

export interface TickPreviewOptions extends Pick<PreviewOptions, 'count' | 'policies'> {
  readonly now: number;
  /** The assumed duration of each run. */
  readonly runMs: number;
}

export function previewTicks(
  { name, spec, isEnabled, job }: KnownDefinition,
  { now, count, runMs, policies }: TickPreviewOptions,
): PreviewedTick[] {
  const ticksOf = (schedule: Schedule, index: number): UndecidedTick[] => {
    const plan = isEnabled ? job.plan?.schedules[index] : undefined;
    const start = plan ? { start: momentsOf(plan, now, runMs) } : {};
    const options = { from: now, count, name, runMs, ...start, ...(policies ? { policies } : {}) };
    return preview(schedule, options).map((tick) => ({ ...tick, schedule: index }));
  };
  const ticks = spec.schedules.flatMap(ticksOf).sort((a, b) => a.due - b.due || a.schedule - b.schedule);
  return decideOverlaps(ticks.slice(0, count), spec.overlap, runMs);
}

type UndecidedTick = Omit<PreviewedTick, 'does'>;

/**
 * Returns the moments that determine the next tick. If `run` is set and `next` is null, the schedule waits for this
 * run, which is assumed to start now.
 */
function momentsOf({ activated, lastNominal, next, run, ran }: SchedulePlan, now: number, runMs: number): TickMoments {
  const base = { activated, scheduled: lastNominal ?? undefined, after: lastNominal ?? activated };
  if (run === null) return base;
  const moments = next === null ? { startedAt: now, endedAt: now + runMs } : ran;
  return { ...base, started: moments?.startedAt ?? now, finished: moments?.endedAt ?? now };
}

function decideOverlaps(ticks: readonly UndecidedTick[], overlap: Overlap, runMs: number): PreviewedTick[] {
  let busyUntil = -Infinity;
  return ticks.map((tick) => {
    const does = tick.skipped ? 'is skipped' : tick.due < busyUntil ? outcomes[overlap] : 'runs';
    if (does !== 'is skipped') busyUntil = (does === 'waits' ? busyUntil : tick.due) + runMs;
    return { ...tick, does };
  });
}

const outcomes: Readonly<Record<Overlap, PreviewedTick['does']>> = {
  allow: 'runs',
  skip: 'is skipped',
  queue: 'waits',
  replace: 'replaces',
};
