/**
 * Bulk: one act on all jobs that fit a query, as a run of a built-in type, so that it goes on after a crash, shows its
 * progress, can be cancelled and is kept. Begun again, it passes over what it has done: that does not fit any more, or,
 * of what can fit again, was changed after the operation was asked for.
 */
import type { Jobs } from '../jobs.ts';
import { checkOneOf } from '../jobs/check.ts';
import { checkQuery } from '../jobs/look.ts';
import type { Job } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import type { Query } from '../store/query.ts';
import type { Context } from './work/context.ts';
import { jobType, type JobType } from './declare/job-type.ts';

export type BulkAction = 'cancel' | 'stop' | 'retry' | 'delete' | 'pause' | 'resume';
export const bulkActions: readonly BulkAction[] = ['cancel', 'stop', 'retry', 'delete', 'pause', 'resume'];

export interface BulkAsk {
  readonly action: BulkAction;
  readonly query: Query;
  /** Who asked: every act is done in this name. */
  readonly by: string;
  readonly why: string | null;
  readonly only: 'failed' | null;
  /** Store time: what was created later is not meant. */
  readonly asked: number;
}

export interface BulkOutcome {
  readonly done: number;
  /** How often each refusal was met. */
  readonly refused: Readonly<Record<string, number>>;
}

export const bulkTypeName = 'stint.bulk';

const page = 200;

export const bulkType = (jobs: Jobs): JobType<BulkAsk, BulkOutcome> =>
  jobType(bulkTypeName, {
    retry: { attempts: 5, crashes: 20 },
    run: (context) => runBulk(jobs, context, context.input as BulkAsk),
  });

async function runBulk(jobs: Jobs, { progress, signal, run, log }: Context, ask: BulkAsk): Promise<BulkOutcome> {
  const action = checkOneOf('action', ask.action, bulkActions);
  const createdBefore = Math.min(ask.query.createdBefore ?? Infinity, ask.asked + 1);
  const query = { ...checkQuery(ask.query), createdBefore };
  const refused: Record<string, number> = {};
  let done = 0;
  progress.startingStage(`${action} all that fit`, { total: await countMeant(jobs, query), onFailure: 'SKIP_ITEM' });
  for await (const job of meant(jobs, query)) {
    signal.throwIfAborted();
    if (job.type === bulkTypeName || (action === 'retry' && job.changed > ask.asked)) continue;
    progress.startingItem(`${job.type} ${job.id}`);
    try {
      await act(jobs, job.id, ask, run.id);
      progress.completedItem();
      done += 1;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused[error.code] = (refused[error.code] ?? 0) + 1;
      log.warn(`${action} of ${job.id} was refused: ${error.message}`);
      progress.failedItem(error);
    }
  }
  progress.completedStage(`${done} done`);
  return { done, refused };
}

async function act(jobs: Jobs, id: number, ask: BulkAsk, operation: number): Promise<void> {
  const { action, by, why, only } = ask;
  const asker = { by, why: `${why ?? 'bulk operation'} (operation ${operation})` };
  switch (action) {
    case 'cancel': return void (await jobs.cancel(id, asker));
    case 'stop': return void (await jobs.stop(id, asker));
    case 'retry': return void (await jobs.retry(id, asker, only ?? undefined));
    case 'pause': return void (await jobs.pause(id, asker));
    case 'resume': return void (await jobs.resume(id, asker));
    case 'delete': return jobs.delete(id);
  }
}

async function countMeant(jobs: Jobs, query: Query): Promise<number> {
  return (await jobs.count(query)).reduce((sum, { count }) => sum + count, 0);
}

/** By rising id, each once, whatever becomes of those that were passed. */
async function* meant(jobs: Jobs, query: Query): AsyncGenerator<Job> {
  for (let after: number | undefined; ; ) {
    const found = await jobs.find(query, { order: 'oldest', limit: page, ...(after === undefined ? {} : { after }) });
    yield* found.jobs;
    if (found.next === null) return;
    after = found.next;
  }
}
