/** The job type: the code of one kind of job. Either one `run`, or the phases that prepare, do and gather tasks. */
import type { OnTaskFailure } from '../../model/job.ts';
import type { RetryPolicy } from '../../model/retry.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import type { Context, HandedOff } from '../handler/context.ts';
import type { InputOf, OutputOf, Schema } from './schema.ts';

/** What type and definition can both say; the definition's word counts. */
export interface Settings {
  /** How long a try may take; a run's own phases have `prepareTimeout`. Default: 1h. */
  readonly timeout?: Duration;
  /** How long the preparing and the gathering of a run with tasks may take. Default: 1h. */
  readonly prepareTimeout?: Duration;
  /** How often, and after what wait, a failed try is made again. */
  readonly retry?: RetrySettings;
  /** What failed tasks do to their run: `collect` (default), `failFast`, `{ tolerate: n }`, `{ toleratePercent: n }`. */
  readonly onTaskFailure?: OnTaskFailure;
  /** Higher goes first. Default: 0. */
  readonly priority?: number;
  /** How long an ended run is kept. Default: what the engine says. */
  readonly retention?: Duration;
}

export interface RetrySettings {
  /** All tries together, the first one counted. Default: 3. */
  readonly attempts?: number;
  /** How the wait grows: `fixed`, `linear`, or `exponential` (default). */
  readonly backoff?: RetryPolicy['backoff'];
  /** The first wait. Default: 2s. */
  readonly base?: Duration;
  /** The longest wait. Default: 5m. */
  readonly max?: Duration;
  /** The share of a wait that chance may take away, 0 to 1. Default: 0.5. */
  readonly jitter?: number;
  /** Lost workers before the job is held to be poison. Default: 3. */
  readonly crashes?: number;
}

interface CommonOptions<S extends Schema> extends Settings {
  /** Any Standard Schema (zod, valibot, arktype): checked when a run is created and again before it runs. */
  readonly input?: S;
  /** How many runs of this type may be under way, over all instances. */
  readonly concurrency?: number;
  /** How many tasks of this type may be worked on at a time, over all instances. */
  readonly taskConcurrency?: number;
  /** Runs with the same key share a limit of their own: one per tenant, say. */
  readonly limit?: { readonly key: (input: OutputOf<S>) => string; readonly concurrency: number };
  /** Only one run of this type at a time, scheduled or by hand; a manual run is refused while one is under way. */
  readonly onePerType?: boolean;
  /** Runs in a thread or process of its own, so that it can be ended whatever its code does. Needs `module`. */
  readonly isolate?: 'thread' | 'process';
  /** Where the type is exported, for `isolate`: `import.meta.url`. */
  readonly module?: string;
}

export interface RunOptions<S extends Schema, Result> extends CommonOptions<S> {
  /** The work. What it returns is the result; what it throws fails the try. */
  readonly run: (context: Context & { readonly input: OutputOf<S> }) => Result | HandedOff | Promise<Result | HandedOff>;
}

export interface TaskOptions<S extends Schema, Details, Task, TaskResult, Result> extends CommonOptions<S> {
  /** What all tasks share. */
  readonly jobDetails?: (context: Context & { readonly input: OutputOf<S> }) => Details | Promise<Details>;
  /** The tasks, one after the other: a generator need not hold a million of them. */
  readonly taskDetails: (
    context: Context & { readonly input: OutputOf<S>; readonly details: Details },
  ) => AsyncIterable<Task> | Iterable<Task> | Promise<Iterable<Task>>;
  /** The work of one task. */
  readonly taskResults: (
    context: Context & { readonly input: OutputOf<S>; readonly details: Details; readonly task: Task; readonly key: string | null },
  ) => TaskResult | HandedOff | Promise<TaskResult | HandedOff>;
  /** The summary of all tasks, when none is open any more. */
  readonly jobResults?: (
    context: Context & {
      readonly input: OutputOf<S>;
      readonly details: Details;
      readonly tasks: AsyncIterable<EndedTask<Task, Kept<TaskResult>>>;
      readonly counts: TaskCounts;
    },
  ) => Result | Promise<Result>;
  /** Whether a task that threw this is worth another try. Default: always, as long as there are tries left. */
  readonly isTaskErrorRetryable?: (error: unknown) => boolean;
  /** A name for a task among its siblings. */
  readonly taskKey?: (task: Task) => string;
  /** Higher goes first among all tasks. Default: the priority of the run. */
  readonly taskPriority?: (task: Task) => number;
}

export interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** A task as `jobResults` finds it. */
export interface EndedTask<Task, TaskResult> {
  readonly id: number;
  readonly key: string | null;
  readonly task: Task;
  readonly fate: 'succeeded' | 'failed' | 'cancelled';
  readonly result: TaskResult | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The handle of a type: `Input` is what a producer passes, `Result` what a run gives. */
export interface JobType<Input = never, Result = unknown> {
  readonly name: string;
  readonly options: AnyOptions;
  /** Only for TypeScript: never there. */
  readonly '~types'?: { readonly input: (input: Input) => void; readonly result: Result };
}

// oxlint-disable-next-line typescript/no-explicit-any -- inside the engine a type's own parameters are not known
export type AnyOptions = CommonOptions<any> & Partial<RunOptions<any, any>> & Partial<TaskOptions<any, any, any, any, any>>;

/** A type of whatever input and result. */
// oxlint-disable-next-line typescript/no-explicit-any -- neither unknown nor never fits every type
export type AnyJobType = JobType<any, any>;

type NoSchema = Schema<unknown>;

/** What is left of a handler's answers: a job that was handed off ends with what its token brings. */
type Kept<Answer> = [Exclude<Answer, HandedOff>] extends [never] ? unknown : Exclude<Answer, HandedOff>;

export function jobType<Details, Task, TaskResult, Result = undefined, S extends Schema = NoSchema>(
  name: string,
  options: TaskOptions<S, Details, Task, TaskResult, Result>,
): JobType<InputOf<S>, Result>;
export function jobType<Result, S extends Schema = NoSchema>(
  name: string,
  options: RunOptions<S, Result>,
): JobType<InputOf<S>, Kept<Result>>;
export function jobType(name: string, options: AnyOptions): JobType<never, unknown> {
  checkTypeName(name);
  checkOptions(name, options);
  return Object.freeze({ name, options });
}

export const hasTasks = ({ options }: JobType): boolean => options.taskResults !== undefined;

function checkTypeName(name: string): void {
  if (typeof name === 'string' && /^[\p{L}\p{N}][\p{L}\p{N}._:/-]{0,199}$/u.test(name)) return;
  throw new Refusal('malformed.name', 'a job type name must start with a letter or digit and contain only letters, digits and . _ : / -', {
    name: String(name).slice(0, 200),
  });
}

function checkOptions(name: string, options: AnyOptions): void {
  const isSimple = typeof options.run === 'function';
  const isTasked = typeof options.taskDetails === 'function' && typeof options.taskResults === 'function';
  if (isSimple === isTasked) {
    throw new Refusal('malformed.option', `job type ${name} must have either run, or taskDetails and taskResults`, { type: name });
  }
  if (options.isolate !== undefined && options.module === undefined) {
    const message = `job type ${name} is isolated in a ${options.isolate} and must have module: import.meta.url`;
    throw new Refusal('malformed.option', message, { type: name });
  }
  for (const limit of [options.concurrency, options.taskConcurrency, options.limit?.concurrency]) {
    if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) continue;
    throw new Refusal('malformed.number', `the concurrency of job type ${name} must be a whole number above 0`, { type: name });
  }
  for (const duration of [options.timeout, options.prepareTimeout, options.retention]) {
    if (duration !== undefined) durationMs(duration);
  }
}
