/**
 * The definition: a named template of runs, with schedules. It is stored as a job of its own kind that is due at its
 * next tick, so it has a history, a version and a place in the claim order. This file decides the outcome of each tick.
 */
import {
  delayOf, dueTicks, nextTick, type DueTicks, type Misfire, type NextTick, type TickMoments,
} from '../time/ticks.ts';
import type { Schedule } from '../time/schedule.ts';
import { instantMax } from '../time/instant.ts';
import type { EventBody, TickOutcome, TickSkip } from './event.ts';
import type { AfterFailure, FollowOn, Link } from './following.ts';
import type { Job, Plan, Policy, SchedulePlan, Tags } from './job.ts';
import type { Json } from './json.ts';
import type { LimitUse } from './limit.ts';
import { keyAt } from './path.ts';
import { typeMaxOf, versionOfEntry, type TypeEntry } from './type-entry.ts';
import { limitsWithFairness, needsCode, usesAt, usesStoredOr } from './type-limit.ts';
import { firstTypeVersion } from './type-version.ts';

/**
 * The policy for a tick while an earlier run is open: `allow` starts another run, `skip` starts none, `queue` lets the
 * new run wait, `replace` cancels the earlier run and starts the new one after it.
 */
export type Overlap = 'allow' | 'skip' | 'queue' | 'replace';
export const overlaps: readonly Overlap[] = ['allow', 'skip', 'queue', 'replace'];

export interface Spec {
  readonly type: string;
  /** The input of the definition's runs; a request for a run can replace it. */
  readonly params: Json;
  /** The version of the type for which `params` were made; absent: the first. */
  readonly typeVersion?: number;
  readonly schedules: readonly Schedule[];
  /**
   * The definitions that this one follows, by name: each of its runs is created with a run of theirs, and starts when that
   * has ended. A definition that follows others has no schedules in effect. Absent or empty: it follows none.
   */
  readonly after?: readonly string[];
  /** Which end of the followed runs starts a run; absent: their success, or as `afterFailure` says. */
  readonly on?: FollowOn;
  readonly afterFailure?: AfterFailure;
  /**
   * Which results of the followed runs become parts of the input. In `params`, `{ $result, path }` is in their place.
   * Absent: none does.
   */
  readonly links?: readonly DefLink[];
  readonly policy: Policy;
  readonly priority: number;
  readonly overlap: Overlap;
  readonly misfire: Misfire;
  /**
   * Whether the runs of the type execute one at a time. If so, `overlap` considers the runs of all definitions of the
   * type.
   */
  readonly onePerType: boolean;
  readonly inMemory: boolean;
  readonly manualRuns: boolean;
  readonly tags: Tags | null;
  /** `phase`, `gate` and `limitKey` depend on the code of the type. They are stored for instances without that code. */
  readonly phase: 'run' | 'prepare';
  readonly gate: SpecGate | null;
  readonly limitKey: string | null;
  /** What each run takes of the named limits of its type; absent: nothing. Depends on the code of the type, too. */
  readonly limitUses?: readonly LimitUse[];
  /**
   * The settings that the definition sets itself. The other settings in this spec are copies from its type, made when
   * the definition was stored; they apply only if the type is not known. Absent: this spec applies as it is.
   */
  readonly own?: OwnSettings;
}

/** A part of the result of the run of a followed definition, and its place in the input. */
export interface DefLink extends Link {
  readonly def: string;
}

/** The settings that a definition sets itself although its type has them too. They take precedence over the type's. */
export interface OwnSettings {
  readonly policy: Policy;
  readonly priority?: number;
  readonly concurrency?: number;
  readonly onePerType?: true;
}

/** How many runs of the type, and of the definition, may be admitted at a time; absent: any number. */
export interface SpecGate {
  readonly typeMax?: number;
  readonly defMax?: number;
}

/**
 * A definition as the code declares it, and the operator's override. They are separate fields, so that a deploy does
 * not overwrite the override.
 */
