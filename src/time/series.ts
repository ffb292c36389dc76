/**
 * The series of a schedule: finds and counts its occurrences. The time that this takes is bounded, even if a schedule
 * missed years of occurrences.
 */
import { BoundedMap } from './bounded-map.ts';
import { nextCron, parseCron, type CronSpec } from './cron.ts';
import { instantMax } from './instant.ts';
import { tryModifiers } from './modifiers.ts';
import { parseRepeat, periodOf, type Repeat, type RepeatBase } from './repeat.ts';
import type { Schedule } from './schedule.ts';

export interface Occurrence {
  readonly nominal: number;
  /** For cron: the wall time that matches the expression, in the zone of the schedule. */
  readonly wall?: number;
  readonly note?: 'gap' | 'overlap';
  /** The wall time is in a gap and the policy is `skip`: the occurrence is recorded, but does not run. */
  readonly skipped?: true;
}

export type SkipReason = 'misfire' | 'window' | 'cap' | 'gap';

/** A range of consecutive occurrences that do not run. */
export interface Skip {
  readonly from: number;
  readonly to: number;
  /** The number of occurrences; if `counted` is false, there are more. */
  readonly count: number;
  readonly counted: boolean;
  readonly reason: SkipReason;
}

export interface Series {
  /** Whether each occurrence depends on the start or end of the run before it. */
  readonly awaitsRun: boolean;
  next(after: number): Occurrence | null;
  /**
   * Returns the newest occurrences in (after, until] that run, at most `most`. Also returns the skipped occurrences
   * between these and after them.
   */
  newest(after: number, until: number, most: number): Occurrence[];
  /**
   * Returns all occurrences in (after, until] as ranges of skipped ones. The reason is `gap` for an occurrence whose
   * `skipped` is set, and `reason` for the others. If the occurrences must be visited one by one and are more than
   * `walkMax`, returns one range with `reason`.
   */
  skips(after: number, until: number, reason: SkipReason): Skip[];
}

/** The times from which the next occurrence is computed. */
export interface Moments {
  /** When the schedule became active or was last changed: there is no occurrence at or before this time. */
  readonly activated: number;
  /** The nominal time of the last tick, whether it ran or was skipped; undefined: there was no tick yet. */
  readonly scheduled?: number | undefined;
  /** The start of the last run; null: it has not started yet; undefined: there is no run. */
  readonly started?: number | null | undefined;
  /** The end of the last run; null: it has not finished yet; undefined: there is no run. */
  readonly finished?: number | null | undefined;
}

/**
 * Returns the series of a schedule; `waiting`: its next occurrence depends on a run that has not started or finished.
 */
export function seriesOf(schedule: Schedule, moments: Moments): Series | 'waiting' {
  if (schedule.kind === 'cron') return cronSeries(schedule, moments.activated);
  if (schedule.kind === 'at') return onceSeries(schedule.at, moments.activated);
  const rule = schedule.kind === 'repeat'
    ? repeatRules.getOrSet(schedule.text, () => parseRepeat(schedule.text))
    : null;
  const from = schedule.kind === 'every' ? schedule.from : rule!.base;
  const base = baseOf(from, moments);
  if (base === null) return 'waiting';
  const period = schedule.kind === 'every' ? schedule.everyMs : periodOf(rule!);
  if (period === null) return walkSeries(chainOf(rule!, base), from !== 'scheduled');
  return periodicSeries(schedule.kind === 'every' ? base : wholeSecond(base), period, from !== 'scheduled');
}

/** Whether the occurrences do not depend on when the schedule became active. */
export const isFixed = ({ kind }: Schedule): boolean => kind === 'cron' || kind === 'at';

/**
 * The maximum number of occurrences that are visited one by one. Of more skipped occurrences, only this many are
 * counted.
 */
export const walkMax = 10_000;

/** Returns the first occurrence after an instant; null: there is none. */
type Step = (after: number) => Occurrence | null;

/** How many parsed cron expressions, and how many parsed repeat rules, are cached. */
const parsedMax = 1000;
const cronSpecs = new BoundedMap<string, CronSpec>(parsedMax);
const repeatRules = new BoundedMap<string, Repeat>(parsedMax);

function cronSeries(schedule: Schedule & { kind: 'cron' }, activated: number): Series {
  const spec = cronSpecs.getOrSet(schedule.text, () => parseCron(schedule.text));
  return walkSeries((after) => {
    const tick = nextCron(spec, schedule, Math.max(after, activated));
    if (!tick) return null;
    const { at: nominal, ...rest } = tick;
    return { nominal, ...rest };
  }, false);
}

function onceSeries(at: number, activated: number): Series {
  return walkSeries((after) => (Math.max(after, activated) < at ? { nominal: at } : null), false);
}

/**
 * Returns the time from which the next occurrence is computed; null: it is the start or end of a run that has not
 * started or finished yet.
 */
function baseOf(from: RepeatBase, { activated, scheduled, started, finished }: Moments): number | null {
  const planned = Math.max(activated, scheduled ?? activated);
  if (from === 'scheduled') return planned;
  // A run that was cancelled before it started has no start time; its end is used instead.
  const moment = from === 'started' ? started ?? finished ?? started : finished;
  if (moment === null) return null;
  return moment === undefined ? planned : Math.max(activated, moment);
}

