/** Finds claim candidates in the lanes of a request and at its gates. */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { jobOfOpen } from '../../row.ts';
import type { Candidate, ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { freeRows, lanes, namedTypes } from './lanes.ts';
import { gatedRows } from './gates.ts';

/** The first claimable jobs in claim order. Only inside a write transaction, which no other process shares. */
export function candidates(connection: Connection, request: ClaimRequest, now: number): Candidate[] {
  const rows = [...freeRows(connection, request, now), ...gatedRows(connection, request, now)];
  return rows
    .sort(byClaimOrder)
    .slice(0, request.limit)
    .map((row) => ({ job: jobOfOpen(row), parentCancelled: row.parent !== null && isCancelled(connection, row.parent) }));
}

export function nextDue(
  connection: Connection,
  request: Pick<ClaimRequest, 'kinds' | 'names'>,
  now: number,
): number | null {
  const sql = 'SELECT due FROM job WHERE lane = 1 AND kind = ? AND type = ? AND priority = ? AND due > ? ORDER BY due LIMIT 1';
  const gatedSql = 'SELECT min(due) due FROM job WHERE lane = 2 AND kind = ? AND type = ? AND due > ?';
  const dues = [
    ...lanes(connection, 1, request).map(({ kind, type, priority }) => connection.get<{ due: number }>(sql, kind, type, priority, now)?.due),
    ...namedTypes(connection, 2, request).map(({ kind, type }) => connection.get<{ due: number | null }>(gatedSql, kind, type, now)?.due),
  ].filter((due) => typeof due === 'number');
  return dues.length === 0 ? null : Math.min(...dues);
}

/** Whether the parent, open or ended, has been asked to cancel. */
const isCancelled = (connection: Connection, parent: number): boolean =>
  connection.get<{ isCancelled: number }>(
    `SELECT cancel_asked isCancelled FROM job WHERE id = ?1
     UNION ALL SELECT body ->> '$.cancel' IS NOT NULL FROM ended WHERE id = ?1`,
    parent,
  )?.isCancelled === 1;
