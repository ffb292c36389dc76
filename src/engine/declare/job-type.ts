/**
 * The job type: the code of a kind of job: `run` for one job, `runBatch` for many jobs at once, or functions that plan,
 * execute and gather tasks.
 */
import { checkFields, checkPriority, checkTypeName } from '../../jobs/checks/values.ts';
import { Refusal } from '../../refusal.ts';
import type { BatchJob, BatchOutcome } from '../handler/batch-job.ts';
import type { ChildRequestOf } from './child-request.ts';
import type { Context, HandedOff } from '../handler/context.ts';
import { checkBatch, type BatchSettings } from './batch.ts';
import { checkFairness, checkTaskFairness, type Fairness } from './fairness.ts';
import { checkLimits, checkNotSelfBlocking, type Cost } from './limit-uses.ts';
import type { Limit } from './limit.ts';
import { checkStorable } from './json-schema.ts';
import { policyOf } from './policy.ts';
import type { InputOf, OutputOf, Schema } from './schema.ts';
import type { Settings } from './settings.ts';
import { checkUpgrade, type Upgrade } from './upgrade.ts';

interface CommonOptions<S extends Schema> extends Settings {
  /** Any Standard Schema (zod, valibot, arktype). Validates the input at creation and before each attempt. */
  readonly input?: S;
  /**
   * The version of the input's format, a whole number from 1 to 1,000,000. Default: 1. Raise it when the format changes.
   * Runs carry the version that they were created with, and an instance claims only runs of versions that it knows: this
   * one, and those in `upgrade`.
   */
  readonly version?: number;
  /**
   * For each older version that this code knows, a function that turns an input of that version into one of the next
   * version. The versions must be contiguous up to `version`. Synchronous.
   */
  readonly upgrade?: Upgrade;
  /** How many runs of this type may be running at a time, across all instances. */
  readonly concurrency?: number;
  /** How many tasks of this type may be running at a time, across all instances. */
  readonly taskConcurrency?: number;
  /**
   * How many runs with the same key may be running at a time, for example one run per tenant. The key is a path in the
   * input, such as `tenant` or `customer.id`, or a function of the input. With a function, only programs that have the
   * code of the type can create runs.
   */
  readonly limit?: { readonly key: string | ((input: OutputOf<S>) => string); readonly concurrency: number };
  /** The named limits of the runs, made by `limit()`. A run starts when all of them admit it. */
  readonly limits?: readonly Limit<NoInfer<OutputOf<S>>>[];
  /**
   * How much a run takes of its limits. Default: 1. A path in the input, such as `tokens`, a function of the input, or
   * numbers and paths by the names of the limits. With a function, only programs that have the code of the type can
   * create runs.
   */
  readonly cost?: Cost<OutputOf<S>>;
  /**
   * Lets the keys of the runs, for example tenants, take turns: of those that wait with the same priority, each key starts
   * as many runs per turn as it has weight. A key with many waiting runs delays those of other keys by one round at most.
   * Tasks have the share of their run, unless `taskFairness` is set.
   */
  readonly fairness?: Fairness<NoInfer<OutputOf<S>>>;
  /**
   * True: only one run of this type at a time, scheduled or manual. A manual run that is due now is refused while
   * another run of the type is running, or is open and was due at its creation. Definitions of the type cannot switch
   * this off, and cannot have `inMemory`.
   */
  readonly onePerType?: boolean;
  /**
   * Calls `run` or `taskResults` in its own thread or process, which can be killed even if its code loops. The other
   * functions of the type are called in the engine's thread. Requires `module`.
   */
  readonly isolate?: 'thread' | 'process';
  /** The module that exports the type, for `isolate`: `import.meta.url`. */
  readonly module?: string;
}

export interface RunOptions<S extends Schema, Result> extends CommonOptions<S> {
  /**
   * The handler. Its return value is the result; an error fails the attempt. If it adds children, the run ends after
   * them.
   */
  readonly run: (
    context: Context & { readonly input: OutputOf<S>; readonly children: ChildRuns },
  ) => Result | HandedOff | Promise<Result | HandedOff>;
}

export interface ParentOptions<S extends Schema, Details, Result> extends CommonOptions<S> {
  /** The handler, which adds children. If it adds none, `jobResults` is called all the same, with an empty list. */
  readonly run: (
    context: Context & { readonly input: OutputOf<S>; readonly children: ChildRuns },
  ) => Details | Promise<Details>;
  /** Returns the result of the run after all its children have ended. `details` is what `run` has returned. */
  readonly jobResults: (
    context: Context & { readonly input: OutputOf<S>; readonly details: Details; readonly children: EndedChildren },
  ) => Result | Promise<Result>;
}

/** Adds runs of any type as children of a run. */
export interface ChildRuns {
  /**
   * Adds a child, which starts after the handler has returned. The run then waits for its children without a slot. If the
   * handler throws, its children are not created.
   */
  add<Input, Result>(type: JobType<Input, Result>, ...request: ChildRequestOf<Input>): void;
}