export interface Definition {
  readonly code: Spec;
  readonly override: Partial<Spec> | null;
  /** The build that declared the definition; absent: no code declared it. */
  readonly build?: string;
  /** Whether the definition is disabled because no living build declares it. */
  readonly isAbandoned?: true;
  /** The definitions whose `after` names this one. Kept here, so that a tick need not search for them; absent: none. */
  readonly followers?: readonly string[];
}

/**
 * Returns the settings that are in effect. The operator's override takes precedence over the definition, and the
 * definition over its type. Without `type`, the copies of the type's settings in the definition apply.
 */
export function specOf(definition: Definition, type: TypeEntry | null = null): Spec {
  const { code, override } = definition;
  const base = type === null || code.own === undefined ? code : inheriting(code, code.own, type);
  const { limitUses, typeVersion: _version, links: _links, ...merged }: Spec =
    { ...base, ...override, policy: { ...base.policy, ...override?.policy } };
  const spec = followingSpec(merged, override);
  const typeVersion = override?.params === undefined ? base.typeVersion : override.typeVersion;
  const links = override?.params === undefined ? base.links : override.links;
  const isOtherVersion = type !== null && (typeVersion ?? firstTypeVersion) !== versionOfEntry(type);
  const uses = limitUsesOf(definition, spec.params, limitUses, type, isOtherVersion);
  // A definition cannot turn off the `onePerType` of its type.
  const onePerType = spec.onePerType || (type?.onePerType ?? false);
  const limits = { ...base.gate, ...override?.gate };
  return {
    ...spec,
    onePerType,
    gate: gateOf(onePerType ? 1 : limits.typeMax, defMaxOf(spec, limits.defMax)),
    limitKey: limitKeyOf(definition, spec, type?.keyPath ?? null, isOtherVersion),
    ...(uses.length === 0 ? {} : { limitUses: uses }),
    ...(typeVersion === undefined ? {} : { typeVersion }),
    ...(links === undefined || !isFollower(spec) ? {} : { links }),
  };
}

/**
 * A definition that follows others has no schedules in effect; one that follows none has no rule for following. `on` and
 * `afterFailure` exclude each other: one that is overridden replaces the other of the code.
 */
function followingSpec<T extends Pick<Spec, 'after' | 'on' | 'afterFailure' | 'schedules'>>(
  spec: T,
  override: Partial<Spec> | null,
): T {
  const { after, on, afterFailure, ...rest } = spec;
  if (after === undefined && on === undefined && afterFailure === undefined) return spec;
  if (!isFollower(spec)) return rest as unknown as T;
  const rule = override?.on === undefined && afterFailure !== undefined ? { afterFailure } : on === undefined ? {} : { on };
  return { ...rest, schedules: [], after, ...rule } as unknown as T;
}

/** Whether runs of the definition are created with runs of the definitions that it follows. */
export const isFollower = ({ after = [] }: Pick<Spec, 'after'>): boolean => after.length > 0;

/**
 * Returns how many runs of the definition may be admitted at a time. Each run of a follower belongs to a run of the
 * definition that it follows, so that none is skipped or replaced: unless `overlap` is `allow`, they wait for each other.
 */
function defMaxOf(spec: Pick<Spec, 'overlap' | 'after'>, defMax: number | undefined): number | undefined {
  if (spec.overlap === 'queue') return 1;
  return defMax ?? (isFollower(spec) && spec.overlap !== 'allow' ? 1 : undefined);
}

/**
 * Returns the limit key of the runs. If the type names a path of the input, the key is read from the parameters: the
 * path may have changed since the key was stored. Exceptions: if code declared the definition with these parameters, the
 * stored key is as new as the path, and comes from the output of the schema; and in parameters of another version of the
 * type, the path may lead to something else.
 */
function limitKeyOf(
  { code, override, build }: Definition,
  { params, limitKey }: Spec,
  keyPath: readonly string[] | null,
  isOtherVersion: boolean,
): string | null {
  const isOverridden = override?.params !== undefined;
  const isByCode = build !== undefined && !isOverridden;
  if (keyPath === null || isByCode || override?.limitKey !== undefined) return limitKey;
  const stored = isOverridden ? null : code.limitKey;
  const atPath = (): string | null => keyAt(params, keyPath) ?? null;
  return isOtherVersion ? (stored ?? atPath()) : (atPath() ?? stored);
}

