/**
 * Counts the due jobs of the same kind and type that precede a job in claim order, up to `queuePositionMax`. Jobs at
 * full gates count as well. Implements `queuePosition` of `port/claiming.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { queuePositionMax } from '../../store.ts';
import type { Connection } from '../connection.ts';

export function queuePosition(connection: Connection, { id, kind, type, priority, due }: Job, now: number): number {
  const inLane = (lane: 1 | 2): string => `SELECT 1 FROM job
    WHERE lane = ${lane} AND kind = ?1 AND type = ?2 AND due <= ?3
    AND (priority > ?4 OR (priority = ?4 AND (due < ?5 OR (due = ?5 AND id < ?6))))`;
  const sql = `SELECT count(*) count FROM (${inLane(1)} UNION ALL ${inLane(2)} LIMIT ${queuePositionMax})`;
  return connection.get<{ count: number }>(sql, kind, type, now, priority, due, id)!.count;
}
