/** What the handler of a batch receives for each job, and returns for each job. */
import type { Context } from './context.ts';

/** A job of a batch. It has its own claim, timeout, cancel, log and outcome. */
export interface BatchJob<Input>
  extends Pick<Context, 'run' | 'signal' | 'progress' | 'log' | 'output' | 'limits' | 'idempotencyKey' | 'fence'> {
  readonly input: Input;
  /** Returns the outcome of a job that has succeeded, with its result. */
  done(): BatchOutcome<undefined>;
  done<Result>(result: Result): BatchOutcome<Result>;
  /**
   * Returns the outcome of a job that has failed. An error has the effect that it has when the handler of a single job
   * throws it: `Fail`, `RetryAfter`, `Snooze` and `RateLimited` too.
   */
  failed(error: unknown): BatchOutcome<never>;
}

export type JobOutcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** The outcome of one job of a batch: made by `done` or `failed` of the job. */
export class BatchOutcome<Result> {
  readonly job: number;
  readonly outcome: JobOutcome<Result>;

  constructor(job: number, outcome: JobOutcome<Result>) {
    this.job = job;
    this.outcome = outcome;
  }
}
