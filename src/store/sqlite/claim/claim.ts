/**
 * Finds the candidates of a claim: jobs that need no admission (free-jobs.ts), and jobs that their gates admit
 * (gates.ts). `claim` in store.ts lets the caller decide on them. Implements `nextDue` of `port/claiming.ts`.
 */
import type { LimitsNow } from '../../../model/gate.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { Candidate, ClaimRequest } from '../../store.ts';
import { takeInTurns } from '../../fair-share.ts';
import type { Connection } from '../connection.ts';
import type { GateMemory } from '../../gate-admission.ts';
import { gatedRows } from './gates.ts';
import { lanes } from './lanes.ts';
import { freeRows, nextFreeDue } from './free-jobs.ts';
import { spreadRows } from './spread-jobs.ts';
import { endsOfPauses, spreadsAt } from '../read/pauses.ts';

/**
 * Returns the first claimable jobs in claim order. It must be called inside a write transaction, so that no other
 * process claims the same jobs.
 */
export function candidates(
  connection: Connection,
  request: ClaimRequest,
  memory: GateMemory,
  limits: LimitsNow,
): Candidate[] {
  const spreads = spreadsAt(connection, request.kinds, limits.now);
  const free = freeRows(connection, request, limits.now);
  const spread = spreads.isEmpty ? [] : spreadRows(connection, request, spreads, limits.now);
  const { rows, turns } = gatedRows(connection, request, { memory, limits, spreads });
  const taken = takeInTurns([...free, ...spread, ...rows], turns, memory.shareStops, request.limit);
  const cancelled = cancelledParents(connection, taken);
  return taken.map((row) => ({ job: jobOfOpen(row), parentCancelled: row.parent !== null && cancelled.has(row.parent) }));
}

export function nextDue(
  connection: Connection,
  request: Pick<ClaimRequest, 'kinds' | 'names'>,
  after: number,
): number | null {
  const gatedSql = `SELECT due FROM job INDEXED BY job_gate_order WHERE lane = 2 AND kind = ? AND type = ?
    AND type_version = ? AND priority = ? AND due > ? ORDER BY due LIMIT 1`;
  const dues = [
    ...nextFreeDue(connection, request, after),
    ...lanes(connection, 2, request, after).flatMap(({ kind, type, typeVersion, priority }) =>
      connection.get<{ due: number }>(gatedSql, kind, type, typeVersion, priority, after)?.due ?? []),
    ...endsOfPauses(connection, request, after),
  ];
  return dues.reduce<number | null>((first, due) => Math.min(first ?? due, due), null);
}

/** Returns the parents that have been asked to cancel. Each parent is looked up once. */
function cancelledParents(connection: Connection, rows: readonly OpenRow[]): ReadonlySet<number> {
  const parents = new Set(rows.flatMap(({ parent }) => parent ?? []));
  return new Set([...parents].filter((parent) => isCancelled(connection, parent)));
}

/** Whether the parent, open or ended, has been asked to cancel. */
const isCancelled = (connection: Connection, parent: number): boolean =>
  connection.get<{ isCancelled: number }>(
    `SELECT cancel_asked isCancelled FROM job WHERE id = ?1
     UNION ALL SELECT body ->> '$.cancel' IS NOT NULL FROM ended WHERE id = ?1`,
    parent,
  )?.isCancelled === 1;
