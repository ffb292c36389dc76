/** What an HTTP worker does about an error of a call. */
import type { Random } from '../random.ts';
import type { HttpOutcome } from './http-outcome.ts';
import { ProblemError } from './problem-error.ts';

const retryBaseMs = 200;
const retryMaxMs = 5_000;

/** Whether the server refused the call, so that the same call would be refused again. */
export const isFinal = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.status < 500 && error.status !== 408 && error.status !== 429;

/** Returns how long to wait after so many failures in a row. */
export const pauseMs = (failures: number, random: Random): number =>
  Math.min(retryMaxMs, retryBaseMs * 2 ** (failures - 1)) * (0.5 + random.next() / 2);

/**
 * Returns the failure to report instead if the server refuses a result, such as one that is too large. Null: the error
 * has another cause.
 */
export function unstorable({ route }: HttpOutcome, error: unknown): HttpOutcome | null {
  if (route !== 'complete' || !isFinal(error) || ![400, 413].includes(error.status)) return null;
  return { route: 'fail', body: { retryable: false, error: { code: 'missing output', message: error.message } } };
}
