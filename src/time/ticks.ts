/** Ticks: finds the next tick of a schedule, and decides which of the due ticks run and which are skipped. */
import { Refusal } from '../refusal.ts';
import { durationMax } from './duration.ts';
import { checkInstant } from './instant.ts';
import { kindOf } from './malformed.ts';
import type { Schedule } from './schedule.ts';
import { seriesOf, type Moments, type Occurrence, type Series, type Skip } from './series.ts';
import { spreadOf } from './spread.ts';

export type { Moments, Skip, SkipReason } from './series.ts';

export interface TickMoments extends Moments {
  /**
   * The nominal time of the last tick that ran or was skipped; before the first tick, `activated`. Only later ticks are
   * returned.
   */
  readonly after: number;
}

export interface Tick {
  /** The time of the tick by its schedule, without the spread. It identifies the tick within its schedule. */
  readonly nominal: number;
  /** When it runs: the nominal time plus the delay that follows from the spread and the name of the definition. */
  readonly due: number;
  /** For cron: the wall time that matches the expression, in milliseconds as defined in zone.ts. */
  readonly wall?: number;
  readonly note?: 'gap' | 'overlap';
  /** The wall time is in a gap and the policy is `skip`: `dueTicks` records the tick as skipped, and nothing runs. */
  readonly skipped?: true;
}

/** `waiting`: a run must start or finish first; null: there are no more ticks. */
export type NextTick = Tick | 'waiting' | null;

export interface Misfire {
  /** Which late ticks run. `skip`: none. `once`: only the newest, and none if a later tick is on time. `all`: each. */
  readonly policy: 'skip' | 'once' | 'all';
  /** A tick that is late by more than this, and by more than `graceMs`, does not run, whatever the policy. */
  readonly windowMs: number;
  /** How many of the due ticks of a schedule run at most, 1 to 1000. The newest ones run, the others are skipped. */
  readonly cap: number;
  /** A tick that is late by at most this is on time, and no misfire. Default: one minute. */
  readonly graceMs?: number;
}

/** One minute, so that a change of leader, a restart or a deploy causes no misfire. */
export const graceDefaultMs = 60_000;
const capMax = 1000;

export interface DueTick extends Tick {
  readonly lateMs: number;
}

export interface DueTicks {
  readonly fire: DueTick[];
  /**
   * Ranges of skipped ticks: consecutive ticks that are skipped for the same reason are one range, except ticks in
   * gaps.
   */
  readonly skips: Skip[];
  readonly next: NextTick;
  /** The nominal time of the last tick in `fire` and `skips`; if there is none, `moments.after`. */
  readonly after: number;
}

/** Returns the first tick after `moments.after`. The spread is computed from `name`, the name of the definition. */
export function nextTick(schedule: Schedule, moments: TickMoments, name: string): NextTick {
  const series = seriesOf(schedule, checkMoments(moments));
  if (series === 'waiting') return 'waiting';
  const next = series.next(Math.max(moments.after, moments.activated));
  return next && tickOf(next, delayOf(schedule, name));
}

/**
 * Returns the ticks that are due at `now`. Every due tick after `moments.after` is in `fire` or in one range of
 * `skips`. The result stays small even after years without ticking: `fire` has at most `cap` ticks, and ranges cover
 * the rest.
 */
export function dueTicks(
  schedule: Schedule, moments: TickMoments, now: number, misfire: Misfire, name: string,
): DueTicks {
  const series = seriesOf(schedule, checkMoments(moments));
  const delay = delayOf(schedule, name);
  const after = Math.max(moments.after, moments.activated);
  const plan = planOf(checkMisfire(misfire));
  if (series === 'waiting') return { fire: [], skips: [], next: 'waiting', after: moments.after };
  const until = Math.max(after, checkInstant(now) - delay);
  const { run, skips } = sort(series, after, until, plan);
  const fire = run.map((occurrence) => ({ ...tickOf(occurrence, delay), lateMs: now - occurrence.nominal - delay }));
  const last = Math.max(fire.at(-1)?.nominal ?? moments.after, skips.at(-1)?.to ?? moments.after);
  const next = series.next(Math.max(after, until));
  return {
    fire,
    skips,
    next: series.awaitsRun && fire.length > 0 ? 'waiting' : next && tickOf(next, delay),
    after: last,
  };
}