/**
 * Returns a function that finds the first occurrence of a repeat rule after an instant. Each occurrence is computed by
 * applying the rule to the previous one.
 */
function chainOf(rule: Repeat, base: number): Step {
  const chain = [base];
  return (after) => {
    const lower = Math.max(after, base);
    while (chain.at(-1)! <= lower && chain.length <= walkMax) {
      const next = follow(rule, chain.at(-1)!);
      if (next === null) return null;
      chain.push(next);
    }
    // If `walkMax` occurrences do not reach beyond `lower`, the rule is applied to `lower` itself. The times that
    // result from this are only approximate.
    const nominal = chain.at(-1)! > lower ? firstAfter(chain, lower) : follow(rule, lower);
    return nominal === null ? null : { nominal };
  };
}

function firstAfter(rising: number[], after: number): number {
  let [low, high] = [0, rising.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (rising[middle]! > after) high = middle;
    else low = middle + 1;
  }
  return rising[low]!;
}

/**
 * Returns the occurrence after `base`. If the result of the rule is not later than `base`, Bedrock makes the job due
 * immediately; here the occurrence is the next whole second after `base`, so that the series always advances.
 */
function follow(rule: Repeat, base: number): number | null {
  const next = tryModifiers(rule.modifiers, base);
  return next === null || next > base ? next : wholeSecond(base) + 1000;
}

function wholeSecond(instant: number): number {
  return Math.floor(instant / 1000) * 1000;
}

function periodicSeries(anchor: number, period: number, awaitsRun: boolean): Series {
  const indexAt = (instant: number): number => Math.max(0, Math.floor((instant - anchor) / period));
  const nominalOf = (index: number): number => anchor + index * period;
  return {
    awaitsRun,
    next: (after) => {
      const nominal = nominalOf(indexAt(after) + 1);
      return nominal <= instantMax ? { nominal } : null;
    },
    newest: (after, until, most) => {
      const last = indexAt(until);
      const first = Math.max(indexAt(after) + 1, last - most + 1);
      const length = Math.max(0, last - first + 1);
      return Array.from({ length }, (_, index) => ({ nominal: nominalOf(first + index) }));
    },
    skips: (after, until, reason) => {
      const [first, last] = [indexAt(after) + 1, indexAt(until)];
      if (last < first) return [];
      return [{ from: nominalOf(first), to: nominalOf(last), count: last - first + 1, counted: true, reason }];
    },
  };
}

function walkSeries(step: Step, awaitsRun: boolean): Series {
  const newest = (after: number, until: number, most: number): Occurrence[] => newestOf(step, after, until, most);
  return {
    awaitsRun,
    next: step,
    newest,
    skips: (after, until, reason) => {
      const { found, complete } = walk(step, after, until, walkMax);
      if (complete) return inRows(found, reason);
      const to = newest(after, until, 1).at(-1)!.nominal;
      return [{ from: found[0]!.nominal, to, count: found.length, counted: false, reason }];
    },
  };
}

interface WalkResult {
  readonly found: Occurrence[];
  /** Whether all occurrences up to `until` were found; false: there are more than `most`. */
  readonly complete: boolean;
}

function walk(step: Step, after: number, until: number, most: number): WalkResult {
  const found: Occurrence[] = [];
  let next = step(after);
  while (next !== null && next.nominal <= until) {
    if (found.length === most) return { found, complete: false };
    found.push(next);
    next = step(next.nominal);
  }
  return { found, complete: true };
}

/**
 * Returns the newest occurrences, as `Series.newest` says. If the range has more than `walkMax` occurrences, bisects it
 * to find a time near its end after which at least `most` occurrences run, so that only few have to be visited.
 */
function newestOf(step: Step, after: number, until: number, most: number): Occurrence[] {
  const whole = walk(step, after, until, walkMax);
  if (whole.complete) return tail(whole.found, most);
  let [tooMany, tooFew] = [after, until];
  while (tooFew - tooMany > 1) {
    const middle = Math.floor((tooMany + tooFew) / 2);
    const { found, complete } = walk(step, middle, until, 2 * most + 8);
    if (complete && runnable(found) >= most) return tail(found, most);
    if (complete) tooFew = middle;
    else tooMany = middle;
  }
  return tail(walk(step, tooFew, until, walkMax).found, most);
}

function runnable(found: Occurrence[]): number {
  return found.filter(({ skipped }) => !skipped).length;
}

/** Returns the last `most` occurrences that run, and the skipped occurrences between and after them. */
function tail(found: Occurrence[], most: number): Occurrence[] {
  let [start, left] = [found.length, most];
  for (let index = found.length - 1; index >= 0 && left > 0; index -= 1) {
    if (found[index]!.skipped) continue;
    start = index;
    left -= 1;
  }
  return found.slice(start);
}

function inRows(found: Occurrence[], reason: SkipReason): Skip[] {
  const rows: Skip[] = [];
  for (const { nominal, skipped } of found) {
    const why = skipped ? 'gap' : reason;
    const last = rows.at(-1);
    if (last?.reason === why) rows[rows.length - 1] = { ...last, to: nominal, count: last.count + 1 };
    else rows.push({ from: nominal, to: nominal, count: 1, counted: true, reason: why });
  }
  return rows;
}
