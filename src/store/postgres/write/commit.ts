/**
 * Commits batches: one statement per kind of write. Changes that depend on each other are written in their order.
 * Implements `commit` of `port/writing.ts`.
 */
import { startsNewJob, type Change } from '../../../model/change.ts';
import { isOpen } from '../../../model/job.ts';
import { releasedKey } from '../../../model/unique-key.ts';
import type { Batch } from '../../store.ts';
import { textArray, numberArray } from '../sql/row-parameters.ts';
import { isForgottenByCaller, isUniqueViolationOfCaller, type CallerSession } from '../sql/caller-transaction.ts';
import type { Database, OnUnknownOutcome, Session, Transaction } from '../sql/database.ts';
import { resolveUnknownCommit } from './unknown-outcome.ts';
import { ignore, isUniqueViolation } from '../sql/errors.ts';
import { keepOutcomesSql, writeFollowing } from '../maintain/following.ts';
import { deleteBelongings } from '../maintain/purge.ts';
import { needsHistoryChunk } from './fields.ts';
import type { JobClaims } from '../sql/job-claims.ts';
import { unstage } from './staging.ts';
import { endWaits, forgetSteps } from './steps.ts';
import { idOf } from './id-of.ts';
import { batchesOf, claimBatch } from './claim-batch.ts';
import type { LockedRows } from './locked-rows.ts';
import { runsInClaim } from './end-claimed.ts';
import { claimsOf, findClaims, leaveClaims, lockClaims } from '../maintain/leave-claim.ts';
import { writeKindOf, write, lockById, type InsertMode, type WriteKind } from './statements.ts';
import type { WrittenIds } from './single-row.ts';
import { Touched } from './touched.ts';
import { insertWithin } from './insert-within.ts';
import type { Notice } from '../sql/notices.ts';

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
  const written = await writeBoundToClaims(database, batch, (some) => commitOnce(database, some, afterWrite));
  return recordRows(database.claims, batch.changes, written);
}

/**
 * Finds the claims of the jobs, and writes the batch by `writeOnce`. Changes of jobs that have left their claims since
 * they were read are written again.
 */
async function writeBoundToClaims(
  session: Session,
  batch: Batch,
  writeOnce: (batch: Batch) => Promise<boolean[]>,
): Promise<boolean[]> {
  await findClaims(session, batch.changes);
  const written = await writeOnce(batch);
  if (!written.includes(false)) return written;
  const moved = await findMoved(session, batch.changes.filter((_, index) => !written[index]));
  if (moved.size === 0) return written;
  if (batch.whole) return writeBoundToClaims(session, batch, writeOnce);
  const again = await writeBoundToClaims(session, { changes: [...moved] }, writeOnce);
  const isWritten = new Set([...moved].filter((_, index) => again[index]));
  return written.map((was, index) => was || isWritten.has(batch.changes[index]!));
}

/**
 * Returns those of the changes whose jobs have left their claims since they were read, without a new version: a job
 * whose lease is extended gets a row of its own.
 */
async function findMoved(session: Session, changes: readonly Change[]): Promise<Set<Change>> {
  const claimed = changes.filter(({ before }) => runsInClaim(session.claims, before));
  for (const { before } of claimed) session.claims.forget(before!);
  await findClaims(session, claimed);
  return new Set(claimed.filter(({ before }) => !runsInClaim(session.claims, before)));
}

/** Records that the jobs that run after these changes have rows of their own; returns `written`. */
function recordRows(claims: JobClaims, changes: readonly Change[], written: boolean[]): boolean[] {
  changes.forEach(({ after }, index) => {
    if (after !== null && written[index]) claims.record(after, 0);
  });
  return written;
}

/** Writes a batch. It is known of each job whether it runs in a claim, or did when it was read. */
async function commitOnce(database: Database, batch: Batch, afterWrite: AfterWrite): Promise<boolean[]> {
  let isOutcomeUnknown = false;
  const onUnknownOutcome = (): void => {
    isOutcomeUnknown = true;
  };
  const attempt = (mode: InsertMode): Promise<boolean[]> =>
    writeBatch({ database, mode: () => (isOutcomeUnknown ? 'checked' : mode), afterWrite }, batch, onUnknownOutcome);
  const written = await attempt('fast').catch((error: unknown) => {
    // The fast insert failed because an open job has one of the new ids, or because a job has ended before. The checked
    // insert leaves out that job, and writes the others.
    if (isUniqueViolation(error)) return attempt('checked');
    throw error;
  });
  return isOutcomeUnknown ? resolveUnknownCommit(database, batch, written) : written;
}

export type AfterWrite = (session: Session) => void;

/** Writes a batch inside a transaction that is open; returns for each change whether it was written. */
export function commitWithin(session: Session, batch: Batch, notice: Notice | null = null): Promise<boolean[]> {
  return writeBoundToClaims(session, batch, (some) => writeInSavepoint(session, some, notice));
}

