/**
 * The calendar: how many ticks all enabled definitions have in each hour, which of them have the most, and how much work
 * that is by the duration of their last runs. Its size depends on the hours, not on the number of definitions or ticks.
 */
import type { Jobs } from '../../jobs.ts';
import { checkFields, checkWhole } from '../../jobs/checks/values.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import type { Job } from '../../model/job.ts';
import type { Store } from '../../store/store.ts';
import { hourMs, ticksPerHour } from '../../time/hourly-ticks.ts';
import { checkInstant, formatTimestamp } from '../../time/instant.ts';
import type { Schedule } from '../../time/schedule.ts';
import { seriesFrom } from '../../time/tick-range.ts';
import { checkZone, wallOf } from '../../time/zone.ts';
import { instantOfGiven, type GivenTime } from '../declare/due-time.ts';

export interface CalendarRequest {
  /** The calendar begins with the hour of this time. Default: now. */
  readonly from?: GivenTime;
  /** 1 to 168. Default: 24. */
  readonly hours?: number;
  /** The time zone in which hours are shown. Default: UTC. */
  readonly zone?: string;
}

export interface Calendar {
  readonly zone: string;
  readonly hours: readonly CalendarHour[];
  /** The definitions with the most ticks, at most 50. */
  readonly busiest: readonly BusyDefinition[];
  /** How many enabled definitions have ticks in these hours. */
  readonly definitions: number;
  /** How many enabled definitions have only schedules that count from their runs, so that their ticks are not known. */
  readonly unknown: number;
}

export interface CalendarHour {
  readonly at: number;
  /** The beginning of the hour in the zone: `2026-03-29 03:00:00`. */
  readonly shown: string;
  readonly ticks: number;
  /** How many definitions have ticks in this hour. */
  readonly definitions: number;
  /** How many runs of `busiest` execute at a time on average, if they take as long as their last runs; null: unknown. */
  readonly load: number | null;
  /** The definitions with the most ticks in this hour, at most 5. */
  readonly most: readonly { readonly name: string; readonly ticks: number }[];
}

export interface BusyDefinition {
  readonly name: string;
  readonly ticks: number;
  /** How long the last run took that has ended; null: none has. */
  readonly lastRunMs: number | null;
  /** Whether a run that takes so long is not over at the next tick, in the hour with the most ticks. */
  readonly overlapsItself: boolean;
}

const hoursMax = 168;
const hoursDefault = 24;
const mostShown = 5;
const busiestShown = 50;

/** The ticks of one definition in each hour. */
interface HourlyTicks {
  readonly name: string;
  readonly counts: readonly number[];
  readonly ticks: number;
}

export async function calendarOf(
  jobs: Jobs,
  definitions: readonly KnownDefinition[],
  request: CalendarRequest,
): Promise<Calendar> {
  const { from = jobs.store.now(), hours = hoursDefault, zone = 'UTC' } =
    checkFields('a calendar', request, ['from', 'hours', 'zone']);
  checkZone(zone);
  checkWhole('hours', hours, 1, hoursMax);
  const start = Math.floor(checkInstant(instantOfGiven(from)) / hourMs) * hourMs;
  const enabled = definitions.filter(({ isEnabled, spec }) => isEnabled && spec.schedules.length > 0);
  const counter = new HourCounter(start, hours);
  const rows = Array.from({ length: hours }, () => new HourRow());
  const busiest = new Busiest<HourlyTicks>(busiestShown);
  let [withTicks, unknown] = [0, 0];
  for (const known of enabled) {
    const counted = counter.count(known);
    if (counted === null) unknown += 1;
    else if (counted.ticks > 0) {
      withTicks += 1;
      busiest.add(counted, counted.ticks);
      counted.counts.forEach((ticks, hour) => ticks > 0 && rows[hour]!.add(counted.name, ticks));
    }
  }
  const lasting = await withLastRuns(jobs.store, busiest.all);
  return {
    zone,
    hours: rows.map((row, hour) => hourOf(row, start + hour * hourMs, zone, loadOf(lasting, hour))),
    busiest: lasting.map(({ name, ticks, lastRunMs, counts }) =>
      ({ name, ticks, lastRunMs, overlapsItself: lastRunMs !== null && lastRunMs * Math.max(...counts) > hourMs })),
    definitions: withTicks,
    unknown,
  };
}

