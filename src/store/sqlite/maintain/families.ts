/**
 * Families: finds parents that are not open any more but have open children, and parents that wait although no child is
 * open.
 * Implements `orphaned` and `settleable` of `port/maintenance.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { Connection } from '../connection.ts';

/**
 * Returns the ids of parents that are not open, or were deleted, but still have open children. Each parent is found by
 * one index seek, however many children it has.
 */
export function orphaned(connection: Connection, limit: number): number[] {
  const sql = `WITH RECURSIVE family(parent) AS (
      SELECT min(parent) FROM job WHERE parent IS NOT NULL
      UNION ALL
      SELECT (SELECT min(parent) FROM job WHERE parent > family.parent) FROM family WHERE parent IS NOT NULL)
    SELECT parent FROM family WHERE parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM job WHERE id = family.parent) LIMIT ?`;
  return connection.all<{ parent: number }>(sql, limit).map(({ parent }) => parent);
}

export function settleable(connection: Connection, limit: number, parents?: readonly number[]): Job[] {
  const given = parents ? 'AND id IN (SELECT value FROM json_each(?2))' : '';
  const sql = `SELECT * FROM job parent WHERE hold = 'children' ${given}
    AND NOT EXISTS (SELECT 1 FROM job child WHERE child.parent = parent.id) ORDER BY id LIMIT ?1`;
  return connection.all<OpenRow>(sql, limit, ...(parents ? [JSON.stringify(parents)] : [])).map(jobOfOpen);
}
