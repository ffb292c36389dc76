/** The context: all that a handler is given besides its data. */
import type { FailurePolicy } from '../../model/progress.ts';
import type { Duration } from '../../time/duration.ts';

export interface Context {
  /** The run this is about, also for its tasks. */
  readonly run: RunFacts;
  /** Aborts when the work was cancelled, timed out or lost its lease; `signal.reason` says which. */
  readonly signal: AbortSignal;
  /** How far the work has come: stages and items, seen live. */
  readonly progress: ProgressTracker;
  /** Lines that are kept with the job. */
  readonly log: JobLog;
  /** The same for every try of this job: other systems can tell a repetition by it. */
  readonly idempotencyKey: string;
  /** Rises with every claim: other systems can refuse a holder that was overtaken. */
  readonly fence: number;
  /** Lets another system finish this job later, by the token in the answer: `return context.handOff({ within: '1h' })`. */
  readonly handOff: (options?: { readonly within?: Duration }) => HandedOff;
}

export interface RunFacts {
  readonly id: number;
  readonly type: string;
  /** The definition it comes from; null: it was created of a type alone. */
  readonly def: string | null;
  /** When it was to begin; for a scheduled run, the time of its tick. */
  readonly dueTime: Date;
  /** Which try this is, from 1. */
  readonly attempt: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a handler returns when its job will be finished from outside. */
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

/** Progress as it is told (seed 4): a process, its stages one after the other, their items side by side. */
export interface ProgressTracker {
  readonly isCancelled: boolean;
  readonly isAborted: boolean;
  readonly isSkipCurrentStage: boolean;

  startingProcess(description?: string): void;
  completedProcess(summary?: string): void;
  failedProcess(cause: unknown): void;
  /** Throws `Cancelled` when the job was asked to give up. */
  startingStage(description: string, options?: StageOptions): void;
  completedStage(summary?: string): void;
  failedStage(cause: unknown): void;
  startingItem(description?: string, options?: { readonly onFailure?: FailurePolicy }): void;
  completedItem(summary?: string): void;
  failedItem(cause: unknown): void;

  /** Works on items one after the other; stops at the next item when the job is cancelled or the stage skipped. */
  runStage<T>(
    items: Iterable<T> | AsyncIterable<T>,
    describe: (item: T, index: number) => string | null,
    work: (item: T, index: number) => unknown,
    summary?: (succeeded: number, failed: number) => string,
  ): Promise<StageOutcome>;
  /** One piece of work as a stage of its own; what it throws fails the stage and gives `otherwise`. */
  runStage<R>(work: () => R | Promise<R>, otherwise?: R): Promise<R | undefined>;
  /** Works on up to `parallelism` items at a time. */
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
  /** Items that were not tried because the stage was skipped or the job cancelled. */
  readonly isComplete: boolean;
}
