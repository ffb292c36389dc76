/** The outcome of a handler of an HTTP worker: the route that stores it, and the body without the fence. */
import { Cancelled, Fail, Interrupted, RetryAfter, Snooze, TimedOut } from '../engine/handler/errors.ts';
import type { RequestArguments } from '../http/contract.ts';

type OutcomeBody<N extends 'complete' | 'fail' | 'release'> = Omit<RequestArguments<N> extends { readonly body: infer B } ? B : never, 'fence'>;

export type HttpOutcome =
  | { readonly route: 'complete'; readonly body: OutcomeBody<'complete'> }
  | { readonly route: 'fail'; readonly body: OutcomeBody<'fail'> }
  | { readonly route: 'release'; readonly body: OutcomeBody<'release'> };

const messageMax = 4_000;
const stackMax = 8_000;
const nameMax = 200;

export const outcomeOfResult = (result: unknown): HttpOutcome => ({ route: 'complete', body: { result: result ?? null } });

/** Returns the outcome for a value that a handler threw. */
export function outcomeOfError(error: unknown, signal: AbortSignal): HttpOutcome {
  if (signal.reason instanceof Interrupted) return { route: 'release', body: {} };
  if (error instanceof Snooze) return { route: 'release', body: { delay: error.forMs } };
  const body = { error: reportedError(error), retryable: !(error instanceof Fail || error instanceof Cancelled) };
  return { route: 'fail', body: error instanceof RetryAfter ? { ...body, retryAfter: error.afterMs } : body };
}

function reportedError(error: unknown): OutcomeBody<'fail'>['error'] {
  if (!(error instanceof Error)) return { message: `${typeof error}: ${String(error)}`.slice(0, messageMax) };
  const { code: id, data } = error as Error & { readonly code?: unknown; readonly data?: unknown };
  return {
    message: (error.message || error.name).slice(0, messageMax),
    name: error.name.slice(0, nameMax),
    ...(error instanceof TimedOut ? { code: 'timed out' as const } : {}),
    ...(typeof id === 'string' ? { id: id.slice(0, nameMax) } : {}),
    ...(data === undefined ? {} : { data }),
    ...(error.stack === undefined ? {} : { stack: error.stack.slice(0, stackMax) }),
  };
}
