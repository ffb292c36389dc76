/** The context: the properties that every handler receives in addition to its input and task. */
import type { FailurePolicy } from '../../model/progress.ts';
import type { StoreTransaction } from '../../store/store.ts';
import type { Duration } from '../../time/duration.ts';
import type { JobOutput } from './output.ts';
import type { StepFunctions } from './step.ts';

export interface Context extends StepFunctions {
  /** The run; for a task, the run that the task belongs to, with the `dueTime` and `attempt` of the task itself. */
  readonly run: RunFacts;
  /**
   * Aborts when the job is cancelled, times out or loses its lease, or the engine closes. Its `reason` is one of the
   * errors `Cancelled`, `TimedOut`, `LeaseLost` and `Interrupted`.
   */
  readonly signal: AbortSignal;
  /** Reports progress, as stages and items that can be watched live. */
  readonly progress: ProgressTracker;
  /** Writes lines to the log of the job. */
  readonly log: JobLog;
  /** Writes chunks that readers get while the handler is still working, such as the answer of an LLM. */
  readonly output: JobOutput;
  /** Spends more of the named limits of the job than its cost at the start. */
  readonly limits: JobLimits;
  /**
   * A key that is the same for every attempt of this job, so that other systems can detect a repeated request. When an
   * operator retries an ended job, the job gets a new key.
   */
  readonly idempotencyKey: string;
  /** Rises with every claim of the job, so that other systems can refuse requests of a worker that has lost the job. */
  readonly fence: number;
  /**
   * Returns a value with a token: `return context.handOff({ within: '1h' })`. If the handler returns this value, the
   * job stays open until another system finishes it with the token. If `within` passes first, the lease of the job has
   * lapsed, which counts as a crash.
   */
  readonly handOff: (options?: { readonly within?: Duration }) => HandedOff;
  /**
   * Ends the job with success, in one transaction with the writes of `work` to your own tables in the database of the
   * store: `return context.complete((tx) => …)`. The value of `work` is the result. If `work` throws, or the job was
   * cancelled, or this worker no longer holds it (`LeaseLost`), nothing is written. Not for isolated handlers.
   */
  readonly complete: Complete;
}

export interface Complete {
  /** In a transaction that the store begins and commits. */
  <Result>(work: (tx: StoreTransaction) => Result | Promise<Result>): Promise<Result>;
  /**
   * In a transaction of your own, as for `engine.in`: the job has ended if and when you commit it. Commit before the
   * handler returns, and let errors out of the transaction, so that it is rolled back.
   */
  <Result, Tx>(options: { readonly in: Tx }, work: (tx: Tx) => Result | Promise<Result>): Promise<Result>;
}

export interface RunFacts {
  readonly id: number;
  readonly type: string;
  /** The name of the definition of the run; null: the run was created from a type, without a definition. */
  readonly def: string | null;
  /**
   * When this attempt was due. First attempt of a scheduled run: the time of its tick, plus the delay that results from
   * the spread of the schedule; for a run of a backfill, when it was created. Retry: the end of the retry delay.
   */
  readonly dueTime: Date;
  /** The time of the tick that created the run, the same in every attempt; null: no tick created the run. */
  readonly tickTime: Date | null;
  /**
   * The number of this attempt in its phase, from 1, including attempts that ended with a crash, but not released ones.
   */
  readonly attempt: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** The return value of a handler whose job another system will finish. */
export class HandedOff {
  readonly token: string;
  readonly withinMs: number | null;

  constructor(token: string, withinMs: number | null) {
    this.token = token;
    this.withinMs = withinMs;
  }
}

/** A named limit, or its name. */
export type NamedLimit = string | { readonly name: string };

export const limitNameOf = (limit: NamedLimit): string => (typeof limit === 'string' ? limit : limit.name);

export interface JobLimits {
  /**
   * Takes `cost` more from the rate of a limit that the type of the job lists, even if nothing is left of it: later jobs
   * wait longer. In an isolated handler, the promise resolves when the engine was asked to do it.
   */
  spend(limit: NamedLimit, cost: number): Promise<void>;
}

export interface JobLog {
  debug(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/**
 * Reports progress: a process has stages, one after the other; a stage has items, possibly in parallel. The terms are
 * those of seed 4 in docs/seeds.md.
 */
export interface ProgressTracker {
  readonly isCancelled: boolean;
  readonly isAborted: boolean;
  readonly isSkipCurrentStage: boolean;

  startingProcess(description?: string): void;
  completedProcess(summary?: string): void;
  failedProcess(cause: unknown): void;
  /**
   * Starts a stage. Throws `Cancelled` if the job has been cancelled, a reported failure has aborted the work, or the
   * attempt has ended.
   */
  startingStage(description: string, options?: StageOptions): void;
  completedStage(summary?: string): void;
  failedStage(cause: unknown): void;
  startingItem(description?: string, options?: { readonly onFailure?: FailurePolicy }): void;
  completedItem(summary?: string): void;
  failedItem(cause: unknown): void;

  /**
   * Calls `work` for one item after the other. Stops before the next item if the job is cancelled or the stage is
   * skipped.
   */
  runStage<T>(
    items: Iterable<T> | AsyncIterable<T>,
    describe: (item: T, index: number) => string | null,
    work: (item: T, index: number) => unknown,
    summary?: (succeeded: number, failed: number) => string,
  ): Promise<StageOutcome>;
  /**
   * Calls `work` as a stage and returns its result. If `work` throws, the stage fails, and `otherwise` is returned. If
   * the job is already cancelled or the stage skipped, returns `otherwise` without calling `work`.
   */
  runStage<R>(work: () => R | Promise<R>, otherwise?: R): Promise<R | undefined>;
  /** Like `runStage` with items, but calls `work` for up to `parallelism` items at a time. */
  runStageInParallel<T>(
    parallelism: number,
    items: Iterable<T> | AsyncIterable<T>,
    describe: (item: T, index: number) => string | null,
    work: (item: T, index: number) => unknown,
    summary?: (succeeded: number, failed: number) => string,
  ): Promise<StageOutcome>;
}

export interface StageOptions {
  readonly total?: number;
  readonly onFailure?: FailurePolicy;
}

export interface StageOutcome {
  readonly succeeded: number;
  readonly failed: number;
  /** False: the stage was skipped, aborted or cancelled, or its items could not all be read. */
  readonly isComplete: boolean;
}
