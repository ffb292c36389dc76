/** What a handler can throw to say more than "it failed", and what its signal can carry as reason. */
import { durationMs, type Duration } from '../../time/duration.ts';

/** The try failed and no other shall be made. */
export class Fail extends Error {
  override readonly name = 'Fail';
  readonly data: unknown;

  constructor(message: string, options: { readonly data?: unknown; readonly cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.data = options.data;
  }
}

/** The try failed; the next shall be made after this time. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter';
  readonly afterMs: number;

  constructor(after: Duration, message = `retry after ${after}`) {
    super(message);
    this.afterMs = durationMs(after);
  }
}

/** Not now: the job goes back for this time, and the try does not count. */
export class Snooze extends Error {
  override readonly name = 'Snooze';
  readonly forMs: number;

  constructor(duration: Duration) {
    super(`snoozed for ${duration}`);
    this.forMs = durationMs(duration);
  }
}

/** The job was asked to give up; thrown at safe points, and the reason of the handler's signal. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** The try took longer than it may. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Someone else holds the job now, or it was stopped: nothing this handler writes will be kept. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The engine is closing and its patience has ended: the job goes back without losing a try. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
