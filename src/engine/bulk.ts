/**
 * Bulk: one operation on the jobs that match a query, except bulk runs and jobs created after the request. It is a run
 * of a built-in type, so it survives a crash, shows its progress and can be cancelled. A second attempt does not repeat
 * the work of the first: a cancel or stop skips jobs that have ended since the request, a retry skips jobs that have
 * changed since then, and a second pause or resume of a job is refused.
 */
import type { Asker } from '../apply.ts';
import type { Jobs } from '../jobs.ts';
import { checkOneOf } from '../jobs/checks/values.ts';
import { checkQuery } from '../jobs/checks/query.ts';
import type { Job } from '../model/job.ts';
import type { TerminateCode } from '../model/state.ts';
import { isRefusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import type { Query } from '../store/query.ts';
import type { Context } from './handler/context.ts';
import { fingerprintOf } from './inspect/fingerprint.ts';
import { jobType, type JobType } from './declare/job-type.ts';

export type BulkAction = 'cancel' | 'stop' | 'retry' | 'delete' | 'pause' | 'resume';
export const bulkActions: readonly BulkAction[] = ['cancel', 'stop', 'retry', 'delete', 'pause', 'resume'];

export interface BulkRequest {
  readonly action: BulkAction;
  readonly query: Query;
  /** The person who requested the operation. Each change of a job is recorded under this name. */
  readonly by: string;
  readonly why: string | null;
  /** For `cancel` and `stop`: who ends the jobs, such as `admin` or `automation`. Default: `user`. */
  readonly code?: TerminateCode;
  readonly only: 'failed' | null;
  /** How many jobs matched at the time of the request. */
  readonly count?: number;
  /** Restricts the operation to matching jobs whose error has this fingerprint. */
  readonly fingerprint?: string;
  /** Store time of the request: jobs created later are excluded. */
  readonly asked: number;
}

export interface BulkOutcome {
  readonly done: number;
  /** For how many jobs the operation was refused, by the code of the refusal. */
  readonly refused: Readonly<Record<string, number>>;
}

export const bulkTypeName = 'stint.bulk';

const page = 200;

export const bulkType = (jobs: Jobs): JobType<BulkRequest, BulkOutcome> =>
  jobType(bulkTypeName, {
    retry: { attempts: 5, crashes: 20 },
    run: (context) => runBulk(jobs, context, context.input as BulkRequest),
  });

async function runBulk(
  jobs: Jobs,
  { progress, signal, run, log }: Context,
  request: BulkRequest,
): Promise<BulkOutcome> {
  const action = checkOneOf('action', request.action, bulkActions);
  const createdBefore = Math.min(request.query.createdBefore ?? Infinity, request.asked + 1);
  const query = { ...checkQuery(request.query), createdBefore };
  const refused: Record<string, number> = {};
  let done = 0;
  const total = await totalOf(jobs, query, request);
  progress.startingStage(`${action} matching jobs`, { ...total, onFailure: 'SKIP_ITEM' });
  for await (const job of matching(jobs, query, request.fingerprint)) {
    signal.throwIfAborted();
    if (job.type === bulkTypeName || (action === 'retry' && job.changed > request.asked)) continue;
    progress.startingItem(`${job.type} ${job.id}`);
    try {
      if (!isOverSince(job, request)) await act(jobs, job, request, run.id);
      progress.completedItem();
      done += 1;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused[error.code] = (refused[error.code] ?? 0) + 1;
      log.warn(`cannot ${action} job ${job.id}: ${error.message}`);
      progress.failedItem(error);
    }
  }
  progress.completedStage(`${done} done`);
  return { done, refused };
}

/**
 * Whether a cancel or stop has nothing left to do, because the job has ended since the request. An earlier attempt of
 * the bulk run may have ended it.
 */
const isOverSince = (job: Job, { action, asked }: BulkRequest): boolean =>
  (action === 'cancel' || action === 'stop') && job.state === 'ended' && job.endedAt >= asked;

async function act(jobs: Jobs, job: Job, request: BulkRequest, operation: number): Promise<void> {
  const { action, by, why, code = 'user', only, fingerprint } = request;
  const { id } = job;
  const asker = { by, why: `${why ?? 'bulk operation'} (operation ${operation})` };
  switch (action) {
    case 'cancel': return void (await jobs.cancel(id, { ...asker, code }));
    case 'stop': return void (await jobs.stop(id, { ...asker, code }));
    case 'retry':
      if (fingerprint !== undefined && job.parent !== null) return retryTask(jobs, job, asker);
      return void (await jobs.retry(id, asker, only ? { only } : {}));
    case 'pause': return void (await jobs.pause(id, asker));
    case 'resume': return void (await jobs.resume(id, asker));
    case 'delete': return jobs.delete(id, asker);
  }
}

/**
 * Retries a task. If its run has ended, retries the run with all its failed or cancelled tasks instead. Does nothing if
 * the task is open, for example because an earlier call, for another task, has retried the run.
 */
async function retryTask(jobs: Jobs, { id, parent }: Job, asker: Asker): Promise<void> {
  const [task, run] = [await jobs.get(id), await jobs.get(parent!)];
  if (task?.state !== 'ended') return;
  if (run?.state === 'ended') await jobs.retry(run.id, asker, { only: 'failed' });
  else await jobs.retry(id, asker);
}

const countedMax = 10_000;

/**
 * Returns how many jobs match now. Fingerprints are not stored. With a fingerprint, the jobs are therefore read and
 * compared one by one, and counting stops at `countedMax`.
 */
export async function countMatching(jobs: Jobs, query: Query, fingerprint?: string): Promise<number> {
  if (fingerprint === undefined) return (await jobs.count(query)).reduce((sum, { count }) => sum + count, 0);
  let count = 0;
  for await (const _ of matching(jobs, query, fingerprint)) if (++count === countedMax) break;
  return count;
}

async function totalOf(jobs: Jobs, query: Query, { fingerprint }: BulkRequest): Promise<{ readonly total?: number }> {
  return fingerprint === undefined ? { total: await countMatching(jobs, query) } : {};
}

/** Yields the matching jobs by ascending id, each once, even if jobs change meanwhile. */
async function* matching(jobs: Jobs, query: Query, fingerprint?: string): AsyncGenerator<Job> {
  for await (const found of pagesOf(jobs, query, page)) {
    yield* fingerprint === undefined ? found : found.filter((job) => fingerprintOf(job) === fingerprint);
  }
}
