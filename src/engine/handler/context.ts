/** The context: the properties that every handler receives besides its data. */
import type { FailurePolicy } from '../../model/progress.ts';
import type { Duration } from '../../time/duration.ts';

export interface Context {
  /** The run; for a task, the run that it belongs to. */
  readonly run: RunFacts;
  /** Aborts when the job is cancelled, times out or loses its lease; `signal.reason` is the error. */
  readonly signal: AbortSignal;
  /** Reports progress, as stages and items that can be watched live. */
  readonly progress: ProgressTracker;
  /** Writes lines to the log of the job. */
  readonly log: JobLog;
  /** The same for every attempt of this job, so that other systems can detect a repeated request. */
  readonly idempotencyKey: string;
  /** Rises with every claim, so that other systems can refuse a worker that has lost the job. */
  readonly fence: number;
  /** Lets another system finish this job later, with a token: `return context.handOff({ within: '1h' })`. */
  readonly handOff: (options?: { readonly within?: Duration }) => HandedOff;
}

export interface RunFacts {
  readonly id: number;
  readonly type: string;
  /** The definition of the run; null: it was created from a type alone. */
  readonly def: string | null;
  /** When the run was due; for a scheduled run, the time of its tick. */
  readonly dueTime: Date;
  /** The number of this attempt, from 1. */
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

export interface JobLog {
  debug(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** Reports progress (seed 4): a process has stages, one after the other; a stage has items, possibly in parallel. */
export interface ProgressTracker {
  readonly isCancelled: boolean;
  readonly isAborted: boolean;
  readonly isSkipCurrentStage: boolean;

  startingProcess(description?: string): void;
  completedProcess(summary?: string): void;
  failedProcess(cause: unknown): void;
  /** Throws `Cancelled` if the job has been cancelled. */
  startingStage(description: string, options?: StageOptions): void;
  completedStage(summary?: string): void;
  failedStage(cause: unknown): void;
  startingItem(description?: string, options?: { readonly onFailure?: FailurePolicy }): void;
  completedItem(summary?: string): void;
  failedItem(cause: unknown): void;

  /** Processes items one by one; stops before the next item if the job is cancelled or the stage is skipped. */
  runStage<T>(
    items: Iterable<T> | AsyncIterable<T>,
    describe: (item: T, index: number) => string | null,
    work: (item: T, index: number) => unknown,
    summary?: (succeeded: number, failed: number) => string,
  ): Promise<StageOutcome>;
  /** Runs a function as a stage. If it throws, the stage fails and the result is `otherwise`. */
  runStage<R>(work: () => R | Promise<R>, otherwise?: R): Promise<R | undefined>;
  /** Processes up to `parallelism` items at a time. */
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
  /** False if items were left out because the stage was skipped or the job was cancelled. */
  readonly isComplete: boolean;
}
