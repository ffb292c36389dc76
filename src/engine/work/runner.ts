/** The runner: works on one claimed job from start to stored outcome. Nothing a handler does gets past it. */
import type { Jobs } from '../../jobs.ts';
import type { Command } from '../../model/command.ts';
import type { Job, RunningJob, Tags } from '../../model/job.ts';
import { parseJson } from '../../model/json.ts';
import type { Progress } from '../../model/progress.ts';
import { isPromiseLike, andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import type { Attempt } from './attempt.ts';
import type { Attempts } from './attempts.ts';
import { PendingOutcomes, type PendingOutcomesParts } from './pending-outcomes.ts';
import { Deadlines } from './deadlines.ts';
import type { Context, JobLog, RunFacts } from '../handler/context.ts';
import { contextOf, factsOf } from './handler-context.ts';
import type { Handlers } from '../declare/handlers.ts';
import type { IsolatedCall, Isolation } from '../isolation/isolation.ts';
import { jobLog } from '../handler/job-log.ts';
import { hasTasks, type JobType } from '../declare/job-type.ts';
import { Cancelled } from '../handler/errors.ts';
import { gather, prepare } from './phases.ts';
import { checked } from '../declare/schema.ts';
import { captureStrayRejections } from './stray-rejections.ts';
import { tokenOf } from '../handler/token.ts';
import type { Tracing } from './tracing.ts';
import { Tracker } from '../progress/tracker.ts';
import { isA, commandForError, commandForResult } from './command-for.ts';

export interface RunnerParts extends PendingOutcomesParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly handlers: Handlers;
  readonly isolation: Isolation;
  readonly tracing: Tracing;
  readonly attempts: Attempts;
}

/** A handler that says nothing of time may take this long. */
const timeoutDefaultMs = 3_600_000;
const prepareTimeoutDefaultMs = 3_600_000;
const parentsMax = 100;