/**
 * Returns what the runs take of the named limits of their type. As for the limit key, the parameters are read at the
 * paths that the type names, unless the stored uses are as new as these paths or only the code can compute them.
 */
function limitUsesOf(
  { override, build }: Definition,
  params: Json,
  stored: readonly LimitUse[] = [],
  type: TypeEntry | null,
  isOtherVersion: boolean,
): readonly LimitUse[] {
  const isOverridden = override?.params !== undefined;
  const isByCode = build !== undefined && !isOverridden;
  if (type === null || isByCode || override?.limitUses !== undefined) return stored;
  const limits = limitsWithFairness(type);
  if (needsCode(limits)) return stored;
  return isOtherVersion ? usesStoredOr(limits, isOverridden ? [] : stored, params) : usesAt(limits, params);
}

const inheriting = (code: Spec, own: OwnSettings, type: TypeEntry): Spec => ({
  ...code,
  policy: { ...type.policy, ...own.policy },
  priority: own.priority ?? type.priority,
  onePerType: own.onePerType ?? false,
  phase: type.phase,
  gate: gateOf(typeMaxOf(type), own.concurrency),
});

/** Returns the limits for the runs of a definition; null: they are not limited. */
export function gateOf(typeMax: number | undefined, defMax: number | undefined): SpecGate | null {
  if (typeMax === undefined && defMax === undefined) return null;
  return { ...(typeMax === undefined ? {} : { typeMax }), ...(defMax === undefined ? {} : { defMax }) };
}

export const definitionOf = (def: Job): Definition => JSON.parse(def.input) as Definition;

/** The unique key of the job that stores a definition: no two definitions have the same name. */
export const definitionKey = (name: string): string => `def ${name}`;

/** The unique key of an open run, if `isAlone`. If a tick finds the key taken, its run would overlap an open run. */
export const overlapKey = (name: string, spec: Pick<Spec, 'type' | 'onePerType'>): string =>
  spec.onePerType ? `live type ${spec.type}` : `live def ${name}`;

/**
 * The unique key of a run that must wait until another run, which has `overlapKey`, has ended. Either the waiting run
 * replaces the other run, or two definitions of a type with `onePerType` ticked at the same instant.
 */
export const waitingKey = (name: string): string => `next def ${name}`;

/**
 * Whether scheduled runs of the definition have `overlapKey` or `waitingKey`, so that at most one of them executes and
 * one waits.
 */
export const isAlone = ({ overlap }: Pick<Spec, 'overlap'>): boolean => overlap === 'skip' || overlap === 'replace';

/** The due time of a definition without a next tick. */
export const never = instantMax;

/** The start and end times of runs by id, for schedules that count their next tick from a run. */
export type RunMoments = ReadonlyMap<number, { readonly startedAt: number | null; readonly endedAt: number | null }>;

/** A run that a tick creates. */
export interface CalledRun {
  readonly id: number;
  readonly schedule: number;
  readonly nominal: number;
  readonly due: number;
}

export interface Ticking {
  readonly event: EventBody;
  readonly runs: readonly CalledRun[];
}

/**
 * Returns the plan for the schedules of `spec`. A schedule that `before` has too keeps its plan; the others start now.
 */
export function planOf(
  name: string,
  spec: Spec,
  now: number,
  before?: { readonly spec: Spec; readonly plan: Plan },
): Plan {
  const schedules = spec.schedules.map((schedule) => {
    const index = before?.spec.schedules.findIndex((known) => JSON.stringify(known) === JSON.stringify(schedule)) ?? -1;
    const plan = before?.plan.schedules[index];
    return plan ?? withNext({ activated: now, lastNominal: null, next: null, run: null }, schedule, name, new Map());
  });
  return { schedules };
}

export const dueOf = ({ schedules }: Plan): number =>
  Math.min(never, ...schedules.map(({ next }) => next?.due ?? never));

