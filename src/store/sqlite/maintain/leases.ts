/**
 * Extends leases; finds the jobs whose lease has lapsed, and the jobs that are held under an instance's lease.
 * Implements `extend` of `port/claiming.ts`, and `lapsed` and `heldUnderLeaseOf` of `port/maintenance.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { Holding } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';

export function extend(connection: Connection, holdings: readonly Holding[], until: number, now: number): boolean[] {
  const sql = `UPDATE job SET lease_until = max(lease_until, ?)
    WHERE id = ? AND fence = ? AND state = 'running' AND lease_until > ?`;
  return holdings.map(({ id, fence }) => connection.run(sql, until, id, fence, now) === 1);
}

export function lapsed(connection: Connection, limit: number, now: number): Job[] {
  // The subquery selects only ids. If both parts of the UNION selected whole rows, SQLite would read the whole table to
  // sort them. CROSS JOIN fixes the join order, so that SQLite starts with the instances, of which there are few.
  const sql = `SELECT * FROM job WHERE id IN (
      SELECT id FROM job WHERE state = 'running' AND lease_until <= ?1
      UNION ALL
      SELECT job.id FROM instance CROSS JOIN job ON job.holder = instance.id
        WHERE instance.lease_until <= ?1 AND job.state = 'running' AND job.lease_until IS NULL)
    ORDER BY id LIMIT ?2`;
  return connection.all<OpenRow>(sql, now, limit).map(jobOfOpen);
}

export function heldUnderLeaseOf(connection: Connection, instance: string, limit: number): Job[] {
  const which = `WHERE state = 'running' AND holder = ? AND lease_until IS NULL ORDER BY id LIMIT ?`;
  return openRows(connection, which, instance, limit).map(jobOfOpen);
}
