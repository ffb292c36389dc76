/** The handle of a run: follow it, wait for its result, act on it. */
import type { Downstream } from '../jobs/reopening.ts';
import type { Event } from '../model/event.ts';
import type { EndedJob, Job, JobError } from '../model/job.ts';
import { parsePayload } from '../model/encoded-payload.ts';
import type { AnswerRole } from '../model/question.ts';
import type { Progress } from '../model/progress.ts';
import type { EndedStep } from '../model/step.ts';
import type { TerminateCode } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { OutputChunk } from '../model/output.ts';
import type { LogLine } from '../store/store.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import type { Reason } from './inspect/reason.ts';
import type { TaskCounts } from './declare/job-type.ts';
import type { RequestOf, ResultOf, Runnable } from './declare/run-request.ts';
import { followOutput } from './follow-output.ts';
import type { OutputRequest } from './inspect/output.ts';
import type { StopAnswer } from './inspect/stop.ts';
import type { JobWatch } from './attempt/job-watchers.ts';

/** A run at one moment. */
export interface Snapshot {
  readonly job: Job;
  readonly tasks: TaskCounts;
  readonly progress: Progress | null;
}

/** One update of a watched run. */
export interface RunUpdate extends Snapshot {
  /** Log lines since the previous update. */
  readonly log: readonly LogLine[];
}

export interface StepsRequest {
  /** Only steps with a higher number. Default: all. */
  readonly after?: number;
  /** At most 1,000, the default. The first page has all answers that came before their questions, even if they are more. */
  readonly limit?: number;
}

export interface LogRequest {
  /** Returns only lines with a higher number than this. */
  readonly after?: number;
  readonly limit?: number;
}

/** Creates runs of a type, or of a definition. The parameters of a definition are the default input of its runs. */
export interface RunMaker {
  createJobRun<What extends Runnable>(what: What, ...request: RequestOf<What>): Promise<RunHandle<ResultOf<What>>>;
}

/** The operations that a handle delegates to its engine. */
export interface RunBackend {
  get(id: number): Promise<Job>;
  snapshot(id: number): Promise<Snapshot>;
  /** Watches the run. Call before the first read of the run, so that no change between a read and a wait is missed. */
  watchChanges(id: number): JobWatch;
  cancelJobRun(id: number, options?: CancelOptions): Promise<Job>;
  stopJobRun(id: number, options?: EndOptions): Promise<StopAnswer>;
  retryJobRun(id: number, options?: RetryOptions): Promise<Job>;
  cancelFlow(id: number, options?: CancelOptions): Promise<number>;
  stopFlow(id: number, options?: EndOptions): Promise<number>;
  retryFlow(id: number, options?: ActOptions): Promise<number>;
  history(id: number): Promise<readonly Event[]>;
  explain(id: number): Promise<readonly Reason[]>;
  answer(id: number, name: string, value: unknown, options?: AnswerOptions): Promise<Job>;
  log(id: number, request?: LogRequest): Promise<readonly LogLine[]>;
  output(id: number, request?: OutputRequest): Promise<readonly OutputChunk[]>;
  outputOrJob(id: number, request?: OutputRequest): Promise<readonly OutputChunk[] | Job>;
  steps(id: number, request?: StepsRequest): Promise<readonly EndedStep[]>;
  now(): number;
}

export interface ActOptions {
  /**
   * The person who asks, such as a user name; recorded in the history and the audit. Default: this instance, which is
   * recorded in the history only.
   */
  readonly by?: string;
  /** The reason; recorded in the history and the audit. */
  readonly why?: string;
}

export interface AnswerOptions extends ActOptions {
  /** The role of the person who answers, if the question requires one. Default: admin. */
  readonly role?: AnswerRole;
}

export interface EndOptions extends ActOptions {
  /** Who ends the run, such as `admin` or `automation`. Default: `user`. */
  readonly code?: TerminateCode;
}

export interface CancelOptions extends EndOptions {
  /** How long the handler may take to end by itself. After that the job is stopped. Default: without limit. */
  readonly grace?: Duration;
}

export interface RetryOptions extends ActOptions {
  /** Retries the run with only those of its tasks that failed or were cancelled. Default: with all its tasks. */
  readonly only?: 'failed';
  /**
   * Also retries the ended runs that follow this one, directly or not: all of them, or those that failed or were
   * cancelled. Default: none; followers that still wait wait for this run again.
   */
  readonly downstream?: Downstream;
  /**
   * The name of a finished step: the run forgets it and the steps that ended after it, and executes them again. Default:
   * a run that failed or was cancelled continues after its finished steps; a run that succeeded starts over.
   */
  readonly from?: string;
}

export class RunFailed extends Error {
  override readonly name = 'RunFailed';
  readonly id: number;
  readonly error: JobError | null;

  constructor(job: EndedJob) {
    super(`run ${job.id} failed: ${job.error?.message ?? 'no error was recorded'}`);
    this.id = job.id;
    this.error = job.error;
  }
}