/** Like `commitWithin`, in the caller's transaction. `notice` is sent when it commits. */
export async function commitForCaller(session: CallerSession, batch: Batch, notice: Notice | null): Promise<boolean[]> {
  const newJob = onlyNewJob(batch);
  const answer = newJob && (await insertInSavepoint(session, newJob, notice));
  return answer === null ? commitWithin(session, batch, notice) : [answer];
}

/** Returns the change of a batch that only creates one job, which is not running. */
function onlyNewJob({ changes, whole: _whole, ...more }: Batch): Change | null {
  const [change] = changes;
  if (changes.length !== 1 || change!.before !== null || startsNewJob(change!)) return null;
  for (const part of Object.values(more)) if (part !== undefined) return null;
  return change!;
}

/** Returns null if the statements for batches must insert the job. */
async function insertInSavepoint(session: CallerSession, change: Change, notice: Notice | null): Promise<boolean | null> {
  await session.runUnprepared('savepoint stint');
  try {
    const isWritten = await insertWithin(session, change, notice);
    await session.runUnprepared('release savepoint stint');
    return isWritten;
  } catch (error) {
    await rollBackToSavepoint(session);
    if (isForgottenByCaller(error)) session.stopPreparing();
    else if (!isUniqueViolationOfCaller(error)) throw error;
    return null;
  }
}

/** Without it, an error of a statement aborts the caller's transaction. */
async function rollBackToSavepoint(session: Session): Promise<void> {
  await session.runUnprepared('rollback to savepoint stint');
  await session.runUnprepared('release savepoint stint');
}

async function writeInSavepoint(session: Session, batch: Batch, notice: Notice | null): Promise<boolean[]> {
  await session.runUnprepared('savepoint stint');
  const written = await lockAndWrite(session, batch).catch(
    async (error: unknown) => {
      await rollBackToSavepoint(session);
      throw error;
    },
  );
  const isWritten = !batch.whole || !written.includes(false);
  if (isWritten && notice) await notifyWithin(session, notice);
  await (isWritten ? session.runUnprepared('release savepoint stint') : rollBackToSavepoint(session));
  return isWritten ? written : written.map(() => false);
}

/** Notifies all processes when the caller's transaction commits. Prisma reads no type `void`. */
export const notifyWithin = (session: Session, notice: Notice): Promise<unknown> =>
  session.run('select pg_notify($1, $2)::text', notice);

/** Takes the jobs out of their claims, except those that end, and writes the changes. */
async function lockAndWrite(session: Session, batch: Batch): Promise<boolean[]> {
  const { changes } = batch;
  const steps = stepsOf(changes, session.claims);
  await Promise.all(takeOutOfClaims(session, changes));
  if (needsLocks(steps, changes)) await lockRows(session, changes);
  const written = await writeSteps(session, 'checked', steps, changes);
  await writeFollowing(session, batch);
  if (batch.forgottenSteps) await forgetSteps(session, batch.forgottenSteps);
  if (batch.waitEnds) await endWaits(session, batch.waitEnds);
  return written;
}

/** Sends the statements that lock the claims of jobs, and give the jobs that do not end rows of their own. */
function takeOutOfClaims(session: Session, changes: readonly Change[]): Promise<void>[] {
  const leaving = changes.filter((change) => leavesClaim(change, session.claims));
  return [lockClaims(session, claimsOf(session, changes)), leaveClaims(session, leaving.map(({ before }) => before!))];
}

const leavesClaim = (change: Change, claims: JobClaims): boolean =>
  runsInClaim(claims, change.before) && writeKindOf(change, claims) !== 'endClaimed';

/**
 * Writes the changes of a claim, updates of several rows by the ctids of the locked rows, and commits the transaction.
 */
