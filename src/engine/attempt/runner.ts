/**
 * The runner: executes claimed jobs, from the call of the handler to the stored outcome. A result, error, timeout or
 * abort of a handler becomes a command for the machine, unless this instance no longer holds the job. The end of a
 * planning phase is stored together with the tasks.
 */
import type { Jobs } from '../../jobs.ts';
import type { Command } from '../../model/command.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import { isPromiseLike, andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import { AbandonedHandlers } from './abandoned-handlers.ts';
import type { Attempts } from './attempts.ts';
import { BatchRunner } from './batch-runner.ts';
import type { JobBatch } from './job-batch.ts';
import { Deadlines } from './deadlines.ts';
import { startExecution, timeoutOf, type Execution } from './execution.ts';
import { HandlerCaller, type HandlerCallerParts } from './handler-caller.ts';
import { OutcomeCommands, type OutcomeCommandsParts } from './outcome-commands.ts';
import { PendingOutcomes, type PendingOutcomesParts } from './pending-outcomes.ts';
import { storedError } from './stored-error.ts';
import { captureStrayRejections } from './stray-rejections.ts';
import { TaskParents } from './task-parents.ts';
import type { TimeLimits } from './time-limits.ts';
import type { Tracing } from './tracing.ts';

export interface RunnerParts extends PendingOutcomesParts, OutcomeCommandsParts, Omit<HandlerCallerParts, 'parents'> {
  readonly jobs: Jobs;
  readonly registry: TypeRegistry;
  readonly tracing: Tracing;
  readonly attempts: Attempts;
  readonly hidesErrors: boolean;
  readonly timeLimits: TimeLimits;
}

export class Runner {
  readonly #parts: RunnerParts;
  readonly #parents: TaskParents;
  readonly #caller: HandlerCaller;
  readonly #deadlines: Deadlines;
  readonly #commands: OutcomeCommands;
  readonly #outcomes: PendingOutcomes;
  readonly #abandoned: AbandonedHandlers;
  readonly #batches: BatchRunner;
  #onHandled: (ms: number) => void = () => {};
  #onOutcomeDone = (): void => {};

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#parents = new TaskParents(parts.jobs.store);
    this.#caller = new HandlerCaller({ ...parts, parents: this.#parents });
    this.#commands = new OutcomeCommands(parts);
    this.#deadlines = new Deadlines(parts.clock);
    this.#abandoned = new AbandonedHandlers(parts.clock, parts.logger);
    this.#outcomes = new PendingOutcomes(parts, (attempt) => {
      parts.attempts.remove(attempt);
      this.#onOutcomeDone();
    });
    this.#batches = new BatchRunner({
      ...parts, caller: this.#caller, parents: this.#parents, commands: this.#commands, deadlines: this.#deadlines,
      outcomes: this.#outcomes, abandoned: this.#abandoned,
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
    const { clock, timeLimits } = this.#parts;
    const startedAt = clock.monotonic();
    const execution = startExecution(this.#parts, job);
    const { attempt } = execution;
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
  runBatch(batch: JobBatch): Promise<void> {
    return this.#batches.run(batch);
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
      return this.#commands.forResult(execution, result);
    } catch (error) {
      if (attempt.steps !== null) return this.#awaitWithTimeout(execution, Promise.reject(error), startedAt);
      return this.#commands.forError(execution, error);
    }
  }

  /** Calls the handler inside an OpenTelemetry span. Logs promise rejections that the handler leaves unhandled. */
  #callTraced(execution: Execution): MaybePromise<unknown> {
    const { job } = execution.attempt;
    const { tracing } = this.#parts;
    const call = (): MaybePromise<unknown> => this.#caller.call(execution);
    return captureStrayRejections(
      (error) => this.#logStrayRejection(job, error),
      tracing.isOn ? () => tracing.trying(job, (traced) => this.#parents.tagsOf(traced), call) : call,
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
      return this.#commands.forResult(execution, value);
    } catch (error) {
      if (attempt.isCommitExpected) await attempt.confirmCommit().catch(() => {});
      if (attempt.isEnded) this.#abandoned.add(attempt.job, result);
      return await this.#commands.forError(execution, error);
    } finally {
      stopTimer();
    }
  }

  #logStrayRejection({ id }: Job, error: unknown): void {
    const { logger, hidesErrors } = this.#parts;
    const about = hidesErrors ? { id, name: storedError(error).name ?? 'Error' } : { error, id };
    logger.error(`the handler of job ${id} has a rejected promise that it did not handle`, about);
  }
}