interface MisfirePlan {
  readonly policy: Misfire['policy'];
  readonly graceMs: number;
  readonly windowMs: number;
  readonly cap: number;
}

interface Sorted {
  readonly run: Occurrence[];
  readonly skips: Skip[];
}

/**
 * Divides the ticks in (after, until] into those that run and those that are skipped. From old to new: ticks skipped
 * because of the window, then because they are late, then because of the cap, and finally the ticks that run. A tick
 * whose `skipped` is set never runs.
 */
function sort(series: Series, after: number, until: number, plan: MisfirePlan): Sorted {
  const onTimeFrom = until - plan.graceMs;
  const windowFrom = plan.policy === 'skip' ? -Infinity : Math.min(until - plan.windowMs, onTimeFrom);
  const isOnTime = series.newest(Math.max(after, onTimeFrom - 1), until, 1).length > 0;
  const onlyOnTime = plan.policy === 'skip' || (plan.policy === 'once' && isOnTime);
  const runFrom = onlyOnTime ? onTimeFrom : windowFrom;
  const standsForAll = plan.policy === 'once' && !isOnTime;
  const chosen = choose(series, Math.max(after, runFrom - 1), until, standsForAll ? 1 : plan.cap);

  const end = (chosen[0]?.nominal ?? until + 1) - 1;
  const skips: Skip[] = [];
  let from = after;
  const skipUntil = (bound: number, reason: Skip['reason']): void => {
    const to = Math.min(bound, end);
    if (to > from) skips.push(...series.skips(from, to, reason));
    from = Math.max(from, to);
  };
  skipUntil(windowFrom - 1, 'window');
  skipUntil(runFrom - 1, 'misfire');
  skipUntil(end, standsForAll ? 'misfire' : 'cap');
  return { run: chosen.filter(({ skipped }) => !skipped), skips: [...skips, ...chosen.filter(isLost).map(lost)] };
}

/** Returns the newest occurrences of the series. If each depends on the run before it, returns only the next one. */
function choose(series: Series, after: number, until: number, most: number): Occurrence[] {
  if (!series.awaitsRun) return series.newest(after, until, most);
  const next = series.next(after);
  return next && next.nominal <= until ? [next] : [];
}

function isLost({ skipped }: Occurrence): boolean {
  return skipped === true;
}

function lost({ nominal }: Occurrence): Skip {
  return { from: nominal, to: nominal, count: 1, counted: true, reason: 'gap' };
}

function tickOf({ nominal, ...rest }: Occurrence, delay: number): Tick {
  return { nominal, due: nominal + delay, ...rest };
}

/** Returns how long after its nominal time a tick is due because of the spread; 0 without a spread. */
export function delayOf(schedule: Schedule, name: string): number {
  const spreadMs = schedule.kind === 'cron' || schedule.kind === 'every' ? schedule.spreadMs : undefined;
  return spreadMs === undefined ? 0 : spreadOf(name, spreadMs);
}

function planOf({ policy, windowMs, cap, graceMs = graceDefaultMs }: Misfire): MisfirePlan {
  return { policy, windowMs, cap, graceMs };
}

function checkMoments(moments: TickMoments): TickMoments {
  for (const name of ['activated', 'scheduled', 'started', 'finished', 'after'] as const) {
    const value = moments[name];
    if (value !== undefined && value !== null) checkInstant(value, `The moment ${name}`);
  }
  checkInstant(moments.activated, 'The moment activated');
  checkInstant(moments.after, 'The moment after');
  return moments;
}

export function checkMisfire(misfire: Misfire): Misfire {
  const { policy, windowMs, cap, graceMs = graceDefaultMs } = misfire;
  if (!['skip', 'once', 'all'].includes(policy)) {
    throw new Refusal('malformed.option', 'The misfire policy must be skip, once or all.');
  }
  checkWhole(windowMs, 0, durationMax, 'window in milliseconds');
  checkWhole(cap, 1, capMax, 'cap');
  checkWhole(graceMs, 0, durationMax, 'grace in milliseconds');
  return misfire;
}

function checkWhole(value: number, min: number, max: number, what: string): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  const sentence = `The ${what} of a misfire policy must be a whole number from ${min} to ${max}`;
  throw new Refusal('malformed.option', `${sentence}, not ${kindOf(value)}.`);
}
