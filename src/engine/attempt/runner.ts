/**
 * The runner: executes claimed jobs, from the call of the handler to the stored outcome. A result, error, timeout or
 * abort of a handler becomes a command for the machine, unless this instance no longer holds the job. The end of a
 * planning phase is stored together with the tasks.
 */
import type { Jobs } from '../../jobs.ts';
import type { Command } from '../../model/command.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import type { Progress } from '../../model/progress.ts';
import { Refusal } from '../../refusal.ts';
import { isPromiseLike, andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import { RateLimited } from '../handler/errors.ts';
import { Tracker } from '../progress/tracker.ts';
import { AbandonedHandlers } from './abandoned-handlers.ts';
import type { Attempt } from './attempt.ts';
import type { Attempts } from './attempts.ts';
import type { JobBatch } from './job-batch.ts';
import { commandForError, commandForResult } from './command-for.ts';
import { Deadlines } from './deadlines.ts';
import { InputMisfit, misfitWaitMs } from './fitting-input.ts';
import {
  HandlerCaller, isIsolated, phaseOf, tasksPlanned, type Execution, type HandlerCallerParts,
} from './handler-caller.ts';
import { closeFor } from './limit-use.ts';
import { PendingOutcomes, type PendingOutcomesParts } from './pending-outcomes.ts';
import { isA, storedError } from './stored-error.ts';
import { captureStrayRejections } from './stray-rejections.ts';
import { TaskParents } from './task-parents.ts';
import type { TimeLimits } from './time-limits.ts';
import type { Tracing } from './tracing.ts';

export interface RunnerParts extends PendingOutcomesParts, Omit<HandlerCallerParts, 'parents'> {
  readonly jobs: Jobs;
  readonly registry: TypeRegistry;
  readonly tracing: Tracing;
  readonly attempts: Attempts;
  readonly hidesErrors: boolean;
  readonly timeLimits: TimeLimits;
  /** Whether other living code may accept the input of a job that this code refuses. */
  readonly mayOthersAccept: (job: Job) => Promise<boolean>;
}

const timeoutDefaultMs = 3_600_000;
const prepareTimeoutDefaultMs = 3_600_000;

export class Runner {
  readonly #parts: RunnerParts;
  readonly #parents: TaskParents;
  readonly #caller: HandlerCaller;
  readonly #deadlines: Deadlines;
  readonly #outcomes: PendingOutcomes;
  readonly #abandoned: AbandonedHandlers;
  #onHandled: (ms: number) => void = () => {};
  #onOutcomeDone = (): void => {};

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#parents = new TaskParents(parts.jobs.store);
    this.#caller = new HandlerCaller({ ...parts, parents: this.#parents });
    this.#deadlines = new Deadlines(parts.clock);
    this.#abandoned = new AbandonedHandlers(parts.clock, parts.logger);
    this.#outcomes = new PendingOutcomes(parts, (attempt) => {
      parts.attempts.remove(attempt);
      this.#onOutcomeDone();
    });
  }

  /** Sets the function that is called after each attempt, with its duration in milliseconds. */
  onHandled(call: (ms: number) => void): void {
    this.#onHandled = call;
  }

  /** Sets the function that is called when an outcome was stored or refused, or an attempt had none to store. */
  onOutcomeDone(call: () => void): void {
    this.#onOutcomeDone = call;
  }

  get pendingOutcomes(): number {
    return this.#outcomes.open;
  }

  get abandoned(): number {
    return this.#abandoned.count;
  }

  whenOutcomesStored(): Promise<void> {
    return this.#outcomes.whenNoneOpen();
  }

  /** Call with jobs that were claimed together, before they start: what their handlers need is read by few queries. */
  expect(jobs: readonly RunningJob[]): void {
    this.#caller.expect(jobs);
  }

  /**
   * Calls the handler of a job. Returns when the attempt is over, synchronously if the handler is synchronous. The
   * outcome is stored later. Never rejects.
   */
  run(job: RunningJob): MaybePromise<void> {
    const { clock, attempts, timeLimits } = this.#parts;
    const attempt = attempts.start(job);
    const startedAt = clock.monotonic();
    const execution = this.#executionOf(attempt, null);
    const limited = timeLimits.start(attempt.holding, timeoutOf(execution));
    timeLimits.enter(limited);
    const command = this.#perform(execution, startedAt);
    timeLimits.leave();
    return andThen(command, (command) => {
      timeLimits.end(limited);
      this.#onHandled(clock.monotonic() - startedAt);
      this.#outcomes.add(attempt, command);
    });
  }

  /** Calls the handler of a batch. Resolves when the attempts of all its jobs are over. Never rejects. */
  async runBatch(batch: JobBatch): Promise<void> {
    if (batch.jobs.length === 0) return batch.withdraw();
    const { clock, attempts, timeLimits, counts } = this.#parts;
    counts.noteBatch(batch.type.name, batch.jobs.length);
    const started = batch.jobs.map((job) => ({ job, attempt: attempts.start(job) }));
    const executions = new Map(started.map(({ job, attempt }) => [job, this.#executionOf(attempt, batch)]));
    // While the batch blocks the event loop, the limit of one job suffices: the instance then gives up all its jobs.
    const [first] = executions.values();
    const limited = timeLimits.start(first!.attempt.holding, timeoutOf(first!));
    const startedAt = clock.monotonic();
    timeLimits.enter(limited);
    const over = batch.run((job) => {
      const execution = executions.get(job)!;
      return andThen(this.#perform(execution, startedAt), (command) => this.#outcomes.add(execution.attempt, command));
    });
    timeLimits.leave();
    await over;
    timeLimits.end(limited);
  }

  /**
   * Calls the handler and returns the command to store. Null: the outcome is stored already, or this instance no longer
   * holds the job.
   */
  #perform(execution: Execution, startedAt: number): MaybePromise<Command | null> {
    const { attempt } = execution;
    try {
      const result = this.#callTraced(execution);
      if (isPromiseLike(result)) return this.#awaitWithTimeout(execution, result, startedAt);
      if (attempt.steps !== null) return this.#awaitWithTimeout(execution, Promise.resolve(result), startedAt);
      return this.#commandForResult(execution, result);
    } catch (error) {
      if (attempt.steps !== null) return this.#awaitWithTimeout(execution, Promise.reject(error), startedAt);
      return this.#commandForError(execution, error);
    }
  }

  #executionOf(attempt: Attempt, batch: JobBatch | null): Execution {
    const type = this.#parts.registry.require(attempt.job.type);
    const { clock, notes } = this.#parts;
    // The progress of an isolated handler is reported by another tracker, in the thread or process of the handler.
    // The steps of a planning are stored with those of the gathering, whose progress does not show them.
    const mayFollow = phaseOf(type, attempt.job) !== 'gather';
    const onChange = isIsolated(type, attempt.job)
      ? () => {}
      : (progress: Progress) => notes.progress(attempt.holding, progress, mayFollow && tracker.followsFromSteps);
    const tracker: Tracker = new Tracker({ clock, onChange });
    attempt.onAbort((reason) => tracker.cancel(reason));
    if (batch !== null) attempt.afterAbort((reason) => batch.abort(attempt.job.id, reason));
    return { type, attempt, tracker, batch };
  }

  /** Calls the handler inside an OpenTelemetry span. Logs promise rejections that the handler leaves unhandled. */
  #callTraced(execution: Execution): MaybePromise<unknown> {
    const { job } = execution.attempt;
    const { tracing } = this.#parts;
    const call = (): MaybePromise<unknown> => this.#caller.call(execution);
    return captureStrayRejections(
      (error) => this.#logStrayRejection(job, error),
      () => tracing.trying(job, (traced) => this.#parents.tagsOf(traced), call),
    );
  }

  async #awaitWithTimeout(
    execution: Execution,
    result: PromiseLike<unknown>,
    startedAt: number,
  ): Promise<Command | null> {
    const { attempt } = execution;
    const timeoutMs = timeoutOf(execution);
    const leftMs = Math.max(0, timeoutMs - (this.#parts.clock.monotonic() - startedAt));
    const stopTimer = this.#deadlines.after(leftMs, () => attempt.timeOut(timeoutMs));
    try {
      const value = await attempt.await(result);
      if (attempt.isCommitExpected) await attempt.confirmCommit();
      return this.#commandForResult(execution, value);
    } catch (error) {
      if (attempt.isCommitExpected) await attempt.confirmCommit().catch(() => {});
      if (attempt.isEnded) this.#abandoned.add(attempt.job, result);
      return await this.#commandForError(execution, error);
    } finally {
      stopTimer();
    }
  }

  #commandForResult({ attempt, tracker }: Execution, result: unknown): Command | null {
    if (attempt.isCompleted) return null;
    if (attempt.sleep !== null) tracker.end();
    else tracker.endReturned();
    return result === tasksPlanned ? null : commandForResult(result, attempt, this.#parts.jobs.store.now());
  }

  #commandForError(execution: Execution, error: unknown): MaybePromise<Command | null> {
    // A sleep ends the open stages of the progress as successful; the next attempt reports them again.
    if (execution.attempt.sleep !== null) execution.tracker.end();
    if (isA(RateLimited, error)) return this.#commandForRateLimit(execution, error);
    return isA(InputMisfit, error)
      ? this.#commandForMisfit(execution, error)
      : this.#commandForFailure(execution, error);
  }

  /**
   * Closes the limit, before the job is released: no other job may start in between. If the limit cannot be closed
   * because the store cannot be reached, the job is released all the same.
   */
  async #commandForRateLimit(execution: Execution, error: RateLimited): Promise<Command | null> {
    const { attempt: { job } } = execution;
    const { jobs: { store }, logger } = this.#parts;
    try {
      await closeFor(store, job, error.limit, store.now() + error.afterMs);
    } catch (cause) {
      if (isA(Refusal, cause) && cause.code === 'limit.unknown') return this.#commandForFailure(execution, cause);
      logger.warn(`cannot close the limit ${error.limit}; job ${job.id} is released`, { error: cause });
    }
    return this.#commandForFailure(execution, error);
  }

  /**
   * Returns the command for an input that this instance's schema refuses. If other living code may
   * accept it, or this cannot be found out, the job is released and due again after `misfitWaitMs`, so that another
   * instance can claim it. Otherwise the job fails.
   */
  async #commandForMisfit(execution: Execution, error: InputMisfit): Promise<Command | null> {
    const { job, holding: { fence } } = execution.attempt;
    const { mayOthersAccept, jobs, logger } = this.#parts;
    const failure = this.#commandForFailure(execution, error);
    try {
      if (failure?.do !== 'fail' || !(await mayOthersAccept(job))) return failure;
    } catch (cause) {
      logger.warn(
        `cannot find out whether other code knows the input of job ${job.id}; it is released`, { error: cause },
      );
    }
    return { do: 'release', fence, due: jobs.store.now() + misfitWaitMs(job) };
  }

  #commandForFailure({ type, attempt, tracker }: Execution, error: unknown): Command | null {
    const cause = tracker.endThrown(error);
    const isRetryable = (attempt.job.kind === 'task' && type.options.isTaskErrorRetryable) || (() => true);
    return commandForError(cause, attempt, this.#parts.jobs.store.now(), isRetryable);
  }

  #logStrayRejection({ id }: Job, error: unknown): void {
    const { logger, hidesErrors } = this.#parts;
    const about = hidesErrors ? { id, name: storedError(error).name ?? 'Error' } : { error, id };
    logger.error(`the handler of job ${id} has a rejected promise that it did not handle`, about);
  }
}

function timeoutOf({ type, attempt: { job } }: Execution): number {
  const { kind, policy } = job;
  return kind === 'run' && phaseOf(type, job) !== 'run'
    ? (policy.prepareTimeoutMs ?? prepareTimeoutDefaultMs)
    : (policy.timeoutMs ?? timeoutDefaultMs);
}