export class Runner {
  readonly #parts: RunnerParts;
  readonly #parents = new Map<number, Job>();
  readonly #deadlines: Deadlines;
  readonly #outcomes: PendingOutcomes;
  #onHandled: (ms: number) => void = () => {};
  #onOutcomeDone = (): void => {};

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#deadlines = new Deadlines(parts.clock);
    this.#outcomes = new PendingOutcomes(parts, (attempt) => {
      parts.attempts.remove(attempt);
      this.#onOutcomeDone();
    });
  }

  /** Called after each handler, with how long it took. */
  onHandled(call: (ms: number) => void): void {
    this.#onHandled = call;
  }

  /** Called when an outcome is stored, or needs no storing. */
  onOutcomeDone(call: () => void): void {
    this.#onOutcomeDone = call;
  }

  /** How many outcomes are still to be stored. */
  get pendingOutcomes(): number {
    return this.#outcomes.open;
  }

  whenOutcomesStored(): Promise<void> {
    return this.#outcomes.whenNoneOpen();
  }

  /** Over when the handler has ended, at once if it can be; its outcome is stored behind it. Never rejects. */
  run(job: RunningJob): MaybePromise<void> {
    const { clock, attempts } = this.#parts;
    const attempt = attempts.start(job);
    const start = clock.monotonic();
    return andThen(this.#perform(attempt), (command) => {
      this.#onHandled(clock.monotonic() - start);
      this.#outcomes.add(attempt, command);
    });
  }

  /** What is to be stored of the attempt; null: nothing, it is stored already or no longer ours to store. */
  #perform(attempt: Attempt): MaybePromise<Command | null> {
    const type = this.#parts.handlers.require(attempt.job.type);
    const tracker = this.#trackerFor(type, attempt);
    try {
      const called = this.#callTraced(type, attempt, tracker);
      if (isPromiseLike(called)) return this.#awaitWithTimeout(type, attempt, tracker, called);
      return this.#commandForResult(called, attempt, tracker);
    } catch (error) {
      return this.#commandForError(error, type, attempt, tracker);
    }
  }

  /** Awaits the handler's promise with the job's timeout; a synchronous result needs no timer. */
  async #awaitWithTimeout(
    type: JobType, attempt: Attempt, tracker: Tracker, called: PromiseLike<unknown>,
  ): Promise<Command | null> {
    const timeoutMs = timeoutOf(attempt.job);
    const stopTimer = this.#deadlines.after(timeoutMs, () => attempt.timeOut(timeoutMs));
    try {
      return this.#commandForResult(await attempt.await(called), attempt, tracker);
    } catch (error) {
      return this.#commandForError(error, type, attempt, tracker);
    } finally {
      stopTimer();
    }
  }

  #commandForResult(value: unknown, attempt: Attempt, tracker: Tracker): Command | null {
    tracker.end();
    // Work that gave up because an item failed has failed, also when the handler did not say so.
    if (tracker.isAborted) throw tracker.failure;
    return value === planned ? null : commandForResult(value, attempt, this.#parts.jobs.store.now());
  }

  #commandForError(error: unknown, type: JobType, attempt: Attempt, tracker: Tracker): Command | null {
    tracker.end(error);
    const cause = isA(Cancelled, error) && tracker.isAborted ? tracker.failure : error;
    const isRetryable = (attempt.job.kind === 'task' && type.options.isTaskErrorRetryable) || (() => true);
    return commandForError(cause, attempt, this.#parts.jobs.store.now(), isRetryable);
  }

  #callTraced(type: JobType, attempt: Attempt, tracker: Tracker): MaybePromise<unknown> {
    const { job } = attempt;
    const work = (): MaybePromise<unknown> => this.#call(type, attempt, tracker);
    return captureStrayRejections(this.#onStrayRejection(job), () => this.#parts.tracing.trying(job, this.#tagsOf, work));
  }

  readonly #tagsOf = async (job: Job): Promise<Tags | null> =>
    job.kind === 'task' ? (await this.#parentOf(job)).tags : job.tags;

  #onStrayRejection({ id }: Job): (error: unknown) => void {
    const { logger } = this.#parts;
    return (error) => logger.error(`a promise that the handler of job ${id} left behind was rejected`, { error, id });
  }

  #call(type: JobType, attempt: Attempt, tracker: Tracker): MaybePromise<unknown> {
    const { job } = attempt;
    const context = contextOf(attempt, tracker, this.#logOf(attempt));
    return job.kind === 'task'
      ? andThen(this.#parentOf(job), (parent) => this.#callTask(type, attempt, context, parent))
      : andThen(inputOf(type, job), (input) => this.#callRun(type, attempt, context, input, tracker));
  }

  async #prepare(type: JobType, attempt: Attempt, context: Context, input: unknown, tracker: Tracker): Promise<unknown> {
    await prepare(this.#parts, type, attempt, context, input, async () => {
      tracker.end();
      await this.#parts.notes.finish(attempt.holding);
    });
    return planned;
  }

  #callRun(type: JobType, attempt: Attempt, context: Context, input: unknown, tracker: Tracker): MaybePromise<unknown> {
    switch (phaseOf(type, attempt.job)) {
      case 'run':
        return type.options.isolate
          ? this.#callIsolated(type, attempt, 'run', context.run, { input })
          : type.options.run!(Object.assign(context, { input }));
      case 'prepare':
        return this.#prepare(type, attempt, context, input, tracker);
      case 'gather':
        return gather(this.#parts, type, attempt, context, input);
    }
  }

  #callTask(type: JobType, attempt: Attempt, context: Context, parent: Job): MaybePromise<unknown> {
    const { job } = attempt;
    const run = { ...context.run, id: parent.id, tags: parent.tags ?? {} };
    const details = parent.details === null ? undefined : parseJson(parent.details);
    return andThen(inputOf(type, parent), (input) => {
      const data = { input, details, task: parseJson(job.input), key: job.key };
      return type.options.isolate
        ? this.#callIsolated(type, attempt, 'taskResults', run, data)
        : type.options.taskResults!(Object.assign(context, { run, ...data }));
    });
  }

  #callIsolated(type: JobType, attempt: Attempt, phase: IsolatedCall['phase'], run: RunFacts, data: IsolatedCall['data']): Promise<unknown> {
    const { isolation, notes } = this.#parts;
    const log = this.#logOf(attempt);
    const { idempotencyKey, fence } = factsOf(attempt);
    const facts = { run, idempotencyKey, fence, token: tokenOf(attempt.holding) };
    const { result, kill } = isolation.run(type.options.isolate!, { module: type.options.module!, type: type.name, phase, data, facts }, {
      signal: attempt.signal,
      onProgress: (progress) => notes.progress(attempt.holding, progress),
      onLog: (level, text) => log[level](text),
    });
    attempt.onKill(kill);
    return result;
  }

  #trackerFor(type: JobType, attempt: Attempt): Tracker {
    const { clock, notes } = this.#parts;
    // A handler in a thread or process of its own has its tracker there.
    const isElsewhere = type.options.isolate !== undefined && attempt.job.phase === 'run';
    const onChange = isElsewhere ? () => {} : (progress: Progress) => notes.progress(attempt.holding, progress);
    const tracker = new Tracker({ clock, onChange });
    attempt.onAbort((reason) => tracker.cancel(reason));
    return tracker;
  }

  #logOf({ holding }: Attempt): JobLog {
    return jobLog((level, text) => this.#parts.notes.log(holding, level, text));
  }

  /** The run of a task; its input and details do not change while tasks run, so it is remembered for a while. */
  #parentOf(task: Job): MaybePromise<Job> {
    return this.#parents.get(task.parent!) ?? this.#loadParent(task);
  }

  async #loadParent(task: Job): Promise<Job> {
    const [run] = await this.#parts.jobs.store.load([task.parent!]);
    if (!run) throw new Error(`the run ${task.parent} of task ${task.id} is gone`);
    if (this.#parents.size >= parentsMax) this.#parents.delete(this.#parents.keys().next().value!);
    this.#parents.set(run.id, run);
    return run;
  }
}

const planned = Symbol('planned');

/** Whoever created it by name alone did not know that it has tasks: it has no details until they are planned. */
function phaseOf(type: JobType, { phase, details }: Job): Job['phase'] {
  if (phase !== 'run' || !hasTasks(type)) return phase;
  return details === null ? 'prepare' : 'gather';
}

const timeoutOf = ({ kind, phase, policy }: Job): number =>
  kind === 'run' && phase !== 'run' ? (policy.prepareTimeoutMs ?? prepareTimeoutDefaultMs) : (policy.timeoutMs ?? timeoutDefaultMs);

/** Checked again before it runs: code and data may have been written at different times. */
function inputOf(type: JobType, job: Job): MaybePromise<unknown> {
  const input = parseJson(job.input);
  return type.options.input ? checked(type.options.input, input, `${type.name} ${job.id}`) : input;
}
