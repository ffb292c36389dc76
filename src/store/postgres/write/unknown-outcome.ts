/**
 * Unknown outcomes: after a connection was lost, the stored histories show whether the statements that were sent over
 * it have been committed.
 */
import type { Change } from '../../../model/change.ts';
import type { Batch } from '../../store.ts';
import type { Session } from '../sql/database.ts';
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

async function isStored(session: Session, change: Change): Promise<boolean> {
  const { after, events } = change;
  const first = events[0];
  if (after === null || first === undefined) return (await history(session, idOf(change))).length === 0;
  const stored = await history(session, after.id, first.n, events.length);
  return JSON.stringify(stored) === JSON.stringify(events);
}
