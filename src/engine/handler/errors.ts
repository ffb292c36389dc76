/** The errors that a handler can throw to control its job, and the errors that can be the reason of its signal. */
import { closingMaxMs } from '../../model/limit.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { limitNameOf, type NamedLimit } from './context.ts';

/** Thrown by a handler: the job fails and is not retried. */
export class Fail extends Error {
  override readonly name = 'Fail';
  readonly data: unknown;

  constructor(message: string, options: { readonly data?: unknown; readonly cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.data = options.data;
  }
}

/** Thrown by a handler: the attempt fails. If attempts are left, the job is retried after `afterMs`. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter';
  readonly afterMs: number;

  constructor(after: Duration, message = `retry after ${after}`) {
    super(message);
    this.afterMs = durationMs(after);
  }
}

/**
 * Thrown by a handler when another system refuses requests for some time: no job that uses the limit starts for
 * `afterMs`, at most 24 hours, on any instance; if the limit has keys, no job with the same key. The attempt does not
 * count.
 */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
  readonly limit: string;
  readonly afterMs: number;

  constructor(limit: NamedLimit, retryAfter: Duration, message = `${limitNameOf(limit)} is closed for ${retryAfter}`) {
    super(message);
    this.limit = limitNameOf(limit);
    this.afterMs = Math.min(durationMs(retryAfter), closingMaxMs);
  }
}

/** Thrown by a handler: the job is due again after `forMs`, and the attempt does not count. */
export class Snooze extends Error {
  override readonly name = 'Snooze';
  readonly forMs: number;

  constructor(duration: Duration) {
    super(`snoozed for ${duration}`);
    this.forMs = durationMs(duration);
  }
}

/**
 * The attempt has ended because its handler sleeps. `sleep` throws it; let it pass. If a handler catches it, the attempt
 * has ended nevertheless.
 */
export class Sleeping extends Error {
  override readonly name = 'Sleeping';
  readonly until: Date;

  constructor(name: string, until: number) {
    super(`the handler sleeps (${name}) until ${new Date(until).toISOString()}`);
    this.until = new Date(until);
  }
}

/** A wait got no answer in time. If the handler does not catch it, the job fails and is not retried. */
export class AnswerTimedOut extends Error {
  override readonly name = 'AnswerTimedOut';

  constructor(name: string) {
    super(`nobody answered ${JSON.stringify(name)} in time`);
  }
}

/** Throws if the handler has ended its attempt with a sleep, also if it has caught the error of `sleep`. */
export function throwIfSleeping({ sleep }: { readonly sleep: { readonly name: string; readonly until: number } | null }): void {
  if (sleep !== null) throw new Sleeping(sleep.name, sleep.until);
}

/** The job was cancelled. This error is the reason of the handler's signal, and `startingStage` throws it. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** The attempt took longer than its timeout. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** This worker no longer holds the job, or cannot be sure that it does: its lease lapsed, or the job was stopped. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The engine closed before the handler returned: the job is released, and the attempt does not count. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
