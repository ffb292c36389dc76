/** Schedules: when a definition is due, as plain data that can be stored, sent and shown. */
import { didYouMean } from '../did-you-mean.ts';
import { Refusal, type RefusalCode } from '../refusal.ts';
import { parseCron, type GapPolicy, type OverlapPolicy } from './cron.ts';
import { daysOf, dayMs } from './civil.ts';
import { durationMs, type Duration } from './duration.ts';
import { checkInstant, parseInstant } from './instant.ts';
import { kindOf } from './malformed.ts';
import { applyModifiers, parseRepeat, type RepeatBase } from './repeat.ts';
import { checkZone } from './zone.ts';

export type Schedule = CronSchedule | EverySchedule | RepeatSchedule | AtSchedule;

export interface CronSchedule {
  readonly kind: 'cron';
  readonly text: string;
  readonly zone: string;
  readonly gap?: GapPolicy;
  readonly overlap?: OverlapPolicy;
  readonly spreadMs?: number;
}

export interface EverySchedule {
  readonly kind: 'every';
  readonly everyMs: number;
  readonly from: RepeatBase;
  readonly spreadMs?: number;
}

export interface RepeatSchedule {
  readonly kind: 'repeat';
  readonly text: string;
}

export interface AtSchedule {
  readonly kind: 'at';
  readonly at: number;
}

export interface CronOptions {
  /** The IANA name of a time zone. Default: `UTC`; the zone of the process is not used. */
  zone?: string;
  /**
   * For times that clocks skip: run at the `next` existing time (default), `shift` by the length of the gap, or `skip`.
   * By default, a repeating interval such as `0 * * * *` has no extra run for skipped times.
   */
  gap?: GapPolicy;
  /**
   * For times that clocks show twice: run at the `first` (default), the `last`, or `both`. The default of a repeating
   * interval such as `0 * * * *` is `both`.
   */
  overlap?: OverlapPolicy;
  /** Delays each run by up to this duration; the delay depends on the definition's name. */
  spread?: Duration;
}

export interface EveryOptions {
  /** Counts from the last tick (`scheduled`, the default), or from the start or end of the last run. */
  from?: RepeatBase;
  /** Delays each run by up to this duration; the delay depends on the definition's name. */
  spread?: Duration;
}

/** A cron expression of five fields, or six with the seconds first: `cron('30 2 * * *', { zone: 'Europe/Berlin' })`. */
export function cron(text: string, options: CronOptions = {}): CronSchedule {
  checkKeys(options, ['zone', 'gap', 'overlap', 'spread'], 'malformed.option', 'cron()');
  const { spread, zone = 'UTC', gap, overlap } = options;
  return checkCron({ kind: 'cron', text, zone, ...known({ gap, overlap, spreadMs: spreadMsOf(spread) }) });
}

/**
 * An interval: `every('15m', { from: 'finished' })`. The first tick is one interval after the schedule becomes active.
 */
export function every(interval: Duration | number, options: EveryOptions = {}): EverySchedule {
  checkKeys(options, ['from', 'spread'], 'malformed.option', 'every()');
  const { from = 'scheduled', spread } = options;
  return checkEvery({ kind: 'every', everyMs: durationMs(interval), from, ...known({ spreadMs: spreadMsOf(spread) }) });
}

/**
 * A Bedrock repeat rule: a base (SCHEDULED, STARTED, FINISHED), then modifiers in order; or HOURLY, DAILY, WEEKLY.
 * `repeat('FINISHED, +1 DAY, START OF DAY, +4 HOURS')`: at 04:00 UTC on the day after the last run ended.
 */
export function repeat(text: string): RepeatSchedule {
  return checkRepeat({ kind: 'repeat', text });
}

/** One tick at a fixed time. A text must contain its zone, as in `2026-03-29T02:30:00Z`; a number is ms since 1970. */
export function at(time: Date | string | number): AtSchedule {
  const instant = time instanceof Date ? time.getTime() : typeof time === 'string' ? parseInstant(time) : time;
  return checkAt({ kind: 'at', at: instant });
}

