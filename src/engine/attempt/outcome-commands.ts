/** The commands for the outcomes of attempts: what is stored of a result or an error of a handler. */
import type { Jobs } from '../../jobs.ts';
import type { Logger } from '../../logger.ts';
import type { Command } from '../../model/command.ts';
import type { Job } from '../../model/job.ts';
import { Refusal } from '../../refusal.ts';
import type { MaybePromise } from '../../time/maybe-promise.ts';
import { RateLimited } from '../handler/errors.ts';
import { commandForError, commandForResult } from './command-for.ts';
import type { Execution } from './execution.ts';
import { InputMisfit, misfitWaitMs } from './fitting-input.ts';
import { tasksPlanned } from './handler-caller.ts';
import { closeFor } from './limit-use.ts';
import { isA } from './stored-error.ts';

export interface OutcomeCommandsParts {
  readonly jobs: Jobs;
  readonly logger: Logger;
  /** Whether other living code may accept the input of a job that this code refuses. */
  readonly mayOthersAccept: (job: Job) => Promise<boolean>;
}

/** Each command is null if the outcome is stored already, or this instance no longer holds the job. */
export class OutcomeCommands {
  readonly #parts: OutcomeCommandsParts;

  constructor(parts: OutcomeCommandsParts) {
    this.#parts = parts;
  }

  /** Returns the command for a value that a handler returned; throws if the attempt has failed all the same. */
  forResult({ attempt, tracker }: Execution, result: unknown): Command | null {
    if (attempt.isCompleted) return null;
    if (attempt.sleep !== null) tracker.end();
    else tracker.endReturned();
    return result === tasksPlanned ? null : commandForResult(result, attempt, this.#parts.jobs.store);
  }

  forError(execution: Execution, error: unknown): MaybePromise<Command | null> {
    // A sleep ends the open stages of the progress as successful; the next attempt reports them again.
    if (execution.attempt.sleep !== null) execution.tracker.end();
    if (isA(RateLimited, error)) return this.#forRateLimit(execution, error);
    return isA(InputMisfit, error)
      ? this.#forMisfit(execution, error)
      : this.#forFailure(execution, error);
  }

  /**
   * Closes the limit, before the job is released: no other job may start in between. If the limit cannot be closed
   * because the store cannot be reached, the job is released all the same.
   */
  async #forRateLimit(execution: Execution, error: RateLimited): Promise<Command | null> {
    const { attempt: { job } } = execution;
    const { jobs: { store }, logger } = this.#parts;
    try {
      await closeFor(store, job, error.limit, store.now() + error.afterMs);
    } catch (cause) {
      if (isA(Refusal, cause) && cause.code === 'limit.unknown') return this.#forFailure(execution, cause);
      logger.warn(`cannot close the limit ${error.limit}; job ${job.id} is released`, { error: cause });
    }
    return this.#forFailure(execution, error);
  }

  /**
   * Returns the command for an input that this instance's schema refuses. If other living code may
   * accept it, or this cannot be found out, the job is released and due again after `misfitWaitMs`, so that another
   * instance can claim it. Otherwise the job fails.
   */
  async #forMisfit(execution: Execution, error: InputMisfit): Promise<Command | null> {
    const { job, holding: { fence } } = execution.attempt;
    const { mayOthersAccept, jobs, logger } = this.#parts;
    const failure = this.#forFailure(execution, error);
    try {
      if (failure?.do !== 'fail' || !(await mayOthersAccept(job))) return failure;
    } catch (cause) {
      logger.warn(
        `cannot find out whether other code knows the input of job ${job.id}; it is released`, { error: cause },
      );
    }
    return { do: 'release', fence, due: jobs.store.now() + misfitWaitMs(job) };
  }

  #forFailure({ type, attempt, tracker }: Execution, error: unknown): Command | null {
    const cause = tracker.endThrown(error);
    const isRetryable = (attempt.job.kind === 'task' && type.options.isTaskErrorRetryable) || (() => true);
    return commandForError(cause, attempt, this.#parts.jobs.store.now(), isRetryable);
  }
}
