/** Cron in a time zone: when an expression is due, including the hours that clocks skip and repeat. */
import { readCron, type CronSpec } from './cron-fields.ts';
import { nextWall } from './cron-walk.ts';
import { dayMs, daysOf } from './civil.ts';
import { checkInstant, instantMax } from './instant.ts';
import { malformed } from './malformed.ts';
import { offsetMax, stretchAt, type Stretch } from './zone.ts';

export type { CronSpec } from './cron-fields.ts';

// Not croner: its errors have no position, it has one fixed policy each for gap and overlap, and it makes some
// thousands of steps a second, where counting missed ticks needs hundreds of thousands. The tests compare with it.

/**
 * For times that do not exist: run at the end of the gap, as long after it as the time was inside it, or not at all.
 */
export type GapPolicy = 'next' | 'shift' | 'skip';
/** Which of two equal wall times to run at. */
export type OverlapPolicy = 'first' | 'last' | 'both';

export interface CronRules {
  readonly zone: string;
  /** Default: `next`. A repeating interval has no ticks in a gap and misses none. */
  readonly gap?: GapPolicy | undefined;
  /** Default: `first`; for a repeating interval `both`, since it continues in real time. */
  readonly overlap?: OverlapPolicy | undefined;
}

export interface CronTick {
  readonly at: number;
  /** The time that the expression names, as the UTC time with the same date and hour; in a gap, `at` differs. */
  readonly wall: number;
  readonly note?: 'gap' | 'overlap';
  /** Lost in a gap by the policy `skip`: recorded, but not run. */
  readonly skipped?: true;
}

/** Refuses a text that cannot be parsed, and dates that no year has. */
export function parseCron(text: string): CronSpec {
  const spec = readCron(text);
  if (nextWall(spec, daysOf(2000, 1, 1) * dayMs - 1) === null) {
    const sentence = 'No year has a day that fits: change the day of the month, the month or the weekday.';
    throw malformed('impossible.schedule', sentence, spec.text, spec.dayPosition);
  }
  return spec;
}

/** The first tick after an instant; null: none before the year 10000. */
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

// A hop crosses a change of offset or comes close to the next matching date; few are needed.
const hopsMax = 100;

interface Policies {
  readonly gap: GapPolicy | 'none';
  readonly overlap: OverlapPolicy;
}

function policiesOf({ isRhythm }: CronSpec, { gap, overlap }: CronRules): Policies {
  return { gap: gap ?? (isRhythm ? 'none' : 'next'), overlap: overlap ?? (isRhythm ? 'both' : 'first') };
}

/**
 * The instant itself, or two days (more than any offset or gap) before the next matching wall time, whichever is later.
 */
function hopFrom(spec: CronSpec, instant: number, afterWall: number): number | null {
  const wall = nextWall(spec, afterWall);
  return wall === null ? null : Math.max(instant, wall - 2 * dayMs);
}

/** The first tick after an instant within the stretch, whose offset is constant. Equal times are one tick. */
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

/** The tick of a time in the gap at the start of the stretch; with `next`, all times in one gap are one tick. */
function tickFromGap(spec: CronSpec, policy: Policies['gap'], stretch: Stretch, after: number): CronTick | null {
  const { from, before, offset } = stretch;
  if (before >= offset || (policy !== 'next' && policy !== 'shift')) return null;
  if (policy === 'next' && after >= from) return null;
  const wall = nextWall(spec, Math.max(after, from - 1) + before);
  if (wall === null || wall >= from + offset) return null;
  return { at: policy === 'next' ? from : wall - before, wall, note: 'gap' };
}

/**
 * The skipped tick of the gap at the end of the stretch. Its time is the last millisecond, at which no other tick can
 * be.
 */
function skippedTick(spec: CronSpec, policy: Policies['gap'], { to, offset, after }: Stretch): CronTick | null {
  if (policy !== 'skip' || after <= offset) return null;
  const wall = nextWall(spec, to + offset - 1);
  return wall !== null && wall < to + after ? { at: to - 1, wall, note: 'gap', skipped: true } : null;
}
