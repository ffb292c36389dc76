/**
 * Backfilling: finds the past ticks of a definition that have no run, and creates their runs. Each commit is guarded by the
 * version of the definition, and decided after its newest events were read. So a tick gets one run, also if its schedule or
 * another backfill works at the same time, or a worker is killed between two commits.
 */
import { applyTogether, type Asker } from '../apply.ts';
import {
  backfillTag, backfillTicks, isLeftToSchedule, type PastTick,
} from '../model/backfill.ts';
import { definitionOf, specOf, type Spec } from '../model/definition.ts';
import { isOpen, type Job } from '../model/job.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { occurrencesIn, seriesFrom } from '../time/tick-range.ts';
import { readTypes } from './catalogue.ts';
import type { NewFollowing } from './follower-runs.ts';
import { registered } from './tick-knowledge.ts';
import type { DecideTicks } from './hooked-ticks.ts';
import type { Producer } from './new-jobs.ts';
import type { RecordedRun, RecordedTicks } from './recorded-ticks.ts';
import { changesOfTicks } from './tick.ts';

/** The ticks from `from` to before `to`. */
export interface TickRange {
  readonly from: number;
  readonly to: number;
}

export interface BackfillPlan {
  /** How many ticks the schedules have in the range. */
  readonly ticks: number;
  /** Those without a run, oldest first. */
  readonly missing: readonly PastTick[];
  /** The runs of the others. */
  readonly existing: readonly RecordedRun[];
  /** How many of the ticks do not run: their wall time is in the gap of a clock change, and the policy is to skip them. */
  readonly inGaps: number;
  /** How many of the ticks are left to the schedule: they are due now. */
  readonly leftToSchedule: number;
  /** How many of the ticks may have had runs under an earlier name of the definition, whose history is not known. */
  readonly unknown: number;
}

/** So many ticks of a minute are 69 days. They are planned in memory, in a quarter of a second. */
export const backfillTicksMax = 100_000;

/** Refuses a definition without a schedule whose past ticks are known. */
export function checkScheduled({ name, spec, job }: { readonly name: string; readonly spec: Spec; readonly job: Job }): void {
  const isKnown = spec.schedules.some((schedule, index) => seriesFrom(schedule, job.created, activatedOf(job, index)) !== null);
  if (isKnown) return;
  const message = spec.schedules.length === 0
    ? `definition ${name} has no schedule, so that it has no ticks`
    : `the ticks of definition ${name} count from the start or the end of its runs: which of them are missing is not known`;
  throw new Refusal('no.schedule', message, { name });
}

/** Sorts the ticks of a range by whether they have a run. Refuses a range with more than `backfillTicksMax` ticks. */
export function planBackfill(def: Job, spec: Spec, recorded: RecordedTicks, range: TickRange): BackfillPlan {
  const knownFrom = recordedFrom(def);
  const byTime = Map.groupBy(ticksIn(def, spec, range), ({ nominal }) => nominal);
  const existing: RecordedRun[] = [];
  const missing: PastTick[] = [];
  let [ticks, inGaps, leftToSchedule, unknown] = [0, 0, 0, 0];
  for (const [nominal, all] of byTime) {
    ticks += all.length;
    const running = all.filter(({ isInGap }) => !isInGap);
    inGaps += all.length - running.length;
    const runs = recorded.runsAt(nominal);
    existing.push(...runs);
    for (const { schedule } of withoutRun(running, runs)) {
      if (isLeftToSchedule(def, { schedule, nominal })) leftToSchedule += 1;
      else if (nominal <= knownFrom) unknown += 1;
      else missing.push({ schedule, nominal });
    }
  }
  missing.sort((a, b) => a.nominal - b.nominal || a.schedule - b.schedule);
  return { ticks, missing, existing, inGaps, leftToSchedule, unknown };
}

/**
 * Returns the ticks of one time that have no run. An edit can change the index of a schedule, so that a run of another
 * index counts, too: a time has at most as many runs as ticks.
 */
export function withoutRun<T extends { readonly schedule: number }>(
  ticks: readonly T[],
  runs: readonly Pick<RecordedRun, 'schedule'>[],
): readonly T[] {
  const open = ticks.filter(({ schedule }) => !runs.some((run) => run.schedule === schedule));
  const others = runs.filter((run) => !ticks.some(({ schedule }) => run.schedule === schedule));
  return open.slice(others.length);
}

interface RangedTick extends PastTick {
  readonly isInGap: boolean;
}

