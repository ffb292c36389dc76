/**
 * Finds for each type the pending job that has been due for the longest time. Implements `oldestDue` of
 * `port/claiming.ts`.
 */
import type { ClaimRequest, DueJob } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { lanes } from './lanes.ts';

export function oldestDue(
  connection: Connection,
  request: Pick<ClaimRequest, 'kinds' | 'names'>,
  now: number,
): Map<string, DueJob> {
  const oldest = new Map<string, DueJob>();
  for (const lane of [1, 2] as const) {
    const sql = `SELECT id, due FROM job INDEXED BY ${lane === 1 ? 'job_lane' : 'job_gate_order'}
      WHERE lane = ${lane} AND kind = ? AND type = ? AND type_version = ? AND priority = ? AND due <= ?
      ORDER BY due, id LIMIT 1`;
    for (const { kind, type, typeVersion, priority } of lanes(connection, lane, request, now)) {
      const found = connection.get<DueJob>(sql, kind, type, typeVersion, priority, now);
      const known = oldest.get(type);
      if (found && (!known || found.due < known.due)) oldest.set(type, { ...found });
    }
  }
  return oldest;
}
