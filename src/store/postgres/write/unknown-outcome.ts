/** Doubt: after a connection was lost nobody knows whether its last statements were done. The histories tell. */
import type { Change } from '../../../model/change.ts';
import type { Batch } from '../../store.ts';
import type { Session } from '../sql/connection.ts';
import { history } from '../read/history.ts';
import { idOf, lockById } from './statements.ts';

/** A batch was tried again; what that found already written is ours if the history tells exactly our events. */
export async function settleDoubt(session: Session, batch: Batch, written: readonly boolean[]): Promise<boolean[]> {
  const { changes, whole = false } = batch;
  const ours = await Promise.all(changes.map(async (change, index) => written[index]! || isOurs(session, change)));
  return whole && ours.includes(false) ? ours.map(() => false) : ours;
}

/**
 * Of what a claim decided, that which was written. Its rows are locked first, to wait for a server that may still be
 * busy with it. It is not written again: a parent may be cancelled by now.
 */
export async function oursOf(session: Session, decided: readonly Change[]): Promise<readonly Change[]> {
  await lockById(session, 'job', decided.map(idOf));
  const ours: Change[] = [];
  for (const change of decided) if (await isOurs(session, change)) ours.push(change);
  return ours;
}

async function isOurs(session: Session, change: Change): Promise<boolean> {
  const { after, events } = change;
  const first = events[0];
  if (after === null || first === undefined) return (await history(session, idOf(change))).length === 0;
  const stored = await history(session, after.id, first.n, events.length);
  return JSON.stringify(stored) === JSON.stringify(events);
}
