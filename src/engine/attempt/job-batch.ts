/**
 * A batch: jobs of one type that are handled by one call of `runBatch`. Each job has its own attempt; the attempts meet
 * here, and the last one to arrive calls the handler.
 */
import type { RunningJob } from '../../model/job.ts';
import { andThen, isPromiseLike, type MaybePromise } from '../../time/maybe-promise.ts';
import type { ChildRuns, JobType } from '../declare/job-type.ts';
import type { Context } from '../handler/context.ts';
import { batchJob, BatchOutcome } from '../handler/batch-job.ts';

/** Returns what an attempt ends with, given the result of its job; it may store the children of the job first. */
type AfterHandling = (result: unknown) => MaybePromise<unknown>;

interface Member {
  readonly after: AfterHandling;
  readonly job: ReturnType<typeof batchJob<ChildRuns>>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class JobBatch {
  readonly type: JobType;
  readonly #error: { readonly thrown: unknown } | null;
  readonly #members = new Map<number, Member>();
  readonly #abort = new AbortController();
  readonly #aborted = new Set<number>();
  readonly #over = Promise.withResolvers<void>();
  #jobs: readonly RunningJob[];
  #expected = new Set<number>();

  /** `error`: what `batch.by` threw for the only job; the job fails with it. */
  constructor(type: JobType, jobs: readonly RunningJob[], error: { readonly thrown: unknown } | null = null) {
    this.type = type;
    this.#jobs = jobs;
    this.#error = error;
  }

  get jobs(): readonly RunningJob[] {
    return this.#jobs;
  }

  /** Resolves when the attempts of all jobs are over, or the batch was withdrawn before its start. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Call when the batch will not be started. */
  withdraw(): void {
    this.#over.resolve();
  }

  /** Removes jobs before the start: this instance no longer holds them. */
  drop(isDropped: (job: RunningJob) => boolean): void {
    this.#jobs = this.#jobs.filter((job) => !isDropped(job));
  }

  /** Calls `run` for each job, and resolves when all are over. An attempt that ends without `handle` is not awaited. */
  async run(run: (job: RunningJob) => MaybePromise<void>): Promise<void> {
    this.#expected = new Set(this.#jobs.map(({ id }) => id));
    const ends = this.#jobs.map((job) => andThen(run(job), () => this.#arrived(job.id)));
    await Promise.all(ends.filter(isPromiseLike));
    this.#over.resolve();
  }

  /** Handles a job together with the others; resolves to its own result, or rejects with its own error. */
  handle(context: Context, input: unknown, children: ChildRuns, after: AfterHandling): Promise<unknown> {
    if (this.#error !== null) throw this.#error.thrown;
    const { id } = context.run;
    return new Promise((resolve, reject) => {
      this.#members.set(id, { job: batchJob(context, input, children), after, resolve, reject });
      this.#arrived(id);
    });
  }

  #arrived(id: number): void {
    if (this.#expected.delete(id) && this.#expected.size === 0 && this.#members.size > 0) void this.#call();
  }

  /** Calls the handler with the jobs whose attempts have not ended while the batch waited for the others. */
  async #call(): Promise<void> {
    const jobs = [...this.#members.values()].map(({ job }) => job).filter(({ signal }) => !signal.aborted);
    if (jobs.length === 0) return this.#settle([]);
    try {
      this.#settle(await this.type.options.runBatch!({ jobs, signal: this.#abort.signal }));
    } catch (error) {
      for (const { reject } of this.#members.values()) reject(error);
    }
  }

  #settle(outcomes: unknown): void {
    const byJob = outcomesByJob(outcomes);
    for (const [id, { after, resolve, reject }] of this.#members) {
      const outcome = byJob.get(id);
      if (outcome === undefined) reject(new Error(`runBatch returned no outcome for job ${id}`));
      else if (outcome === 'several') reject(new Error(`runBatch returned several outcomes for job ${id}`));
      else if ('error' in outcome) reject(outcome.error);
      else resolve(after(outcome.result));
    }
  }

  /** Call when a job is aborted. Aborts the signal of the batch when all its jobs are. */
  abort(id: number, reason: unknown): void {
    this.#aborted.add(id);
    const isAborted = this.#members.keys().every((member) => this.#aborted.has(member));
    if (isAborted && this.#expected.size === 0) this.#abort.abort(reason);
  }
}

function outcomesByJob(outcomes: unknown): ReadonlyMap<number, BatchOutcome<unknown>['outcome'] | 'several'> {
  if (!Array.isArray(outcomes) || !outcomes.every((each) => each instanceof BatchOutcome)) {
    throw new TypeError('runBatch must return an array of the outcomes that job.done(…) and job.failed(…) return');
  }
  const byJob = new Map<number, BatchOutcome<unknown>['outcome'] | 'several'>();
  for (const { job, outcome } of outcomes as readonly BatchOutcome<unknown>[]) {
    byJob.set(job, byJob.has(job) ? 'several' : outcome);
  }
  return byJob;
}

/** What occupies one slot: a job, or a batch. */
export type SlotWork = RunningJob | JobBatch;

/** Returns the jobs of work that was taken from the queue and will not be started. */
export function withdrawn(work: SlotWork): readonly RunningJob[] {
  if (work instanceof JobBatch) work.withdraw();
  return jobsOf(work);
}

export const jobsOf = (work: SlotWork): readonly RunningJob[] => (work instanceof JobBatch ? work.jobs : [work]);