/**
 * Validates a schedule that was stored or sent. Refuses a schedule that `cron`, `every`, `repeat` or `at` would refuse.
 */
export function checkSchedule(json: unknown): Schedule {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw wrong(`A schedule must be an object, not ${kindOf(json)}.`);
  }
  const { kind } = json as Fields;
  switch (kind) {
    case 'cron': return checkCron(json);
    case 'every': return checkEvery(json);
    case 'repeat': return checkRepeat(json);
    case 'at': return checkAt(json);
    default: throw wrong('The kind of a schedule must be cron, every, repeat or at.');
  }
}

type Fields = Readonly<Record<string, unknown>>;

const bases = ['scheduled', 'started', 'finished'] as const;
const gaps = ['next', 'shift', 'skip'] as const;
const overlaps = ['first', 'last', 'both'] as const;

function checkCron(json: object): CronSchedule {
  checkKeys(json, ['kind', 'text', 'zone', 'gap', 'overlap', 'spreadMs'], 'malformed.schedule', 'a cron schedule');
  const { text, zone, gap, overlap, spreadMs } = json as Fields;
  return {
    kind: 'cron',
    text: parseCron(text as string).text,
    zone: checkZone(zone),
    ...known({
      gap: optionalOf(gap, gaps, 'gap'),
      overlap: optionalOf(overlap, overlaps, 'overlap'),
      spreadMs: spreadMs === undefined ? undefined : checkMs(spreadMs, 'spreadMs'),
    }),
  };
}

function checkEvery(json: object): EverySchedule {
  checkKeys(json, ['kind', 'everyMs', 'from', 'spreadMs'], 'malformed.schedule', 'an every schedule');
  const { everyMs, from, spreadMs } = json as Fields;
  const ms = checkMs(everyMs, 'everyMs');
  if (ms === 0) throw new Refusal('impossible.schedule', 'The interval of every() must be longer than zero.');
  return {
    kind: 'every',
    everyMs: ms,
    from: optionalOf(from, bases, 'from') ?? 'scheduled',
    ...known({ spreadMs: spreadMs === undefined ? undefined : checkMs(spreadMs, 'spreadMs') }),
  };
}

function checkRepeat(json: object): RepeatSchedule {
  checkKeys(json, ['kind', 'text'], 'malformed.schedule', 'a repeat schedule');
  const text = (json as Fields)['text'] as string;
  // The rule is applied to an arbitrary day, to refuse a rule whose result is outside the years 0000 to 9999.
  applyModifiers(parseRepeat(text).modifiers, daysOf(2026, 1, 1) * dayMs);
  return { kind: 'repeat', text };
}

function checkAt(json: object): AtSchedule {
  checkKeys(json, ['kind', 'at'], 'malformed.schedule', 'an at schedule');
  return { kind: 'at', at: checkInstant((json as Fields)['at'], 'The time of at()') };
}

function checkKeys(json: object, allowed: string[], code: RefusalCode, what: string): void {
  const unknown = Object.keys(json).find((key) => !allowed.includes(key));
  if (unknown === undefined) return;
  const suggestion = didYouMean(unknown, allowed) || '.';
  const sentence = `${what} has no ${unknown.slice(0, 40)}: it can have ${allowed.join(', ')}${suggestion}`;
  throw new Refusal(code, sentence.charAt(0).toUpperCase() + sentence.slice(1));
}

function optionalOf<T extends string>(value: unknown, allowed: readonly T[], what: string): T | undefined {
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
  throw wrong(`The ${what} of a schedule must be one of ${allowed.join(', ')}.`);
}

function checkMs(value: unknown, what: string): number {
  if (typeof value !== 'number') throw wrong(`The ${what} of a schedule must be a number, not ${kindOf(value)}.`);
  return durationMs(value);
}

function spreadMsOf(spread: Duration | undefined): number | undefined {
  return spread === undefined ? undefined : durationMs(spread);
}

type Known<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops undefined fields, as JSON does, so that a schedule is equal to the stored or sent copy of it. */
function known<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<T>;
}

function wrong(sentence: string): Refusal {
  return new Refusal('malformed.schedule', sentence);
}
