/**
 * The backfill: past ticks of a definition that get a run after all. A tick is identified by its schedule and its nominal
 * time. As for ticks on time, the event of the definition that names the run is written in one commit with the run, under
 * the version of the definition: no tick gets two runs, whoever creates them.
 */
import type { CalledRun, IsTickRefused, Ticking } from './definition.ts';
import type { TickOutcome } from './event.ts';
import type { Job } from './job.ts';

/** A tick of the schedule with this index. */
export interface PastTick {
  readonly schedule: number;
  readonly nominal: number;
}

/** The tag of the runs that a backfill creates; its value is the id of the backfill run. */
export const backfillTag = 'stint.backfill';

/**
 * Whether a past tick of a schedule is left to the schedule: it is due, or will be, and the schedule creates its run or
 * records a skip. While a definition is disabled, its schedules create no runs.
 */
export function isLeftToSchedule(def: Job, { schedule, nominal }: PastTick): boolean {
  const next = def.plan!.schedules[schedule]?.next ?? null;
  return def.state === 'pending' && next !== null && nominal >= next.nominal;
}

export interface BackfillGiven {
  readonly now: number;
  /** As many ids as ticks. */
  readonly ids: readonly number[];
  /** The id of the backfill run. */
  readonly backfill: number;
  readonly isRefused: IsTickRefused;
}

/** Gives each of these ticks a run, unless it is refused. The plan of the definition does not change. */
export function backfillTicks(def: Job, ticks: readonly PastTick[], given: BackfillGiven): Ticking {
  const { now, ids, backfill, isRefused } = given;
  const runs: CalledRun[] = [];
  const outcomes = ticks.map(({ schedule, nominal }, index): TickOutcome => {
    if (isRefused(schedule, nominal)) return { schedule, nominal, skipped: 'refused' };
    // Runs of ticks on time are due at their ticks: they must not wait behind the runs of a backfill.
    runs.push({ id: ids[index]!, schedule, nominal, due: now });
    return { schedule, nominal, run: ids[index]!, lateMs: now - nominal };
  });
  const event = { kind: 'ticked', ticks: outcomes, plan: def.plan!, due: def.due, backfill } as const;
  return { event, runs };
}
