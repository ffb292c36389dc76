/**
 * Completion: the end of a job in one transaction with the writes of its handler. The machine decides on the row that
 * is read in the transaction, and the write of the row is guarded by its version. If the job is no longer held under
 * the fence of this attempt, or was cancelled, the writes of the handler are rolled back.
 */
import type { Jobs } from '../../jobs.ts';
import { settleAfter } from '../../jobs/settle.ts';
import type { Change } from '../../model/change.ts';
import { jsonText } from '../../model/json.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import type { Store, StoreTransaction, Writer } from '../../store/store.ts';
import { checkFields } from '../../jobs/checks/values.ts';
import type { Complete } from '../handler/context.ts';
import { Cancelled, LeaseLost, throwIfSleeping } from '../handler/errors.ts';
import type { Attempt } from './attempt.ts';
import { completeScope, refuseInStep } from './call-scope.ts';
import type { Execution } from './execution.ts';
import type { JobWatchers } from './job-watchers.ts';

export interface CompletionParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly watchers: JobWatchers;
}

type Work<Tx, Result> = (tx: Tx) => Result | Promise<Result>;

/** Writes the notes of the attempt, which the store refuses after the end. */
type BeforeEnd = (writer?: Writer) => Promise<void>;

/**
 * Returns the function `complete` for the context of an attempt. `finishNotes` writes the notes of the attempt; it is the
 * same for all attempts.
 */
export function completionOf(
  parts: CompletionParts,
  execution: Execution,
  finishNotes: (execution: Execution, writer?: Writer) => Promise<void>,
): Complete {
  return async <Result>(
    given: Work<StoreTransaction, Result> | { readonly in: unknown },
    work?: Work<unknown, Result>,
  ): Promise<Result> => {
    const { attempt } = execution;
    const beforeEnd: BeforeEnd = (writer) => finishNotes(execution, writer);
    refuseInStep(attempt);
    throwIfSleeping(attempt);
    const { refusedCompletion } = attempt;
    if (refusedCompletion !== null) throw new Refusal('malformed.option', refusedCompletion, { id: attempt.job.id });
    attempt.isCompleting = true;
    try {
      return await (typeof given === 'function'
        ? completeInStore(parts, attempt, beforeEnd, given)
        : completeIn(checkFields('options', given, ['in']).in, parts, attempt, beforeEnd, checkWork(work)));
    } catch (error) {
      attempt.isCompleting = false;
      throw error;
    }
  };
}

async function completeInStore<Result>(
  parts: CompletionParts,
  attempt: Attempt,
  beforeEnd: BeforeEnd,
  work: Work<StoreTransaction, Result>,
): Promise<Result> {
  const store = transactingStore(parts.jobs.store);
  if (attempt.steps !== null) {
    await attempt.steps.whenIdle();
    throwIfSleeping(attempt);
  }
  await beforeEnd();
  const { result, change } = await store.transact(async (tx) => {
    const result = await completeScope.run(attempt, async () => work(tx));
    return { result, change: await endIn(tx, parts, attempt, result) };
  });
  attempt.complete();
  await announce(parts, change);
  return result;
}

/** Completes in the caller's transaction. Whether it was committed is known when the handler has returned. */
async function completeIn<Result>(
  tx: unknown,
  parts: CompletionParts,
  attempt: Attempt,
  beforeEnd: BeforeEnd,
  work: Work<unknown, Result>,
): Promise<Result> {
  const writer = parts.jobs.store.within(tx);
  const result = await completeScope.run(attempt, async () => work(tx));
  await beforeEnd(writer);
  const change = await endIn(tx, parts, attempt, result);
  attempt.expectCommit(() => confirm(parts, attempt, change));
  return result;
}

async function confirm(parts: CompletionParts, attempt: Attempt, change: Change): Promise<void> {
  const { id, fence } = attempt.holding;
  const [job] = await parts.jobs.store.load([id]);
  if (job?.state === 'running' && job.fence === fence) throw new Refusal('malformed.store', uncommitted);
  if (job !== undefined && (job.state !== 'ended' || job.fence !== fence)) return attempt.revoke();
  attempt.complete();
  await announce(parts, change);
}

const calledTwice = 'complete({ in: tx }) was called before in this attempt: call it once per transaction';

const uncommitted =
  'the transaction that was passed to complete() is not committed: commit it before the handler returns';

function checkWork<Result>(work: Work<unknown, Result> | undefined): Work<unknown, Result> {
  if (typeof work === 'function') return work;
  throw new Refusal('malformed.store', 'complete({ in: tx }) needs a function: complete({ in: tx }, async () => …)');
}

type TransactingStore = Store & Required<Pick<Store, 'transact'>>;

function transactingStore(store: Store): TransactingStore {
  if (store.transact !== undefined) return store as TransactingStore;
  throw new Refusal('malformed.store', 'complete() needs a store on PostgreSQL or in a file: return the result');
}

async function endIn(
  tx: unknown,
  { jobs, by }: CompletionParts,
  attempt: Attempt,
  result: unknown,
): Promise<Change> {
  const { id, fence } = attempt.holding;
  attempt.signal.throwIfAborted();
  try {
    const change = await jobs.within(tx).succeedUnder({ id, fence }, jsonText(result), { by });
    const { after } = change;
    if (after?.state === 'ended' && after.fate !== 'succeeded') throw new Cancelled(`job ${id} was cancelled`);
    return change;
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'lost.lease') throw error;
    // The end that was found may be that of the first call, which is not committed: this worker may still hold the job.
    if (attempt.isCommitExpected) throw new Refusal('malformed.store', calledTwice);
    attempt.revoke();
    throw new LeaseLost(error.message);
  }
}

/** Settles the parent of the job and wakes those who wait for it. If settling fails, maintenance makes it up. */
async function announce({ jobs, by, watchers }: CompletionParts, change: Change): Promise<void> {
  const { id, parent } = change.after!;
  await settleAfter(jobs.store, [change], { by }).catch(() => {});
  watchers.notify(parent === null ? [id] : [id, parent]);
}
