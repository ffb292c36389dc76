/** Cron in a time zone: when an expression is due, including the hours that clocks skip and repeat. */
import { readCron, type CronSpec } from './cron-fields.ts';
import { nextWall } from './cron-walk.ts';
import { dayMs, daysOf } from './civil.ts';
import { checkInstant, instantMax } from './instant.ts';
import { malformed } from './malformed.ts';
import { offsetMax, stretchAt, type Stretch } from './zone.ts';

export type { CronSpec } from './cron-fields.ts';

// Why this is not the library croner: croner's errors have no position, and its policies for gaps and overlaps cannot
// be chosen. Croner computes some thousands of ticks a second; counting missed ticks needs hundreds of thousands. Tests
// compare the ticks of this file with those of croner.

/**
 * When to run for a wall time in a gap, which clocks skip. `next`: at the end of the gap. `shift`: later by the length
 * of the gap, so that 02:30 becomes 03:30. `skip`: not at all.
 */
export type GapPolicy = 'next' | 'shift' | 'skip';
/** When to run for a wall time that clocks show twice: the first time, the last time, or both times. */
export type OverlapPolicy = 'first' | 'last' | 'both';

export interface CronRules {
  readonly zone: string;
  /** Default: `next`; for a repeating interval: no tick for a gap, since the interval continues after the gap. */
  readonly gap?: GapPolicy | undefined;
  /** Default: `first`; for a repeating interval: `both`, so that it also ticks while clocks repeat an hour. */
  readonly overlap?: OverlapPolicy | undefined;
}

export interface CronTick {
  readonly at: number;
  /**
   * The wall time that matches the expression, in milliseconds as defined in zone.ts. Clocks show it at the instant
   * `at`, unless it is in a gap.
   */
  readonly wall: number;
  readonly note?: 'gap' | 'overlap';
  /** The wall time is in a gap and the policy is `skip`: the tick is recorded, but does not run. */
  readonly skipped?: true;
}

/** Parses a cron expression. Refuses a text that cannot be parsed, and dates that no year has, such as 30 February. */
export function parseCron(text: string): CronSpec {
  const spec = readCron(text);
  if (nextWall(spec, daysOf(2000, 1, 1) * dayMs - 1) === null) {
    const sentence = 'No year has a day that fits: change the day of the month, the month or the weekday.';
    throw malformed('impossible.schedule', sentence, spec.text, spec.dayPosition);
  }
  return spec;
}

/** Returns the first tick after an instant; null: none before the year 10000. */
export function nextCron(spec: CronSpec, rules: CronRules, after: number): CronTick | null {
  const policies = policiesOf(spec, rules);
  const start = Math.floor(checkInstant(after));
  let from = hopFrom(spec, start, start - offsetMax);
  for (let hop = 0; hop < hopsMax && from !== null; hop += 1) {
    const stretch = stretchAt(rules.zone, from + 1);
    const tick = tickWithin(spec, policies, stretch, from);
    if (tick) return tick.at <= instantMax ? tick : null;
    from = hopFrom(spec, stretch.to - 1, stretch.to + Math.min(stretch.offset, stretch.after) - 1);
  }
  return null;
}

// A bound on the loop of `nextCron`: after this many hops, `nextCron` returns null. Each hop passes a change of the
// zone's offset or skips to the next matching date, so a few hops suffice in practice.
const hopsMax = 100;

interface Policies {
  readonly gap: GapPolicy | 'none';
  readonly overlap: OverlapPolicy;
}

function policiesOf({ isRhythm }: CronSpec, { gap, overlap }: CronRules): Policies {
  return { gap: gap ?? (isRhythm ? 'none' : 'next'), overlap: overlap ?? (isRhythm ? 'both' : 'first') };
}

/**
 * Returns the instant from which to search: `instant`, or two days before the next matching wall time, whichever is
 * later. Two days are more than any offset plus any gap. Null: there is no further matching wall time.
 */
function hopFrom(spec: CronSpec, instant: number, afterWall: number): number | null {
  const wall = nextWall(spec, afterWall);
  return wall === null ? null : Math.max(instant, wall - 2 * dayMs);
}

/**
 * Returns the first tick after an instant within a stretch of constant offset; null: none. If a tick from a gap and a
 * regular tick fall on the same instant, only the tick from the gap is returned.
 */
function tickWithin(spec: CronSpec, policies: Policies, stretch: Stretch, after: number): CronTick | null {
  const ticks = [
    tickFromGap(spec, policies.gap, stretch, after),
    regularTick(spec, policies.overlap, stretch, after),
    skippedTick(spec, policies.gap, stretch),
  ];
  return ticks.reduce((first, tick) => (tick && (!first || tick.at < first.at) ? tick : first), null);
}

function regularTick(spec: CronSpec, policy: OverlapPolicy, stretch: Stretch, after: number): CronTick | null {
  const { from, to, offset } = stretch;
  const seenBefore = Math.max(from + offset, from + stretch.before);
  const seenAgain = Math.min(to + offset, to + stretch.after);
  const first = policy === 'first' ? Math.max(after + offset, seenBefore - 1) : after + offset;
  const end = policy === 'last' ? seenAgain : to + offset;
  const wall = nextWall(spec, first);
  if (wall === null || wall >= end) return null;
  const tick = { at: wall - offset, wall };
  return wall < seenBefore || wall >= seenAgain ? { ...tick, note: 'overlap' } : tick;
}

/**
 * Returns the tick for a wall time in the gap before the stretch; null: none. With `next`, all wall times in the gap
 * become one tick.
 */
function tickFromGap(spec: CronSpec, policy: Policies['gap'], stretch: Stretch, after: number): CronTick | null {
  const { from, before, offset } = stretch;
  if (before >= offset || (policy !== 'next' && policy !== 'shift')) return null;
  if (policy === 'next' && after >= from) return null;
  const wall = nextWall(spec, Math.max(after, from - 1) + before);
  if (wall === null || wall >= from + offset) return null;
  return { at: policy === 'next' ? from : wall - before, wall, note: 'gap' };
}

/**
 * Returns the skipped tick for wall times in the gap after the stretch; null: none. The tick's time `at` is the last
 * millisecond before the gap. All other ticks are at whole seconds, so no other tick has the same time.
 */
function skippedTick(spec: CronSpec, policy: Policies['gap'], { to, offset, after }: Stretch): CronTick | null {
  if (policy !== 'skip' || after <= offset) return null;
  const wall = nextWall(spec, to + offset - 1);
  return wall !== null && wall < to + after ? { at: to - 1, wall, note: 'gap', skipped: true } : null;
}