function ticksIn(def: Job, spec: Spec, { from, to }: TickRange): RangedTick[] {
  const ticks: RangedTick[] = [];
  for (const [schedule, each] of spec.schedules.entries()) {
    const series = seriesFrom(each, from, activatedOf(def, schedule));
    if (series === null) continue;
    for (const { nominal, skipped } of occurrencesIn(series, from, to)) {
      if (ticks.length === backfillTicksMax) throw tooMany();
      ticks.push({ schedule, nominal, isInGap: skipped === true });
    }
  }
  return ticks;
}

const tooMany = (): Refusal => new Refusal(
  'malformed.range', `a backfill has at most ${backfillTicksMax} ticks: choose a shorter range`, { most: backfillTicksMax },
);

const activatedOf = (def: Job, schedule: number): number => def.plan!.schedules[schedule]?.activated ?? def.created;

/**
 * Returns from when on the history of a definition has its ticks: always, unless it was renamed. A definition that was
 * given another name continues the schedules of the old one, which became active before it was created.
 */
const recordedFrom = (def: Job): number =>
  (def.plan!.schedules.some(({ activated }) => activated < def.created) ? def.created : -Infinity);

export interface BackfillBatch {
  /** The id of the definition. */
  readonly def: number;
  readonly ticks: readonly PastTick[];
  /** Whether the definitions that follow it get runs, too. */
  readonly followers: boolean;
  /** The id of the backfill run. */
  readonly backfill: number;
  /** What is known of the ticks; newer events are added to it. */
  readonly recorded: RecordedTicks;
}

/**
 * Creates the runs of those of these ticks that have none yet, in one commit with the event that records them. Returns
 * their ids.
 */
export async function backfillBatch(producer: Producer, batch: BackfillBatch, asker: Asker): Promise<readonly number[]> {
  const { store, ids } = producer;
  let following: Partial<NewFollowing> = {};
  const changes = await applyTogether(store, async () => {
    const def = await openDefinition(store, batch.def);
    await batch.recorded.readOn(store, def);
    const spec = taggedSpec(def, (await readTypes(store, [def.type])).get(def.type) ?? null, batch.backfill);
    const open = stillOpen(def, spec, batch);
    if (open.length === 0) return [];
    const now = store.now();
    const numbers = await ids.take(open.length);
    const decide: DecideTicks = (isRefused) =>
      backfillTicks(def, open, { now, ids: numbers, backfill: batch.backfill, isRefused });
    const ticks = { def, spec, key: null, decide, knowledge: registered(producer), isUnfollowed: !batch.followers };
    const ticked = await changesOfTicks(producer, ticks, now, asker);
    ({ following } = ticked);
    return ticked.changes;
  }, () => following);
  const outcomes = changes.flatMap(({ events }) => events).flatMap((event) => (event.kind === 'ticked' ? event.ticks : []));
  return outcomes.flatMap((tick) => ('run' in tick ? [tick.run] : []));
}

/** The newest events may have changed what is missing: the schedule, or another backfill, created a run, or was edited. */
function stillOpen(def: Job, spec: Spec, { ticks, recorded, backfill }: BackfillBatch): readonly PastTick[] {
  return [...Map.groupBy(ticks, ({ nominal }) => nominal)].flatMap(([nominal, wanted]) => {
    const all = ticksIn(def, spec, { from: nominal, to: nominal + 1 }).filter(({ isInGap }) => !isInGap);
    const open = new Set(withoutRun(all, recorded.runsAt(nominal)).map(({ schedule }) => schedule));
    return wanted.filter((tick) =>
      open.has(tick.schedule) && !isLeftToSchedule(def, tick) && !isRefusedBefore(recorded, tick, backfill));
  });
}

/** Whether an earlier attempt of this backfill was refused the run of the tick. */
export function isRefusedBefore(recorded: RecordedTicks, { schedule, nominal }: PastTick, backfill: number): boolean {
  return recorded.skipAt(schedule, nominal)?.backfill === backfill;
}

/** Returns the settings of the runs, with a tag that names the backfill. */
function taggedSpec(def: Job, type: TypeEntry | null, backfill: number): Spec {
  const spec = specOf(definitionOf(def), type);
  return { ...spec, tags: { ...spec.tags, [backfillTag]: String(backfill) } };
}

export async function openDefinition(store: Pick<Store, 'load'>, id: number): Promise<Job> {
  const [def] = await store.load([id]);
  if (def !== undefined && isOpen(def)) return def;
  throw deletedMeanwhile(id);
}

export const deletedMeanwhile = (id: number): Refusal =>
  new Refusal('unknown.definition', 'the definition was deleted meanwhile', { id });