/** Returns how many runs the due ticks of the definition create if the overlap policy skips none. */
export function callsFor(def: Job, spec: Spec, now: number, runs: RunMoments): number {
  const callsOf = (plan: SchedulePlan, index: number): number =>
    dueNow(plan, spec, index, def.def!, now, runs)?.fire.length ?? 0;
  return def.plan!.schedules.map(callsOf).reduce((sum, calls) => sum + calls, 0);
}

/** Handles every tick that is due: creates a run or records a skip. Then plans the next tick. */
export function tick(def: Job, spec: Spec, given: TickGiven): Ticking {
  const ids = [...given.ids];
  const outcomes: TickOutcome[] = [];
  const runs: CalledRun[] = [];
  let isBusy = given.isBusy;
  const schedules = def.plan!.schedules.map((plan, index) => {
    const due = dueNow(plan, spec, index, def.def!, given.now, given.runs);
    if (due === null) return plan;
    const answered = answer(due, index, (occurrence, isNewest) => {
      if (isAlone(spec) && (isBusy || (spec.overlap === 'replace' && !isNewest))) return 'overlap';
      if (given.isRefused?.(index, occurrence.nominal)) return 'refused';
      isBusy = true;
      const run = { id: ids.shift()!, schedule: index, nominal: occurrence.nominal, due: occurrence.due };
      runs.push(run);
      return run.id;
    });
    outcomes.push(...answered);
    const lastRun = runs.findLast((run) => run.schedule === index)?.id ?? plan.run;
    return after(plan, spec.schedules[index]!, def.def!, due, lastRun, given.runs);
  });
  const plan = { schedules };
  return { event: { kind: 'ticked', ticks: outcomes, plan, due: dueOf(plan) }, runs };
}

export interface TickGiven {
  readonly now: number;
  /** Ids for the new runs, as many as `callsFor` returns. */
  readonly ids: readonly number[];
  /** Whether a run of the tick would overlap with an open run, or with another new run of the same commit. */
  readonly isBusy: boolean;
  readonly runs: RunMoments;
  /** Whether the run of this tick was refused; absent: none was. */
  readonly isRefused?: IsTickRefused;
}

export type IsTickRefused = (schedule: number, nominal: number) => boolean;

/**
 * Returns the event for a definition that is being enabled. It records the ticks that were due while the definition was
 * disabled as skipped. The schedules of the definition start from now.
 */
export function wakeUp(def: Job, spec: Spec, now: number): EventBody {
  const outcomes = def.plan!.schedules.flatMap((plan, index) => missed(plan, spec, index, def.def!, now, 'disabled'));
  const plan = planOf(def.def!, spec, now);
  return { kind: 'ticked', ticks: outcomes, plan, due: dueOf(plan) };
}

/**
 * Returns a skip for each tick of the removed schedules whose nominal time has passed, but which was not handled. With
 * `spreadMs`, a tick is due after its nominal time, so an edit can remove the schedule between these two times.
 */
export function removedTicks(def: Job, before: Spec, after: Spec, now: number): readonly TickOutcome[] {
  const remaining = new Set(after.schedules.map((schedule) => JSON.stringify(schedule)));
  return def.plan!.schedules.flatMap((plan, index) =>
    remaining.has(JSON.stringify(before.schedules[index])) ? [] : missed(plan, before, index, def.def!, now, 'edited'),
  );
}

/**
 * Returns a skip, with the reason `skipped`, for each tick whose nominal time has passed without an outcome. These
 * include ticks that `spreadMs` of their schedule delays until after `now`.
 */
function missed(
  plan: SchedulePlan,
  spec: Spec,
  index: number,
  name: string,
  now: number,
  skipped: TickSkip,
): TickOutcome[] {
  if (plan.next === null || plan.next.nominal > now) return [];
  const schedule = spec.schedules[index]!;
  const until = now + delayOf(schedule, name);
  const { fire, skips } = dueTicks(schedule, momentsOf(plan, new Map()), until, spec.misfire, name);
  return [...skips, ...fire.map(({ nominal }) => ({ from: nominal, to: nominal, count: 1 }))].map(
    ({ from, to, count }): TickOutcome => ({ schedule: index, nominal: from, to, count, skipped }),
  );
}