/** Counts the ticks of definitions. Definitions often have equal cron expressions, which are counted once. */
class HourCounter {
  readonly #from: number;
  readonly #hours: number;
  readonly #known = new Map<string, readonly number[]>();

  constructor(from: number, hours: number) {
    this.#from = from;
    this.#hours = hours;
  }

  /** Null: the ticks of no schedule are known. */
  count({ name, spec, job }: KnownDefinition): HourlyTicks | null {
    const all = spec.schedules.flatMap((schedule, index) =>
      this.#countsOf(schedule, job.plan?.schedules[index]?.activated ?? job.created) ?? []);
    if (all.length === 0) return null;
    const counts = all.length === 1 ? all[0]! : this.#sumOf(all);
    return { name, counts, ticks: counts.reduce((sum, each) => sum + each, 0) };
  }

  #sumOf(all: readonly (readonly number[])[]): readonly number[] {
    return Array.from({ length: this.#hours }, (_, hour) => all.reduce((sum, each) => sum + each[hour]!, 0));
  }

  #countsOf(schedule: Schedule, activated: number): readonly (readonly number[])[] | null {
    const series = seriesFrom(schedule, this.#from, activated);
    if (series === null) return null;
    if (schedule.kind !== 'cron') return [ticksPerHour(schedule, series, this.#from, this.#hours)];
    const key = JSON.stringify(schedule);
    const counts = this.#known.get(key) ?? ticksPerHour(schedule, series, this.#from, this.#hours);
    this.#known.set(key, counts);
    return [counts];
  }
}

/** The entries with the highest numbers. */
class Busiest<T> {
  readonly #most: number;
  readonly #entries: { readonly value: T; readonly ticks: number }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get all(): readonly T[] {
    return this.#entries.map(({ value }) => value);
  }

  add(value: T, ticks: number): void {
    if (this.#entries.length === this.#most && this.#entries.at(-1)!.ticks >= ticks) return;
    const index = this.#entries.findIndex((each) => each.ticks < ticks);
    this.#entries.splice(index === -1 ? this.#entries.length : index, 0, { value, ticks });
    if (this.#entries.length > this.#most) this.#entries.pop();
  }
}

class HourRow {
  ticks = 0;
  definitions = 0;
  readonly most = new Busiest<{ readonly name: string; readonly ticks: number }>(mostShown);

  add(name: string, ticks: number): void {
    this.ticks += ticks;
    this.definitions += 1;
    this.most.add({ name, ticks }, ticks);
  }
}

const hourOf = ({ ticks, definitions, most }: HourRow, at: number, zone: string, load: number | null): CalendarHour =>
  ({ at, shown: formatTimestamp(wallOf(zone, at)), ticks, definitions, load, most: most.all });

type Lasting = HourlyTicks & { readonly lastRunMs: number | null };

async function withLastRuns(store: Pick<Store, 'latestEnds' | 'load'>, counted: readonly HourlyTicks[]): Promise<Lasting[]> {
  const ends = await store.latestEnds(counted.map(({ name }) => name));
  const runs = await store.load([...ends.values()].map(({ id }) => id));
  const lasted = new Map(runs.map((run) => [run.def!, durationOf(run)]));
  return counted.map((each) => ({ ...each, lastRunMs: lasted.get(each.name) ?? null }));
}

const durationOf = (run: Job): number | null =>
  (run.state === 'ended' && run.startedAt !== null ? Math.max(0, run.endedAt - run.startedAt) : null);

function loadOf(lasting: readonly Lasting[], hour: number): number | null {
  const known = lasting.filter(({ counts, lastRunMs }) => counts[hour]! > 0 && lastRunMs !== null);
  if (known.length === 0) return null;
  return known.reduce((sum, { counts, lastRunMs }) => sum + counts[hour]! * lastRunMs!, 0) / hourMs;
}
