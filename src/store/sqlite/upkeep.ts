/** What keeps the store in order: leases that are over, parents that wait for nobody, the past that may go. */
import type { Job } from '../../model/job.ts';
import { jobOfOpen, type OpenRow } from '../row.ts';
import type { Holding, Store } from '../store.ts';
import { forget } from './commit.ts';
import type { Connection } from './connection.ts';
import { openRows } from './open-rows.ts';

export function extend(connection: Connection, holdings: readonly Holding[], until: number, now: number): boolean[] {
  const sql = `UPDATE job SET lease_until = max(lease_until, ?)
    WHERE id = ? AND fence = ? AND state = 'running' AND lease_until > ?`;
  return holdings.map(({ id, fence }) => connection.run(sql, until, id, fence, now) === 1);
}

export function lapsed(connection: Connection, limit: number, now: number): Job[] {
  // The ids first: to bring whole rows of both halves in order, SQLite would read the table from its start. The join is
  // crossed so that it begins with the few instances.
  const sql = `SELECT * FROM job WHERE id IN (
      SELECT id FROM job WHERE state = 'running' AND lease_until <= ?1
      UNION ALL
      SELECT job.id FROM instance CROSS JOIN job ON job.holder = instance.id
        WHERE instance.lease_until <= ?1 AND job.state = 'running' AND job.lease_until IS NULL)
    ORDER BY id LIMIT ?2`;
  return connection.all<OpenRow>(sql, now, limit).map(jobOfOpen);
}

export function heldBy(connection: Connection, instance: string, limit: number): Job[] {
  const which = `WHERE state = 'running' AND holder = ? AND lease_until IS NULL ORDER BY id LIMIT ?`;
  return openRows(connection, which, instance, limit).map(jobOfOpen);
}

/** Each parent is found by one step into the index, however many children it has. */
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

export function purge(connection: Connection, { limit, feedKeptMs, retentionMs }: Parameters<Store['purge']>[0], now: number): number {
  const past = pastJobs(connection, limit, retentionMs === null ? null : now - retentionMs, now);
  for (const { id } of past) {
    connection.run('DELETE FROM ended WHERE id = ?', id);
    forget(connection, id);
  }
  // The newest entry stays: its number keeps the numbers of those to come from repeating.
  connection.run('DELETE FROM feed WHERE at <= ? AND seq < (SELECT max(seq) FROM feed)', now - feedKeptMs);
  connection.run('DELETE FROM taken WHERE until <= ?', now);
  purgeStaged(connection);
  connection.run(`DELETE FROM instance WHERE lease_until <= ? AND NOT EXISTS
    (SELECT 1 FROM job WHERE job.state = 'running' AND job.holder = instance.id)`, now - instanceKeptMs);
  return past.length;
}

/** Each round some, so that no transaction is long: a run that was lost may have planned a million children. */
const stagedPortion = 10_000;

/** Children kept aside by whoever lost its lease. */
function purgeStaged(connection: Connection): void {
  const sql = `SELECT stage FROM staged_feed
    WHERE stage NOT IN (SELECT id || '/' || fence FROM job WHERE state = 'running') LIMIT 1`;
  const stage = connection.get<{ stage: string }>(sql)?.stage;
  if (stage === undefined) return;
  const some = 'SELECT rowid FROM staged WHERE stage = ? LIMIT ?';
  const gone = connection.run(`DELETE FROM staged WHERE rowid IN (${some})`, stage, stagedPortion);
  if (gone < stagedPortion) connection.run('DELETE FROM staged_feed WHERE stage = ?', stage);
}

/** Instances that are gone stay visible for a while. */
const instanceKeptMs = 3_600_000;

function pastJobs(connection: Connection, limit: number, endedBefore: number | null, now: number): { id: number }[] {
  const own = connection.all<{ id: number }>('SELECT id FROM ended WHERE purge_at <= ? ORDER BY purge_at LIMIT ?', now, limit);
  if (endedBefore === null) return own;
  const sql = `SELECT id FROM ended WHERE parent IS NULL AND purge_at IS NULL AND ended_at <= ? ORDER BY ended_at LIMIT ?`;
  return [...own, ...connection.all<{ id: number }>(sql, endedBefore, limit - own.length)];
}