export class RunCancelled extends Error {
  override readonly name = 'RunCancelled';
  readonly id: number;

  constructor(job: EndedJob) {
    super(`run ${job.id} was cancelled${job.cancel?.why ? `: ${job.cancel.why}` : ''}`);
    this.id = job.id;
  }
}

/**
 * If no notification reports the end of the run, for example because the connection is lost, `result` reads the run at
 * intervals within these bounds. Each interval equals the time waited so far, so that the end of a short run is noticed
 * soon.
 */
const resultPollMs = { min: 25, max: 1_000 };
const watchPollMs = 250;
const logPage = 1000;

export class RunHandle<Result = unknown> {
  readonly id: number;
  /** The outcome of the creation; null for a handle made from an id. */
  readonly outcome: 'created' | 'existing' | 'updated' | null;
  /** Never set: it only carries the type of the result for TypeScript. */
  declare readonly '~result'?: Result;
  readonly #backend: RunBackend;

  constructor(backend: RunBackend, id: number, outcome: RunHandle['outcome'] = null) {
    this.id = id;
    this.outcome = outcome;
    this.#backend = backend;
  }

  get(): Promise<Job> {
    return this.#backend.get(this.id);
  }

  /**
   * Waits for the end of the run and returns its result. Throws RunFailed or RunCancelled if the run did not succeed,
   * and a refusal if it has not ended within `timeout`.
   */
  async result({ timeout }: { readonly timeout?: Duration } = {}): Promise<Result> {
    const start = this.#backend.now();
    const deadline = timeout === undefined ? Infinity : start + durationMs(timeout);
    const changes = this.#backend.watchChanges(this.id);
    try {
      for (;;) {
        const job = await this.get();
        if (job.state === 'ended') return resultOf<Result>(job);
        const now = this.#backend.now();
        if (now >= deadline) {
          throw new Refusal('too.late', `run ${this.id} has not ended within ${timeout}`, { id: this.id });
        }
        const pollMs = Math.min(resultPollMs.max, Math.max(resultPollMs.min, now - start));
        await changes.changed(Math.min(pollMs, deadline - now));
      }
    } finally {
      changes.stop();
    }
  }

  /** Yields the run now and when it has changed, until it has ended and its whole log has been returned. */
  async *watch(): AsyncGenerator<RunUpdate, void, undefined> {
    let lastVersion = '';
    let after = 0;
    const changes = this.#backend.watchChanges(this.id);
    try {
      for (;;) {
        const snapshot = await this.#backend.snapshot(this.id);
        const log = await this.#backend.log(this.id, { after, limit: logPage });
        const version = JSON.stringify([snapshot.job.version, snapshot.tasks, snapshot.progress]);
        if (version !== lastVersion || log.length > 0) yield { ...snapshot, log };
        lastVersion = version;
        after = log.at(-1)?.n ?? after;
        if (log.length === logPage) continue;
        if (snapshot.job.state === 'ended') return;
        await changes.changed(watchPollMs);
      }
    } finally {
      changes.stop();
    }
  }

  cancel(options?: CancelOptions): Promise<Job> {
    return this.#backend.cancelJobRun(this.id, options);
  }

  stop(options?: EndOptions): Promise<StopAnswer> {
    return this.#backend.stopJobRun(this.id, options);
  }

  retry(options?: RetryOptions): Promise<Job> {
    return this.#backend.retryJobRun(this.id, options);
  }

  /** Answers a question of `waitFor`. */
  answer(name: string, value: unknown, options?: AnswerOptions): Promise<Job> {
    return this.#backend.answer(this.id, name, value, options);
  }

  events(): Promise<readonly Event[]> {
    return this.#backend.history(this.id);
  }

  /** Why the run is not running. */
  explain(): Promise<readonly Reason[]> {
    return this.#backend.explain(this.id);
  }

  /** Returns the finished steps of the run and its sleeps, in the order in which they were stored. */
  steps(request?: StepsRequest): Promise<readonly EndedStep[]> {
    return this.#backend.steps(this.id, request);
  }

  log(request?: LogRequest): Promise<readonly LogLine[]> {
    return this.#backend.log(this.id, request);
  }

  /** Returns a page of the output: the chunks that the handler has written, in their order. */
  output(request?: OutputRequest): Promise<readonly OutputChunk[]> {
    return this.#backend.output(this.id, request);
  }

  /**
   * Yields the chunks of the output, behind the position `after` or from the beginning, then each new one until the run
   * has ended, whichever process executes it. A chunk with `isFirst` replaces those before it that have the same `step`.
   */
  followOutput(request?: Pick<OutputRequest, 'after'>): AsyncGenerator<OutputChunk, void, undefined> {
    return followOutput(this.#backend, this.id, request);
  }
}

function resultOf<Result>(job: EndedJob): Result {
  if (job.fate === 'failed') throw new RunFailed(job);
  if (job.fate === 'cancelled') throw new RunCancelled(job);
  return (job.result === null ? undefined : parsePayload(job.result, `the result of run ${job.id}`)) as Result;
}
