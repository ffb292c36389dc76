/** The errors with which a handler can control its job, and those that its signal can have as reason. */
import { durationMs, type Duration } from '../../time/duration.ts';

/** The attempt failed, and the job must not be retried. */
export class Fail extends Error {
  override readonly name = 'Fail';
  readonly data: unknown;

  constructor(message: string, options: { readonly data?: unknown; readonly cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.data = options.data;
  }
}

/** The attempt failed; the job is retried after this time. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter';
  readonly afterMs: number;

  constructor(after: Duration, message = `retry after ${after}`) {
    super(message);
    this.afterMs = durationMs(after);
  }
}

/** The job is due again after this time, and the attempt does not count. */
export class Snooze extends Error {
  override readonly name = 'Snooze';
  readonly forMs: number;

  constructor(duration: Duration) {
    super(`snoozed for ${duration}`);
    this.forMs = durationMs(duration);
  }
}

/** The job was cancelled. The tracker throws it before a stage; the handler's signal has it as reason. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** The attempt took longer than its timeout. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Another worker has claimed the job, or it was stopped: the store refuses further writes of this handler. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The engine closed before the handler returned: the job is released, and the attempt does not count. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