export async function commitClaimed(
  transaction: Transaction,
  changes: readonly Change[],
  locked: LockedRows,
): Promise<boolean[]> {
  const [single, ...batches] = batchesOf(changes, locked);
  const claiming = batches.map((batch) => claimBatch(transaction, batch, locked));
  const writing = writeSteps(transaction, 'checked', stepsOf(single, transaction.claims), single, locked);
  const [written] = await Promise.all([writing, ...claiming, transaction.commit()]);
  if (single.length === 0) return Array<boolean>(changes.length).fill(true);
  recordRows(transaction.claims, single, written);
  const missed = new Set(single.filter((_, index) => !written[index]));
  return changes.map((change) => !missed.has(change));
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
function stepsOf(changes: readonly Change[], claims: JobClaims): WriteStep[] {
  const steps: WriteStep[] = [];
  const open = new Map<WriteKind, WriteStep>();
  const touched = new Touched();
  let last: WriteStep | undefined;
  changes.forEach((change, index) => {
    if (touched.has(change)) {
      open.clear();
      touched.clear();
      last = undefined;
    }
    touched.add(change);
    const kind = writeKindOf(change, claims);
    if (last?.kind !== kind) last = open.get(kind);
    if (last) {
      last.indexes.push(index);
      return;
    }
    last = { kind, indexes: [index] };
    open.set(kind, last);
    steps.push(last);
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
  const newJob = onlyNewJob(batch);
  if (newJob) {
    return database.use((session) => {
      const writing = writeNewJob(session, mode(), newJob);
      afterWrite(session);
      return writing;
    }, onUnknownOutcome);
  }
  const { changes, whole = false, staged } = batch;
  const steps = stepsOf(changes, database.claims);
  const { forgottenSteps, waitEnds } = batch;
  const isFollowing = batch.edges !== undefined || batch.flows !== undefined;
  const hasSteps = forgottenSteps !== undefined || waitEnds !== undefined;
  const isAlone = steps.length === 1 && !staged && !isFollowing && !hasSteps && (!whole || changes.length === 1);
  const areLeaving = steps.some(({ kind }) => kind !== 'endClaimed') && changes.some((change) => leavesClaim(change, database.claims));
  if (isAlone && steps[0]!.kind !== 'delete' && !areLeaving && !needsLocks(steps, changes)) {
    return database.use((session) => {
      const writing = writeSteps(session, mode(), steps, changes);
      afterWrite(session);
      return writing;
    }, onUnknownOutcome);
  }
  return database.transaction(async (transaction) => {
    const left = takeOutOfClaims(transaction, changes);
    const locked = needsLocks(steps, changes) ? lockRows(transaction, changes) : undefined;
    const writing = writeSteps(transaction, mode(), steps, changes);
    const following = isFollowing ? writeFollowing(transaction, batch) : undefined;
    const forgetting = forgottenSteps && forgetSteps(transaction, forgottenSteps);
    const ending = waitEnds && endWaits(transaction, waitEnds);
    const unstaging = staged && unstage(transaction, staged.parent, staged.fence);
    const isDecided = !whole && !steps.some(({ kind }) => kind === 'delete');
    const committing = isDecided ? transaction.commit() : undefined;
    if (isDecided) afterWrite(transaction);
    const [written, isUnstaged] = await Promise.all([
      writing, unstaging, locked, committing, following, forgetting, ending, ...left,
    ]);
    if (isDecided) return written;
    const isComplete = !whole || (!written.includes(false) && isUnstaged !== false);
    const closing = isComplete ? transaction.commit() : transaction.rollback();
    afterWrite(transaction);
    await closing;
    return isComplete ? written : written.map(() => false);
  }, onUnknownOutcome);
}

async function writeNewJob(session: Session, mode: InsertMode, change: Change): Promise<boolean[]> {
  const written = await write(session, mode, 'insert', [change]);
  return [written === 'all' || written.has(idOf(change))];
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
  locked?: LockedRows,
): Promise<boolean[]> {
  const answers = await Promise.all(steps.map((step) => writeStep(session, mode, step, changes, locked)));
  const written = Array<boolean>(changes.length).fill(false);
  steps.forEach(({ indexes }, at) => {
    const [, ids] = answers[at]!;
    indexes.forEach((index) => (written[index] = ids === 'all' || ids.has(idOf(changes[index]!))));
  });
  return written;
}

async function writeStep(
  session: Session,
  mode: InsertMode,
  { kind, indexes }: WriteStep,
  changes: readonly Change[],
  locked?: LockedRows,
): Promise<readonly [changes: readonly Change[], written: WrittenIds]> {
  const chosen = indexes.length === changes.length ? changes : indexes.map((index) => changes[index]!);
  return [chosen, await (kind === 'delete' ? deleteJobs(session, chosen) : write(session, mode, kind, chosen, locked))];
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
  const removeFrom = (table: string, fate: string, result: string): string => `delete from ${schema}.${table} removed
    using unnest($1::bigint[], $2::bigint[]) as goal (id, seen) cross join lateral (
      select ctid as row_ctid from ${schema}.${table} sought where sought.id = goal.id limit 1) found
    where removed.ctid = found.row_ctid and removed.version = goal.seen
    returning removed.id, ${fate} as fate, ${result} as result`;
  const text = `with open as (${removeFrom('job', `'cancelled' collate "C"`, 'null::text')}),
    ended as (${removeFrom('ended', 'removed.fate', 'removed.result')}), released as (
      delete from ${schema}.unique_key where key = any($3::text[]) and until is null and job in (select id from open)
    ), gone as (select * from open union all select * from ended),
    kept as (${keepOutcomesSql(schema)}) select id from gone`;
  const keys = textArray(changes.map(releasedKey).filter((key) => key !== null));
  const deleted = await session.run<{ id: number }>(text, [...values, keys]);
  const ids = deleted.map(({ id }) => Number(id));
  await deleteBelongings(session, ids);
  return new Set(ids);
}

/**
 * Reserves ids and returns the first. Calls `onSchema` with the version of the schema, because a newer Stint may have
 * migrated the schema after this store was opened. The commit is flushed to the disk: after a crash of the server ids
 * that were handed out must not be handed out again, because their jobs may still be retried.
 */
export async function reserveIds(session: Session, amount: number, onSchema: (version: number) => void): Promise<number> {
  const text = `update ${session.schema}.counter set value = value + $1 where name = 'id'
    returning value, (select version from ${session.schema}.meta) as schema`;
  const [row] = await session.run<{ value: number; schema: number }>(text, [amount]);
  onSchema(row!.schema);
  return row!.value - amount + 1;
}
