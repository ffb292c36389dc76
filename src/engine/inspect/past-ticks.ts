/**
 * Past ticks: the ticks of a definition in a range of time, each with its run or the reason why it was skipped. They are the
 * ticks that the schedules as they are now have in the range, and those that the history of the definition records.
 */
import { withoutRun } from '../../jobs/backfill.ts';
import { checkFields, checkWhole } from '../../jobs/checks/values.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import { RecordedTicks, type RecordedRun } from '../../jobs/recorded-ticks.ts';
import { isLeftToSchedule } from '../../model/backfill.ts';
import type { TickSkip } from '../../model/event.ts';
import { Refusal } from '../../refusal.ts';
import { standingOf, type Standing } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { checkInstant, formatTimestamp } from '../../time/instant.ts';
import { shownTick } from '../../time/preview.ts';
import type { Occurrence } from '../../time/series.ts';
import { seriesFrom } from '../../time/tick-range.ts';
import { instantOfGiven, type GivenTime } from '../declare/due-time.ts';

export interface TickListRequest {
  /** Default: a day before `to`. */
  readonly from?: GivenTime;
  /** Only ticks before it. Default, and at most: now. For the next page: `next` of this one. */
  readonly to?: GivenTime;
  /** The most ticks of a page, 1 to 1000; a few more if several ticks are at the same time. Default: 100. */
  readonly limit?: number;
}

export interface ListedTicks {
  readonly ticks: readonly ListedTick[];
  /** The `to` of the next page; null: this one is the last. */
  readonly next: number | null;
}

export interface ListedTick {
  /** The index of the schedule in the list `schedules` of the definition. */
  readonly schedule: number;
  readonly nominal: number;
  /** The time in the zone of the schedule. */
  readonly shown: string;
  /** How daylight saving affects the tick, or that the schedules do not have it any more. */
  readonly remark: string | null;
  /**
   * `missing`: the history knows neither a run nor a skip, for example of a tick before the definition was created. `due`:
   * the schedule will handle it.
   */
  readonly outcome: 'run' | 'skipped' | 'missing' | 'due';
  readonly run: number | null;
  /** The state of the run, or how it ended; null: the run was deleted, or there is none. */
  readonly standing: Standing | null;
  readonly skipped: TickSkip | null;
  /** The id of the backfill run that created the run; null: the schedule did. */
  readonly backfill: number | null;
}

const dayMs = 86_400_000;
const pageDefault = 100;
const pageMax = 1000;

export async function listTicks(
  store: Store,
  known: KnownDefinition,
  request: TickListRequest,
): Promise<ListedTicks> {
  const given = checkFields('a list of ticks', request, ['from', 'to', 'limit']);
  const limit = checkWhole('limit', given.limit ?? pageDefault, 1, pageMax);
  const now = store.now() + 1;
  const to = Math.min(now, given.to === undefined ? now : checkInstant(instantOfGiven(given.to)));
  const from = given.from === undefined ? to - dayMs : checkInstant(instantOfGiven(given.from));
  if (from > to) throw new Refusal('malformed.range', 'the range ends before it begins', {});
  const planned = newestOccurrences(known, from, to, limit);
  // Older ticks are on another page, whether the schedules have them or only the history does.
  const since = planned.size >= limit ? Math.min(...planned.keys()) : from;
  const recorded = new RecordedTicks(since, to);
  await recorded.readOn(store, known.job);
  const times = [...new Set([...planned.keys(), ...recorded.times()])].sort((a, b) => b - a);
  const shown = times.slice(0, limit);
  const undecided = shown.flatMap((nominal) => ticksAt(known, nominal, planned.get(nominal) ?? [], recorded));
  const standings = await standingsOf(store, undecided);
  const ticks = undecided.map((tick) => ({ ...tick, standing: standings.get(tick.run ?? 0) ?? null }));
  const isLast = times.length <= limit && since === from;
  return { ticks, next: isLast ? null : (shown.at(-1) ?? since) };
}

interface PlannedTick extends Occurrence {
  readonly schedule: number;
}

/** Returns the newest ticks that the schedules have in the range, at most `limit` times, newest first. */
function newestOccurrences(
  { spec, job }: KnownDefinition,
  from: number,
  to: number,
  limit: number,
): ReadonlyMap<number, readonly PlannedTick[]> {
  const all = spec.schedules.flatMap((schedule, index) => {
    const series = seriesFrom(schedule, from, job.plan?.schedules[index]?.activated ?? job.created);
    return series?.newest(from - 1, to - 1, limit).map((tick): PlannedTick => ({ ...tick, schedule: index })) ?? [];
  });
  const times = new Map([...Map.groupBy(all, ({ nominal }) => nominal)].sort(([a], [b]) => b - a).slice(0, limit));
  return times;
}

type FoundTick = Omit<ListedTick, 'standing'>;

/** The ticks of one time: those with a run first. */
function ticksAt(
  known: KnownDefinition,
  nominal: number,
  planned: readonly PlannedTick[],
  recorded: RecordedTicks,
): readonly FoundTick[] {
  const runs = recorded.runsAt(nominal);
  const open = withoutRun(planned, runs);
  const ran = runs.map((run) => ranTick(known, run, planned));
  const others = open.map((tick) => openTick(known, tick, recorded));
  if (ran.length + others.length > 0) return [...ran, ...others];
  const skip = recorded.skipAt(0, nominal);
  return skip === null ? [] : [{
    ...gone(nominal), schedule: skip.schedule, outcome: 'skipped', run: null, skipped: skip.skipped, backfill: skip.backfill,
  }];
}

function ranTick(
  known: KnownDefinition,
  { schedule, nominal, run, backfill }: RecordedRun,
  planned: readonly PlannedTick[],
): FoundTick {
  const tick = planned.find((each) => each.schedule === schedule) ?? planned[0];
  const words = tick === undefined ? gone(nominal) : wordsOf(known, tick);
  return { ...words, schedule, outcome: 'run', run, skipped: null, backfill };
}

function openTick(known: KnownDefinition, tick: PlannedTick, recorded: RecordedTicks): FoundTick {
  const { schedule, nominal } = tick;
  const skip = recorded.skipAt(schedule, nominal);
  const base = { ...wordsOf(known, tick), schedule, run: null };
  if (skip !== null) return { ...base, outcome: 'skipped', skipped: skip.skipped, backfill: skip.backfill };
  if (tick.skipped) return { ...base, outcome: 'skipped', skipped: 'gap', backfill: null };
  const outcome = isLeftToSchedule(known.job, tick) ? 'due' : 'missing';
  return { ...base, outcome, skipped: null, backfill: null };
}

type Words = Pick<ListedTick, 'nominal' | 'shown' | 'remark'>;

function wordsOf({ spec }: KnownDefinition, { schedule, nominal, ...rest }: PlannedTick): Words {
  const { shown, remark = null } = shownTick(spec.schedules[schedule]!, { nominal, due: nominal, ...rest });
  return { nominal, shown, remark };
}

const gone = (nominal: number): Words =>
  ({ nominal, shown: formatTimestamp(nominal), remark: 'The schedules do not have this tick any more.' });

async function standingsOf(store: Store, ticks: readonly FoundTick[]): Promise<ReadonlyMap<number, Standing>> {
  const ids = ticks.flatMap(({ run }) => run ?? []);
  const jobs = ids.length === 0 ? [] : await store.load(ids);
  return new Map(jobs.map((job) => [job.id, standingOf(job)]));
}
