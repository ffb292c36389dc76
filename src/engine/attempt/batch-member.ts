/** A member of a batch: one of its jobs, with its attempt, and what the handler receives for it. */
import type { Jobs } from '../../jobs.ts';
import type { BatchParentJob } from '../declare/job-type.ts';
import { BatchOutcome, type JobOutcome } from '../handler/batch-job.ts';
import { jobLog } from '../handler/job-log.ts';
import type { Notes } from '../progress/notes.ts';
import { AddedChildren } from './child-runs.ts';
import type { Execution } from './execution.ts';
import { factsOf } from './handler-context.ts';
import { jobLimits } from './limit-use.ts';
import { outputOf } from './output.ts';

export class BatchMember {
  readonly execution: Execution;
  readonly children: AddedChildren;
  /** Whether the attempt waits for the call of the handler, or was part of it. */
  hasArrived = false;
  /** What the handler receives; null: the input is not known yet. */
  job: BatchParentJob<unknown> | null = null;
  outcome: JobOutcome<unknown> | 'several' | null = null;
  /** Settles what middleware and spans await; null: nothing surrounds the handling of the job. */
  surrounded: PromiseWithResolvers<unknown> | null = null;
  /** The end of what surrounds the handling of the job. */
  surrounding: Promise<unknown> | null = null;
  /** Whether the outcome of the attempt is decided. */
  isOver = false;

  constructor(execution: Execution) {
    this.execution = execution;
    this.children = new AddedChildren(execution.type, execution.attempt);
  }
}

export interface BatchJobParts {
  readonly jobs: Jobs;
  readonly notes: Notes;
  /** Stands before the idempotency keys of the jobs, if their ids start anew with each process. */
  readonly keyPrefix?: string;
}

/**
 * Returns what the handler receives for a job. It has only plain properties, so that handlers can destructure or spread
 * it.
 */
export function batchJobOf(
  { jobs: { store }, notes, keyPrefix }: BatchJobParts,
  { execution: { attempt, tracker }, children }: BatchMember,
  input: unknown,
): BatchParentJob<unknown> {
  const { job, holding, signal } = attempt;
  const { run, idempotencyKey, fence } = factsOf(attempt, keyPrefix);
  return {
    run, idempotencyKey, fence, signal, input, children,
    progress: tracker,
    log: jobLog((level, text) => notes.log(holding, level, text)),
    output: outputOf({ store, notes, outside: null }, attempt),
    limits: jobLimits(store, job),
    done: <Result>(result?: Result): BatchOutcome<Result | undefined> => new BatchOutcome(job.id, { result }),
    failed: (error) => new BatchOutcome<never>(job.id, { error }),
  };
}
