/** A named limit: how many jobs may start per period, and how many may be running, across all types that list it. */
export interface Rate {
  readonly count: number;
  /** The period, in milliseconds. */
  readonly per: number;
  /** How many jobs may start at once after a quiet time. */
  readonly burst: number;
}

export interface LimitValues {
  readonly rate: Rate | null;
  readonly concurrency: number | null;
  /** Until when an operator has paused the limit; absent: it is not paused. */
  readonly pausedUntil?: number;
}

/** What a job takes of a named limit when it is claimed. `key`: null if the limit has no keys. */
export interface LimitUse {
  readonly name: string;
  readonly key: string | null;
  readonly cost: number;
}

/**
 * What is stored of the use of a rate (GCRA). `tat`, the theoretical arrival time, is the time at which nothing of the
 * rate is in use any more, if no further job starts. A start moves it by the cost of the job times `interval`.
 */
export interface RateUse {
  readonly tat: number;
  /** The milliseconds of a cost of 1 when `tat` was written. */
  readonly interval: number;
  /** Store time until which no job may start; null: the limit is not closed. */
  readonly closedUntil: number | null;
}

/** A limit under one key: its values, and how much of its rate is used. */
export interface LimitState extends RateUse {
  readonly values: LimitValues;
}

export const unusedRate: RateUse = { tat: 0, interval: 0, closedUntil: null };
export const noLimitValues: LimitValues = { rate: null, concurrency: null };

/** For how long a limit can be closed: a wrong unit in the answer of another system must not close it for years. */
export const closingMaxMs = 24 * 60 * 60 * 1000;

/** Returns the milliseconds that a cost of 1 takes from a rate. */
export const intervalOf = ({ count, per }: Rate): number => per / count;

/**
 * Bounds the error of sums of times in milliseconds: their doubles have steps of a quarter of a microsecond. Without this
 * tolerance, the last job of a burst could be refused.
 */
const roundingMs = 0.05;

/**
 * Returns the time at which nothing of the rate is in use any more, at least `now`. If the rate was changed since the
 * use was written, the cost in use stays the same, and takes as long as under the new rate.
 */
export function usedUntil(rate: Rate, { tat, interval }: RateUse, now: number): number {
  if (tat <= now) return now;
  return interval === intervalOf(rate) ? tat : now + ((tat - now) / interval) * intervalOf(rate);
}

/** Whether the rate was changed since the use was written, so that the use must be written anew with a cost of 0. */
export const isOutdated = ({ values: { rate }, tat, interval }: LimitState, now: number): boolean =>
  rate !== null && tat > now && interval !== intervalOf(rate);

/** Returns how many jobs of this cost may start now. */
export const roomIn = (rate: Rate, use: RateUse, cost: number, now: number): number =>
  Math.max(0, Math.floor(freeAt(rate, usedUntil(rate, use, now), cost, now) / (cost * intervalOf(rate))));

/** Returns the first whole millisecond at which a job of this cost may start; at most `now`: at once. */
export function opensAt(rate: Rate, use: RateUse, cost: number, now: number): number {
  const used = usedUntil(rate, use, now);
  const needed = cost * intervalOf(rate);
  const isOpen = (at: number): boolean => freeAt(rate, used, cost, at) >= needed;
  const opens = Math.ceil(used + needed - budgetOf(rate, cost) - roundingMs);
  return isOpen(opens) ? (isOpen(opens - 1) ? opens - 1 : opens) : opens + 1;
}

/** Returns the use of the rate after a job of this cost has started now. */
export const spend = (rate: Rate, use: RateUse, cost: number, now: number): RateUse =>
  ({ ...use, tat: usedUntil(rate, use, now) + cost * intervalOf(rate), interval: intervalOf(rate) });

/** Returns how many milliseconds of the rate are free at a time. */
const freeAt = (rate: Rate, used: number, cost: number, at: number): number =>
  budgetOf(rate, cost) - (used - at) + roundingMs;

/**
 * How far `tat` may be ahead of the time, in milliseconds. A job whose cost is above the burst, which may be lowered
 * after the creation of the job, starts when nothing of the rate is in use.
 */
const budgetOf = (rate: Rate, cost: number): number => Math.max(rate.burst, cost) * intervalOf(rate);
