/**
 * Unknown outcomes: after a connection was lost, the stored histories show whether the statements that were sent over
 * it have been committed. Of what has no history, the state of the transaction shows it.
 */
import type { Change } from '../../../model/change.ts';
import type { Batch } from '../../store.ts';
import type { Session, Transaction } from '../sql/database.ts';
import { textArray } from '../sql/row-parameters.ts';
import { history } from '../read/history.ts';
import { idOf } from './id-of.ts';
import { lockById } from './statements.ts';

/**
 * Corrects `written`, the result of a retried batch. A change that the retry could not write may have been written by
 * an earlier try. It counts as written if the stored history has its events under their numbers. A deletion counts as
 * written if no history is stored.
 */
export async function resolveUnknownCommit(
  session: Session,
  batch: Batch,
  written: readonly boolean[],
): Promise<boolean[]> {
  const { changes, whole = false } = batch;
  const stored = await Promise.all(changes.map(async (change, index) => written[index]! || isStored(session, change)));
  return whole && stored.includes(false) ? stored.map(() => false) : stored;
}

/**
 * After a lost connection: returns which of the claim's changes were written. The rows are locked first, which waits
 * for the lost transaction if the server still executes it. Changes that were not written are not retried: a parent may
 * have been cancelled since.
 */
export async function confirmWritten(session: Session, decided: readonly Change[]): Promise<readonly Change[]> {
  await lockById(session, 'job', decided.map(idOf));
  const stored: Change[] = [];
  for (const change of decided) if (await isStored(session, change)) stored.push(change);
  return stored;
}

/** Returns the id of this transaction. */
export async function currentXid(transaction: Transaction): Promise<string> {
  const [row] = await transaction.run<{ xid: string }>('select pg_current_xact_id()::text as xid');
  return row!.xid;
}

/**
 * Returns whether one of these transactions was committed. Call it only if a retry could not write: a server that
 * crashed may give the id of a transaction that it lost to another one. Ids that the server does not know yet, after a
 * failover, are those of lost transactions.
 */
export async function isOneCommitted(session: Session, xids: readonly string[]): Promise<boolean> {
  const text = `select bool_or(case when xid::xid8 < pg_snapshot_xmax(pg_current_snapshot())
    then pg_xact_status(xid::xid8) = 'committed' else false end) as committed from unnest($1::text[]) as sent (xid)`;
  const [row] = await session.run<{ committed: boolean }>(text, [textArray(xids)]);
  return row!.committed;
}

async function isStored(session: Session, change: Change): Promise<boolean> {
  const { after, events } = change;
  const first = events[0];
  if (after === null || first === undefined) return (await history(session, idOf(change))).length === 0;
  const stored = await history(session, after.id, first.n, events.length);
  return JSON.stringify(stored) === JSON.stringify(events);
}
