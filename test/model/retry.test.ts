// The retry policy: waits that are bounded, rising and repeatable, and bounds on what may be asked.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, checkRetry, defaultRetry, longestWaitMs, retryOf } from '../../src/model/retry.ts';
import type { RetryPolicy } from '../../src/model/retry.ts';
import { isRefusal } from '../../src/refusal.ts';

const exact = (policy: Partial<RetryPolicy>): RetryPolicy => checkRetry({ jitter: 0, ...policy });
const waits = (policy: RetryPolicy, attempts: number[]): number[] => attempts.map((n) => backoffMs(policy, n, 'job'));

function refusalOf(said: unknown): unknown {
  try {
    checkRetry(said);
  } catch (error) {
    if (isRefusal(error)) return [error.code, error.detail['field']];
    throw error;
  }
  return 'none';
}

const somePolicy = fc
  .record({
    attemptsMax: fc.integer({ min: 1, max: 1_000_000 }),
    backoff: fc.constantFrom('fixed' as const, 'linear' as const, 'exponential' as const),
    waits: fc.tuple(fc.nat(31_536_000_000), fc.nat(31_536_000_000)),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    crashesMax: fc.nat(1_000),
  })
  .map(({ waits, ...rest }) => checkRetry({ ...rest, baseMs: Math.min(...waits), maxMs: Math.max(...waits) }));
const someAttempt = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1_000_000 }));
const someSeed = fc.oneof(fc.string(), fc.integer());

describe('how long a wait is', () => {
  test('a fixed wait stays the same', () => {
    expect(waits(exact({ backoff: 'fixed', baseMs: 500 }), [1, 2, 9])).toEqual([500, 500, 500]);
  });

  test('a linear wait grows by its base', () => {
    expect(waits(exact({ backoff: 'linear', baseMs: 500 }), [1, 2, 9])).toEqual([500, 1_000, 4_500]);
  });

  test('an exponential wait doubles up to its maximum', () => {
    const policy = exact({ backoff: 'exponential', baseMs: 500, maxMs: 3_000 });
    expect(waits(policy, [1, 2, 3, 4, 5, 1_000_000])).toEqual([500, 1_000, 2_000, 3_000, 3_000, 3_000]);
  });

  test('a base of zero waits for nothing, at whichever try', () => {
    expect(waits(exact({ baseMs: 0 }), [1, 60, 5_000])).toEqual([0, 0, 0]);
  });

  test('by default the first waits are at most 2 s, 4 s and 8 s, and at least half of that', () => {
    for (const [attempt, longest] of [[1, 2_000], [2, 4_000], [3, 8_000]] as const) {
      const wait = backoffMs(defaultRetry, attempt, 4711);
      expect(wait).toBeLessThanOrEqual(longest);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
    }
  });

  test('a wait is a whole number within its jitter below the longest, which is within the maximum', () => {
    fc.assert(
      fc.property(somePolicy, someAttempt, someSeed, (policy, attempt, seed) => {
        const [wait, longest] = [backoffMs(policy, attempt, seed), longestWaitMs(policy, attempt)];
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(longest).toBeLessThanOrEqual(policy.maxMs);
        expect(wait).toBeLessThanOrEqual(longest);
        expect(wait).toBeGreaterThanOrEqual(Math.floor(longest * (1 - policy.jitter)));
      }),
    );
  });

  test('the longest wait never falls from one try to a later one', () => {
    fc.assert(
      fc.property(somePolicy, someAttempt, someAttempt, (policy, a, b) => {
        const [early, late] = [Math.min(a, b), Math.max(a, b)];
        expect(longestWaitMs(policy, late)).toBeGreaterThanOrEqual(longestWaitMs(policy, early));
      }),
    );
  });

  test('the same seed and try give the same wait', () => {
    fc.assert(
      fc.property(somePolicy, someAttempt, someSeed, (policy, attempt, seed) => {
        expect(backoffMs(policy, attempt, seed)).toBe(backoffMs({ ...policy }, attempt, seed));
      }),
    );
  });

  test('jobs that failed together come back spread over the whole of the jitter', () => {
    const policy = checkRetry({ backoff: 'fixed', baseMs: 10_000, jitter: 1 });
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let id = 1; id <= 10_000; id++) tenths[Math.min(9, Math.floor(backoffMs(policy, 1, id) / 1_000))]!++;
    for (const share of tenths) expect(Math.abs(share - 1_000)).toBeLessThan(200);
  });

  test('the tries of one job are spread too', () => {
    const policy = checkRetry({ backoff: 'fixed', baseMs: 10_000, jitter: 1 });
    const seen = new Set(Array.from({ length: 100 }, (_, at) => backoffMs(policy, at + 1, 7)));
    expect(seen.size).toBeGreaterThan(90);
  });
});

describe('what may be asked', () => {
  test('an empty policy means the defaults', () => {
    expect(checkRetry(undefined)).toEqual(defaultRetry);
    expect(checkRetry({})).toEqual(defaultRetry);
    expect(checkRetry({ baseMs: undefined })).toEqual(defaultRetry);
  });

  test('a policy among other fields is picked out and filled in', () => {
    const policy = { attemptsMax: 9, priority: 5 };
    expect(retryOf(policy)).toEqual({ ...defaultRetry, attemptsMax: 9 });
  });

  test('a base beyond the default maximum raises the maximum', () => {
    expect(checkRetry({ baseMs: 600_000 }).maxMs).toBe(600_000);
  });

  test.each([
    [{ attemptsMax: 1 }, 'none'],
    [{ attemptsMax: 0 }, ['malformed.number', 'attemptsMax']],
    [{ attemptsMax: 1_000_000 }, 'none'],
    [{ attemptsMax: 1_000_001 }, ['malformed.number', 'attemptsMax']],
    [{ attemptsMax: 2.5 }, ['malformed.number', 'attemptsMax']],
    [{ attemptsMax: '3' }, ['malformed.number', 'attemptsMax']],
    [{ attemptsMax: Infinity }, ['malformed.number', 'attemptsMax']],
    [{ crashesMax: 0 }, 'none'],
    [{ crashesMax: -1 }, ['malformed.number', 'crashesMax']],
    [{ crashesMax: 1_001 }, ['malformed.number', 'crashesMax']],
    [{ baseMs: -1 }, ['malformed.number', 'baseMs']],
    [{ baseMs: NaN }, ['malformed.number', 'baseMs']],
    [{ maxMs: 365 * 86_400_000 }, 'none'],
    [{ maxMs: 365 * 86_400_000 + 1 }, ['malformed.number', 'maxMs']],
    [{ baseMs: 2_000, maxMs: 1_999 }, ['malformed.option', 'maxMs']],
    [{ jitter: 1 }, 'none'],
    [{ jitter: 1.01 }, ['malformed.number', 'jitter']],
    [{ jitter: NaN }, ['malformed.number', 'jitter']],
    [{ backoff: 'cubic' }, ['malformed.option', 'backoff']],
    [{ backoff: 'constructor' }, ['malformed.option', 'backoff']],
    [{ retries: 3 }, ['malformed.option', 'retries']],
    [{ toString: 3 }, ['malformed.option', 'toString']],
    [JSON.parse('{"__proto__": 3}'), ['malformed.option', '__proto__']],
    [null, ['malformed.option', undefined]],
    [[], ['malformed.option', undefined]],
    [5, ['malformed.option', undefined]],
  ])('%j is answered with %j', (said, expected) => {
    expect(refusalOf(said)).toEqual(expected);
  });
});
