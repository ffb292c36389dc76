/** A batch: jobs of one type that are handled by one call of `runBatch`. */
import type { RunningJob } from '../../model/job.ts';
import type { JobType } from '../declare/job-type.ts';

export class JobBatch {
  readonly type: JobType;
  /** What `batch.by` threw for the only job; the job fails with it. */
  readonly error: { readonly thrown: unknown } | null;
  readonly #over = Promise.withResolvers<void>();
  #jobs: readonly RunningJob[];

  constructor(type: JobType, jobs: readonly RunningJob[], error: { readonly thrown: unknown } | null = null) {
    this.type = type;
    this.#jobs = jobs;
    this.error = error;
  }

  get jobs(): readonly RunningJob[] {
    return this.#jobs;
  }

  /** Resolves when the attempts of all jobs are over, or the batch was withdrawn before its start. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Call when the attempts of all jobs are over. */
  end(): void {
    this.#over.resolve();
  }

  /** Call when the batch will not be started. */
  withdraw(): void {
    this.#over.resolve();
  }

  /** Removes jobs before the start: this instance no longer holds them. */
  drop(isDropped: (job: RunningJob) => boolean): void {
    this.#jobs = this.#jobs.filter((job) => !isDropped(job));
  }
}

/** What occupies one slot: a job, or a batch. */
export type SlotWork = RunningJob | JobBatch;

/** Returns the jobs of work that was taken from the queue and will not be started. */
export function withdrawn(work: SlotWork): readonly RunningJob[] {
  if (work instanceof JobBatch) work.withdraw();
  return jobsOf(work);
}

export const jobsOf = (work: SlotWork): readonly RunningJob[] => (work instanceof JobBatch ? work.jobs : [work]);