/**
 * Returns the event that plans the next ticks after awaited runs have started or ended; null: the plan does not change.
 */
export function goOn(def: Job, spec: Spec, runs: RunMoments): EventBody | null {
  const before = def.plan!.schedules;
  const schedules = before.map((plan, index) =>
    plan.next === null && plan.run !== null ? withNext(plan, spec.schedules[index]!, def.def!, runs) : plan,
  );
  if (schedules.every((plan, index) => plan === before[index])) return null;
  return { kind: 'ticked', ticks: [], plan: { schedules }, due: dueOf({ schedules }) };
}

/** Returns the ids of the runs whose start or end the definition's schedules wait for. */
export const awaitedRuns = (def: Job): readonly number[] =>
  (def.plan?.schedules ?? []).flatMap(({ next, run }) => (next === null && run !== null ? [run] : []));

function dueNow(
  plan: SchedulePlan,
  spec: Spec,
  index: number,
  name: string,
  now: number,
  runs: RunMoments,
): DueTicks | null {
  if (plan.next === null || plan.next.due > now) return null;
  return dueTicks(spec.schedules[index]!, momentsOf(plan, runs), now, spec.misfire, name);
}

/** Returns the id of the run of a tick, or why the tick is skipped. */
type Call = (tick: DueTicks['fire'][number], isNewest: boolean) => number | 'overlap' | 'refused';

function answer(due: DueTicks, schedule: number, call: Call): TickOutcome[] {
  const skipped = due.skips.map(({ from: nominal, to, count, reason }): TickOutcome => ({
    schedule, nominal, ...(to === nominal ? {} : { to, count }), skipped: reason,
  }));
  const fired = due.fire.map((occurrence, index): TickOutcome => {
    const run = call(occurrence, index === due.fire.length - 1);
    const { nominal, lateMs } = occurrence;
    return typeof run === 'string' ? { schedule, nominal, skipped: run } : { schedule, nominal, run, lateMs };
  });
  return [...skipped, ...fired].sort((a, b) => a.nominal - b.nominal);
}

function after(
  plan: SchedulePlan,
  schedule: Schedule,
  name: string,
  due: DueTicks,
  run: number | null,
  runs: RunMoments,
): SchedulePlan {
  const { ran, ...before } = plan;
  const on = { ...before, lastNominal: due.after, next: null, ...(ran && run === plan.run ? { ran } : {}) };
  // If no run was created, the next tick counts from the previous run, whose times are known.
  if (due.next === 'waiting') return run === plan.run ? withNext(on, schedule, name, runs) : { ...on, run };
  return { ...on, next: nextOf(due.next), run: countsFromRun(schedule) ? run : null };
}

/** Returns the plan with its next tick; unchanged if that tick depends on a run that has not started or ended yet. */
function withNext(plan: SchedulePlan, schedule: Schedule, name: string, runs: RunMoments): SchedulePlan {
  const next = nextTick(schedule, momentsOf(plan, runs), name);
  if (next === 'waiting') return plan;
  const ran = plan.run === null ? undefined : runs.get(plan.run);
  return { ...plan, next: nextOf(next), ...(ran ? { ran } : {}) };
}

const nextOf = (next: NextTick): SchedulePlan['next'] =>
  next === null || next === 'waiting' ? null : { nominal: next.nominal, due: next.due };

function momentsOf(plan: SchedulePlan, runs: RunMoments): TickMoments {
  const scheduled = plan.lastNominal ?? undefined;
  const base = { activated: plan.activated, scheduled, after: plan.lastNominal ?? plan.activated };
  if (plan.run === null) return base;
  const run = plan.ran ?? runs.get(plan.run);
  return { ...base, started: run?.startedAt ?? null, finished: run?.endedAt ?? null };
}

export function countsFromRun(schedule: Schedule): boolean {
  if (schedule.kind === 'every') return schedule.from !== 'scheduled';
  return schedule.kind === 'repeat' && !/^\s*scheduled/i.test(schedule.text);
}
