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
import type { Store, StoreTransaction } from '../../store/store.ts';
import type { Context } from '../handler/context.ts';
import { Cancelled, LeaseLost } from '../handler/errors.ts';
import type { Attempt } from './attempt.ts';
import type { JobWatchers } from './job-watchers.ts';

export interface CompletionParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly watchers: JobWatchers;
}

/**
 * Returns the function `complete` for the context of an attempt. `beforeEnd` writes the notes of the attempt, which the
 * store refuses after the end.
 */
export function completionOf(
  parts: CompletionParts,
  attempt: Attempt,
  beforeEnd: () => Promise<void>,
): Context['complete'] {
  return async (work) => {
    const store = transactingStore(parts.jobs.store);
    await beforeEnd();
    const { result, change } = await store.transact(async (tx) => {
      const result = await work(tx);
      return { result, change: await endIn(tx, parts, attempt, result) };
    });
    attempt.complete();
    await announce(parts, change);
    return result;
  };
}

type TransactingStore = Store & Required<Pick<Store, 'transact'>>;

function transactingStore(store: Store): TransactingStore {
  if (store.transact !== undefined) return store as TransactingStore;
  throw new Refusal('malformed.store', 'complete() needs a store on PostgreSQL or in a file: return the result');
}

async function endIn(
  tx: StoreTransaction,
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
