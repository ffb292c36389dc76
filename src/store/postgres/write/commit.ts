/**
 * Commits batches: one statement per kind of write. Changes that depend on each other are written in their order.
 * Implements `commit` of `port/writing.ts`.
 */
import type { Change } from '../../../model/change.ts';
import { isOpen } from '../../../model/job.ts';
import { neededKey, releasedKey } from '../../../model/unique-key.ts';
import type { Batch } from '../../store.ts';
import { textArray, numberArray } from '../sql/row-parameters.ts';
import type { Database, OnUnknownOutcome, Session, Transaction } from '../sql/database.ts';
import { resolveUnknownCommit } from './unknown-outcome.ts';
import { ignore, isUniqueViolation } from '../sql/errors.ts';
import { deleteBelongings } from '../maintain/purge.ts';
import { needsHistoryChunk, type Ctids } from './fields.ts';
import { unstage } from './staging.ts';
import { idOf, writeKindOf, write, lockById, type InsertMode, type WriteKind } from './statements.ts';
import type { WrittenIds } from './single-row.ts';

/**
 * Writes a batch; returns for each change whether it was written. The statements that `afterWrite` sends leave in the
 * same packet as the commit, and run after it.
 */
export async function commit(
  database: Database,
  batch: Batch,
  afterWrite: AfterWrite = ignore,
): Promise<boolean[]> {
  if (batch.changes.length === 0 && !batch.staged) return [];
  let isOutcomeUnknown = false;
  const onUnknownOutcome = (): void => {
    isOutcomeUnknown = true;
  };
  const attempt = (mode: InsertMode): Promise<boolean[]> =>
    writeBatch({ database, mode: () => (isOutcomeUnknown ? 'checked' : mode), afterWrite }, batch, onUnknownOutcome);
  const written = await attempt('fast').catch((error: unknown) => {
    // The fast insert failed because an open job has one of the new ids. The checked insert leaves out the new job with
    // that id, and writes the others.
    if (isUniqueViolation(error)) return attempt('checked');
    throw error;
  });
  return isOutcomeUnknown ? resolveUnknownCommit(database, batch, written) : written;
}

export type AfterWrite = (session: Session) => void;

/**
 * Writes a batch inside the caller's transaction; returns for each change whether it was written. The statements of
 * `afterWrite` run inside the transaction, too.
 */
export async function commitWithin(
  session: Session,
  batch: Batch,
  afterWrite: (session: Session) => unknown,
): Promise<boolean[]> {
  const rollBack = async (): Promise<void> => {
    await session.runUnprepared('rollback to savepoint stint');
    await session.runUnprepared('release savepoint stint');
  };
  await session.runUnprepared('savepoint stint');
  const written = await lockAndWrite(session, batch.changes).catch(
    async (error: unknown) => {
      await rollBack(); // otherwise the error aborts the caller's transaction
      throw error;
    },
  );
  const isWritten = !batch.whole || !written.includes(false);
  if (isWritten) await afterWrite(session);
  await (isWritten ? session.runUnprepared('release savepoint stint') : rollBack());
  return isWritten ? written : written.map(() => false);
}

async function lockAndWrite(session: Session, changes: readonly Change[]): Promise<boolean[]> {
  const steps = stepsOf(changes);
  if (needsLocks(steps, changes)) await lockRows(session, changes);
  return writeSteps(session, 'checked', steps, changes);
}

/**
 * Writes the changes of a claim, updates of several rows by the ctids of the locked rows, and commits the transaction.
 */
export async function commitClaimed(
  transaction: Transaction,
  changes: readonly Change[],
  ctids: Ctids,
): Promise<boolean[]> {
  const written = writeSteps(transaction, 'checked', stepsOf(changes), changes, ctids);
  const [answer] = await Promise.all([written, transaction.commit()]);
  return answer;
}

/** Changes of one kind that do not depend on each other; one statement writes them. */
interface WriteStep {
  readonly kind: WriteKind;
  readonly indexes: number[];
}

/**
 * Groups changes by the kind of write. A change that has the same job or key as an earlier change must be written after
 * that change, and therefore starts new steps.
 */
function stepsOf(changes: readonly Change[]): WriteStep[] {
  const steps: WriteStep[] = [];
  let open = new Map<WriteKind, WriteStep>();
  let touched = new Set<number | string>();
  const isTouched = (one: number | string | null): boolean => one !== null && touched.has(one);
  const touch = (one: number | string | null): void => void (one !== null && touched.add(one));
  changes.forEach((change, index) => {
    const [id, released, needed] = [idOf(change), releasedKey(change), neededKey(change)];
    if (isTouched(id) || isTouched(released) || isTouched(needed)) {
      open = new Map();
      touched = new Set();
    }
    touch(id);
    touch(released);
    touch(needed);
    const kind = writeKindOf(change);
    const step = open.get(kind);
    if (step) {
      step.indexes.push(index);
      return;
    }
    const fresh = { kind, indexes: [index] };
    open.set(kind, fresh);
    steps.push(fresh);
  });
  return steps;
}

interface WriteParts {
  readonly database: Database;
  readonly mode: () => InsertMode;
  readonly afterWrite: AfterWrite;
}