/** The ended children of a run, as passed to `jobResults`, in the order in which they were added. */
export interface EndedChildren {
  readonly all: readonly EndedChild<unknown>[];
  /** Returns the children of a type. */
  of<Result>(type: JobType<never, Result>): readonly EndedChild<Result>[];
}

export interface EndedChild<Result> {
  readonly id: number;
  readonly type: string;
  readonly input: unknown;
  readonly fate: 'succeeded' | 'failed' | 'cancelled';
  readonly result: Result | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A job of a batch, which can add children of its run. */
export type BatchParentJob<Input> = BatchJob<Input> & { readonly children: ChildRuns };

export interface BatchOptions<S extends Schema, Result> extends CommonOptions<S> {
  /** How many jobs one call of `runBatch` handles, how long they wait for each other, and how they are grouped. */
  readonly batch: BatchSettings<OutputOf<S>>;
  /**
   * The handler of several jobs. Returns an outcome per job: `job.done(result)` or `job.failed(error)`. A job without an
   * outcome has failed; an error fails all jobs. `signal` aborts when those of all jobs are aborted. A job that is done and
   * has added children ends after them.
   */
  readonly runBatch: (
    context: { readonly jobs: readonly BatchParentJob<OutputOf<S>>[]; readonly signal: AbortSignal },
  ) => readonly BatchOutcome<Result>[] | Promise<readonly BatchOutcome<Result>[]>;
}

export interface BatchParentOptions<S extends Schema, Details, Result> extends BatchOptions<S, Details> {
  /**
   * Returns the result of each job that is done, after its children have ended; also if it has none. `details` is what was
   * passed to `job.done`.
   */
  readonly jobResults: ParentOptions<S, Details, Result>['jobResults'];
}

export interface TaskOptions<S extends Schema, Details, Task, TaskResult, Result> extends CommonOptions<S> {
  /** Returns the details that all tasks share. */
  readonly jobDetails?: (context: Context & { readonly input: OutputOf<S> }) => Details | Promise<Details>;
  /** Returns or generates the tasks. A generator need not hold all of them in memory. */
  readonly taskDetails: (
    context: Context & { readonly input: OutputOf<S>; readonly details: Details },
  ) => AsyncIterable<Task> | Iterable<Task> | Promise<Iterable<Task>>;
  /** The handler of one task. */
  readonly taskResults: (
    context: Context & {
      readonly input: OutputOf<S>;
      readonly details: Details;
      readonly task: Task;
      readonly key: string | null;
    },
  ) => TaskResult | HandedOff | Promise<TaskResult | HandedOff>;
  /** Returns the result of the run after all tasks have ended. */
  readonly jobResults?: (
    context: Context & {
      readonly input: OutputOf<S>;
      readonly details: Details;
      readonly tasks: AsyncIterable<EndedTask<Task, OwnResult<TaskResult>>>;
      readonly counts: TaskCounts;
    },
  ) => Result | Promise<Result>;
  /**
   * Whether to retry a task after this error, while attempts are left. Default: yes. Not called for errors of Stint
   * such as `Fail`, `RetryAfter` and `TimedOut`.
   */
  readonly isTaskErrorRetryable?: (error: unknown) => boolean;
  /** Returns a key for a task, unique within its run. */
  readonly taskKey?: (task: Task) => string;
  /** Returns the priority of a task; higher is claimed first. Default: the priority of the run. */
  readonly taskPriority?: (task: Task) => number;
  /** The named limits of the tasks, made by `limit()`. Keys are those of the task, not of the input of the run. */
  readonly taskLimits?: readonly Limit<NoInfer<Task>>[];
  /** How much a task takes of its limits, as `cost`: a path in the task, a function of it, or by the limits' names. */
  readonly taskCost?: Cost<NoInfer<Task>>;
  /**
   * `run`: the runs of the type take turns with their tasks, so that a run with many tasks delays a task of another run
   * by one round at most. In its turn, a run starts as many tasks as its `fairness` has weight, by default 1. Without it,
   * tasks start in the order of their due times.
   */
  readonly taskFairness?: 'run';
}

export interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** An ended task, as passed to `jobResults`. */
export interface EndedTask<Task, TaskResult> {
  readonly id: number;
  readonly key: string | null;
  readonly task: Task;
  readonly fate: 'succeeded' | 'failed' | 'cancelled';
  readonly result: TaskResult | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A declared job type: `Input` is the input that a producer passes, `Result` the result of a run. */
export interface JobType<Input = never, Result = unknown> {
  readonly name: string;
  readonly options: AnyOptions;
  /** Never set: it only carries the types of input and result for TypeScript. */
  readonly '~types'?: { readonly input: (input: Input) => void; readonly result: Result };
}

// oxlint-disable-next-line typescript/no-explicit-any -- inside the engine a type's own parameters are not known
type KnownOptions = Partial<RunOptions<any, any> & BatchOptions<any, any> & TaskOptions<any, any, any, any, any>>;

/** The options of any type; `jobResults` is that of `TaskOptions` or of `ParentOptions`. */
export type AnyOptions = Omit<KnownOptions, 'jobResults'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly jobResults?: ((context: any) => unknown) | undefined;
};

// oxlint-disable-next-line typescript/no-explicit-any -- neither unknown nor never fits every type
export type AnyJobType = JobType<any, any>;

type NoSchema = Schema<unknown>;

/**
 * The result type without `HandedOff`. If the handler only hands off, the type is `unknown`, because another system
 * sets the result.
 */
type OwnResult<Returned> = [Exclude<Returned, HandedOff>] extends [never] ? unknown : Exclude<Returned, HandedOff>;

export function jobType<Details, Task, TaskResult, Result = undefined, S extends Schema = NoSchema>(
  name: string,
  options: TaskOptions<S, Details, Task, TaskResult, Result>,
): JobType<InputOf<S>, Result>;
export function jobType<Details, Result, S extends Schema = NoSchema>(
  name: string,
  options: BatchParentOptions<S, Details, Result>,
): JobType<InputOf<S>, Result>;
export function jobType<Result, S extends Schema = NoSchema>(
  name: string,
  options: BatchOptions<S, Result>,
): JobType<InputOf<S>, Result>;
export function jobType<Details, Result, S extends Schema = NoSchema>(
  name: string,
  options: ParentOptions<S, Details, Result>,
): JobType<InputOf<S>, Result>;
export function jobType<Result, S extends Schema = NoSchema>(
  name: string,
  options: RunOptions<S, Result>,
): JobType<InputOf<S>, OwnResult<Result>>;
export function jobType(name: string, options: AnyOptions): JobType<never, unknown> {
  checkTypeName(name);
  checkOptions(name, options);
  return Object.freeze({ name, options });
}

/** Whether the runs of the type have a phase that follows the end of their children. */
export const gathersChildren = (type: JobType): boolean => !hasTasks(type) && type.options.jobResults !== undefined;

/** Whether a value is a job type, as `jobType` returns it. */
export function isJobType(value: unknown): value is JobType {
  const { name, options } = (value ?? {}) as Partial<JobType>;
  return typeof name === 'string' && typeof options === 'object' && options !== null;
}

export const hasTasks = ({ options }: JobType): boolean => options.taskResults !== undefined;

/** All option names: any other name is refused as misspelt. `satisfies` makes the compiler report a missing one. */
const optionNames = Object.keys({
  input: 0, version: 0, upgrade: 0, concurrency: 0, taskConcurrency: 0, limit: 0, limits: 0, cost: 0, fairness: 0, taskLimits: 0, taskCost: 0, taskFairness: 0, onePerType: 0, isolate: 0,
  module: 0, batch: 0, run: 0, runBatch: 0, jobDetails: 0, taskDetails: 0, taskResults: 0, jobResults: 0, isTaskErrorRetryable: 0, taskKey: 0, taskPriority: 0, timeout: 0,
  prepareTimeout: 0, retry: 0, onTaskFailure: 0, priority: 0, retention: 0,
} satisfies Record<keyof AnyOptions, 0>);

function checkKeyLimit(name: string, limit: NonNullable<AnyOptions['limit']>): void {
  const { key } = checkFields(`the limit of job type ${name}`, limit, ['key', 'concurrency']) as { readonly key?: unknown };
  if (typeof key === 'function' || (typeof key === 'string' && key !== '')) return;
  const message =
    `the limit of job type ${name} needs a key, a path in the input or a function of it: ` +
    'to limit all its runs together, use concurrency of the type';
  throw new Refusal('malformed.option', message, { type: name });
}

function checkOptions(name: string, options: AnyOptions): void {
  checkFields(`job type ${name}`, options, optionNames);
  if (options.limit) checkKeyLimit(name, options.limit);
  if (options.input) checkStorable(`the input of job type ${name}`, options.input as Schema);
  checkUpgrade(name, options);
  const isTasked = typeof options.taskDetails === 'function' && typeof options.taskResults === 'function';
  const handlers = [typeof options.run === 'function', typeof options.runBatch === 'function', isTasked];
  if (handlers.filter(Boolean).length !== 1) {
    const message = `job type ${name} must have either run, or runBatch, or taskDetails and taskResults`;
    throw new Refusal('malformed.option', message, { type: name });
  }
  if (options.isolate !== undefined && options.module === undefined) {
    const message = `job type ${name} is isolated in a ${options.isolate} and must have module: import.meta.url`;
    throw new Refusal('malformed.option', message, { type: name });
  }
  for (const limit of [options.concurrency, options.taskConcurrency, options.limit?.concurrency]) {
    if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) continue;
    const message = `the concurrency of job type ${name} must be a whole number above 0`;
    throw new Refusal('malformed.number', message, { type: name });
  }
  checkBatch(name, options);
  checkLimits(`job type ${name}`, options.limits, options.cost);
  checkLimits(`a task of job type ${name}`, options.taskLimits, options.taskCost);
  checkFairness(name, options.fairness);
  checkTaskFairness(name, options.taskFairness, isTasked);
  checkNotSelfBlocking(name, options.limits, options.taskLimits);
  policyOf(options);
  if (options.priority !== undefined) checkPriority(options.priority);
}
