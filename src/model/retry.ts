/** The retry policy: how many attempts a job has, and how long it waits before each. */
import { Refusal } from '../refusal.ts';
import type { RefusalCode } from '../refusal.ts';

export interface RetryPolicy {
  /** The maximum number of attempts, including the first. */
  readonly attemptsMax: number;
  readonly backoff: Backoff;
  readonly baseMs: number;
  readonly maxMs: number;
  /** The fraction of a wait that is random, 0 to 1. */
  readonly jitter: number;
  /** The job fails when its lease has lapsed this many times (crashes). A crash does not count as an attempt. */
  readonly crashesMax: number;
}

export type Backoff = 'fixed' | 'linear' | 'exponential';

export const defaultRetry: RetryPolicy = {
  attemptsMax: 3,
  backoff: 'exponential',
  baseMs: 2_000,
  maxMs: 300_000,
  jitter: 0.5,
  crashesMax: 3,
};

const dayMs = 86_400_000;
const backoffs: readonly Backoff[] = ['fixed', 'linear', 'exponential'];
const bounds = {
  attemptsMax: [1, 1_000_000],
  baseMs: [0, 365 * dayMs],
  maxMs: [0, 365 * dayMs],
  crashesMax: [0, 1_000],
} as const;
const wholeFields = ['attemptsMax', 'baseMs', 'maxMs', 'crashesMax'] as const;

/** Fills in defaults. If `baseMs` exceeds the default of `maxMs` and no `maxMs` is given, `maxMs` equals `baseMs`. */
export function retryOf(given: Partial<RetryPolicy>): RetryPolicy {
  const baseMs = given.baseMs ?? defaultRetry.baseMs;
  return {
    attemptsMax: given.attemptsMax ?? defaultRetry.attemptsMax,
    backoff: given.backoff ?? defaultRetry.backoff,
    baseMs,
    maxMs: given.maxMs ?? Math.max(defaultRetry.maxMs, baseMs),
    jitter: given.jitter ?? defaultRetry.jitter,
    crashesMax: given.crashesMax ?? defaultRetry.crashesMax,
  };
}

/**
 * Returns after how many lapses of its lease a job fails. Crashes of a batch with other jobs are not counted: half as
 * many jobs are together after each, until the job is alone. A Bedrock job with `retryAfter` never fails for this
 * reason. Instead, `handOutsMax` limits how often it is handed out. Such a job has no limit at all if its name starts
 * with `manual`.
 */
export const crashesMaxOf = (
  policy: Partial<RetryPolicy> & { readonly retryAfter?: string; readonly batchMax?: number },
): number =>
  policy.retryAfter === undefined ? retryOf(policy).crashesMax + Math.ceil(Math.log2(policy.batchMax ?? 1)) : Infinity;

/** The names of the fields in refusals: those that the user wrote, if they differ from the stored names. */
export type RetryNames = Readonly<Record<keyof RetryPolicy, string>>;

const storedNames: RetryNames = {
  attemptsMax: 'attemptsMax', backoff: 'backoff', baseMs: 'baseMs', maxMs: 'maxMs', jitter: 'jitter',
  crashesMax: 'crashesMax',
};

/**
 * Validates a user's value and fills in defaults. Throws the refusal `malformed.option` or `malformed.number`. If the
 * value is an object, the detail of the refusal names the wrong field.
 */
export function checkRetry(given: unknown, names = storedNames): RetryPolicy {
  const policy = retryOf(checkFields(given));
  for (const field of wholeFields) checkWhole(names[field], policy[field], bounds[field]);
  checkBackoff(policy.backoff);
  checkJitter(policy.jitter);
  checkOrder(policy, names);
  return policy;
}

/**
 * Returns the wait after the given attempt (1, 2, …) has failed: `longestWaitMs`, reduced at random by at most the
 * fraction `jitter`. The same seed and attempt give the same wait, so that a simulation can be repeated.
 */
export function backoffMs(policy: RetryPolicy, attempt: number, seed: string | number): number {
  const longest = longestWaitMs(policy, attempt);
  return Math.round(longest * (1 - policy.jitter * chance(`${seed}/${attempt}`)));
}

/** Returns the wait without jitter. It never decreases from one attempt to the next. */
export function longestWaitMs({ backoff, baseMs, maxMs }: RetryPolicy, attempt: number): number {
  const failures = Math.max(1, attempt);
  switch (backoff) {
    case 'fixed':
      return Math.min(maxMs, baseMs);
    case 'linear':
      return Math.min(maxMs, baseMs * failures);
    case 'exponential':
      // Without the limit of 52, the power would become Infinity, and the product NaN if `baseMs` is 0. The limit
      // changes no wait, because 2^52 ms exceeds every `maxMs`.
      return Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 52));
  }
}

/**
 * Returns a pseudo-random number in [0, 1) that depends only on the text. It is the FNV-1a hash, passed through the
 * finalizer of MurmurHash3, because FNV-1a alone gives similar numbers for similar texts.
 */
function chance(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

function checkFields(given: unknown): Partial<RetryPolicy> {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Refusal('malformed.option', 'cannot read the retry policy: write an object such as { attemptsMax: 5 }');
  }
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(defaultRetry, field));
  if (unknown !== undefined) {
    throw refusedField('malformed.option', unknown, `a retry policy has only ${Object.keys(defaultRetry).join(', ')}`);
  }
  return given;
}

function checkWhole(name: string, value: unknown, [min, max]: readonly [min: number, max: number]): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
  throw refusedField('malformed.number', name, `it must be a whole number from ${min} to ${max}`);
}

function checkBackoff(backoff: unknown): void {
  if (backoffs.includes(backoff as Backoff)) return;
  throw refusedField('malformed.option', 'backoff', `it must be one of ${backoffs.join(', ')}`);
}

function checkJitter(jitter: unknown): void {
  if (typeof jitter === 'number' && jitter >= 0 && jitter <= 1) return;
  throw refusedField('malformed.number', 'jitter', 'it must be a number from 0 to 1');
}

function checkOrder({ baseMs, maxMs }: RetryPolicy, names: RetryNames): void {
  if (baseMs <= maxMs) return;
  throw refusedField('malformed.option', names.maxMs, `${maxMs} ms is below ${names.baseMs}, which is ${baseMs} ms`);
}

function refusedField(code: RefusalCode, field: string, why: string): Refusal {
  const shown = field.slice(0, 50);
  return new Refusal(code, `cannot take ${shown} in a retry policy: ${why}`, { field: shown });
}