function writeBatch(
  { database, mode, afterWrite }: WriteParts,
  batch: Batch,
  onUnknownOutcome: OnUnknownOutcome,
): Promise<boolean[]> {
  const { changes, whole = false, staged } = batch;
  const steps = stepsOf(changes);
  const isAlone = steps.length === 1 && !staged && (!whole || changes.length === 1);
  if (isAlone && steps[0]!.kind !== 'delete' && !needsLocks(steps, changes)) {
    return database.use((session) => {
      const writing = writeSteps(session, mode(), steps, changes);
      afterWrite(session);
      return writing;
    }, onUnknownOutcome);
  }
  return database.transaction(async (transaction) => {
    const locked = needsLocks(steps, changes) ? lockRows(transaction, changes) : undefined;
    const writing = writeSteps(transaction, mode(), steps, changes);
    const unstaging = staged && unstage(transaction, staged.parent, staged.fence);
    const isDecided = !whole && !steps.some(({ kind }) => kind === 'delete');
    const committing = isDecided ? transaction.commit() : undefined;
    if (isDecided) afterWrite(transaction);
    const [written, isUnstaged] = await Promise.all([writing, unstaging, locked, committing]);
    if (isDecided) return written;
    const isComplete = !whole || (!written.includes(false) && isUnstaged !== false);
    const ending = isComplete ? transaction.commit() : transaction.rollback();
    afterWrite(transaction);
    await ending;
    return isComplete ? written : written.map(() => false);
  }, onUnknownOutcome);
}

/**
 * Sends the first statements of all steps together, usually in one round trip: only a `delete`, or an `insert` that
 * cannot be fast, sends more after an answer. Returns for each change whether it was written.
 */
async function writeSteps(
  session: Session,
  mode: InsertMode,
  steps: readonly WriteStep[],
  changes: readonly Change[],
  ctids?: Ctids,
): Promise<boolean[]> {
  const answers = await Promise.all(steps.map(({ kind, indexes }) => {
    const chosen = indexes.length === changes.length ? changes : indexes.map((index) => changes[index]!);
    return kind === 'delete' ? deleteJobs(session, chosen) : write(session, mode, kind, chosen, ctids);
  }));
  const written = Array<boolean>(changes.length).fill(false);
  steps.forEach(({ indexes }, at) => {
    const ids: WrittenIds = answers[at]!;
    for (const index of indexes) written[index] = ids === 'all' || ids.has(idOf(changes[index]!));
  });
  return written;
}

/**
 * Whether the rows must be locked in the order of ids before they are written. They must if several statements change
 * stored rows, or if one part of a statement reads a row that another part changes.
 */
const needsLocks = (steps: readonly WriteStep[], changes: readonly Change[]): boolean =>
  steps.filter(({ kind }) => kind !== 'insert').length > 1 ||
  steps.some(({ kind }) => kind === 'reopen' || kind === 'delete') ||
  changes.some(needsHistoryChunk);

async function lockRows(session: Session, changes: readonly Change[]): Promise<void> {
  const seen = changes.filter(({ before }) => before !== null);
  await Promise.all([
    lockById(session, 'job', seen.filter(({ before }) => isOpen(before!)).map(idOf)),
    lockById(session, 'ended', seen.filter(({ before }) => !isOpen(before!)).map(idOf)),
  ]);
}

/**
 * Deletes the jobs that still have the version that was read, with their unique keys, histories, progress, logs and
 * ended children; returns the ids of the jobs. A unique key with a period is not deleted: it stays taken until the
 * period ends.
 */
async function deleteJobs(session: Session, changes: readonly Change[]): Promise<WrittenIds> {
  const { schema } = session;
  const values = [numberArray(changes.map(idOf)), numberArray(changes.map(({ before }) => before!.version))];
  const removeFrom = (table: string): string => `delete from ${schema}.${table} gone
    using unnest($1::bigint[], $2::bigint[]) as goal (id, seen) cross join lateral (
      select ctid as row_ctid from ${schema}.${table} sought where sought.id = goal.id limit 1) found
    where gone.ctid = found.row_ctid and gone.version = goal.seen returning gone.id`;
  const text = `with open as (${removeFrom('job')}), ended as (${removeFrom('ended')}), released as (
      delete from ${schema}.unique_key where key = any($3::text[]) and until is null and job in (select id from open)
    ) select id from open union all select id from ended`;
  const keys = textArray(changes.map(releasedKey).filter((key) => key !== null));
  const gone = await session.run<{ id: number }>(text, [...values, keys]);
  const ids = gone.map(({ id }) => Number(id));
  await deleteBelongings(session, ids);
  return new Set(ids);
}

/**
 * Reserves ids and returns the first. Calls `onSchema` with the version of the schema, because a newer Stint may have
 * migrated the schema after this store was opened.
 */
export async function reserveIds(session: Session, amount: number, onSchema: (version: number) => void): Promise<number> {
  const text = `update ${session.schema}.counter set value = value + $1 where name = 'id'
    returning value, (select version from ${session.schema}.meta) as schema`;
  const [row] = await session.run<{ value: number; schema: number }>(text, [amount]);
  onSchema(row!.schema);
  return row!.value - amount + 1;
}
