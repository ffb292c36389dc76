/**
 * Purges ended jobs past their retention, old feed entries, expired keys, children staged under a fence that is no
 * longer current, instances whose lease lapsed long ago, old refused requests of the inbox, pauses that ended long
 * ago, and rates that are no longer in use. Implements `purge` of `port/maintenance.ts`.
 */
import type { Fate } from '../../../model/state.ts';
import type { Connection } from '../connection.ts';
import { instanceKeptMs, type PurgeOptions } from '../../store.ts';
import { deleteFollowing } from './following.ts';

/**
 * How many pieces of staged children one purge deletes at most, to keep its transaction short: a run whose lease lapsed
 * while it planned may have left a million children, a thousand in each piece. Later purges delete the rest.
 */
const stagedPortion = 10;

export function purge(connection: Connection, { limit, feedKeptMs, retentionMs }: PurgeOptions, now: number): number {
  const past = pastJobs(connection, limit, retentionMs === null ? null : now - retentionMs, now);
  for (const { id } of past) {
    const gone = connection.get<EndedJobRow>('DELETE FROM ended WHERE id = ? RETURNING id, fate, result', id)!;
    deleteBelongings(connection, gone);
  }
  // The newest entry stays, because SQLite would otherwise assign its `seq` to the next entry again.
  connection.run('DELETE FROM feed WHERE at <= ? AND seq < (SELECT max(seq) FROM feed)', now - feedKeptMs);
  connection.run('DELETE FROM unique_key WHERE until <= ?', now);
  if (retentionMs !== null) connection.run('DELETE FROM inbox WHERE refused_at <= ?', now - retentionMs);
  if (retentionMs !== null) purgePauses(connection, limit, now - retentionMs);
  purgeStaged(connection);
  connection.run('DELETE FROM rate WHERE tat <= ?1 AND (closed_until IS NULL OR closed_until <= ?1)', now);
  connection.run(`DELETE FROM instance WHERE lease_until <= ? AND NOT EXISTS
    (SELECT 1 FROM job WHERE job.state = 'running' AND job.holder = instance.id)`, now - instanceKeptMs);
  return past.length;
}

function purgePauses(connection: Connection, limit: number, endedBefore: number): void {
  const sql = `SELECT id FROM job INDEXED BY job_pause WHERE kind = 'pause' AND state = 'pending' AND due <= ? LIMIT ?`;
  for (const { id } of connection.all<{ id: number }>(sql, endedBefore, limit)) {
    connection.run('DELETE FROM job WHERE id = ?', id);
    deleteBelongings(connection, { id, fate: 'cancelled', result: null });
  }
}

/**
 * Finds one parent that no longer runs under the fence of its staged children, and deletes up to `stagedPortion` of
 * their pieces.
 */
function purgeStaged(connection: Connection): void {
  const sql = `SELECT stage FROM staged_feed
    WHERE stage NOT IN (SELECT id || '/' || fence FROM job WHERE state = 'running') LIMIT 1`;
  const stage = connection.get<{ stage: string }>(sql)?.stage;
  if (stage === undefined) return;
  const some = 'SELECT rowid FROM staged_piece WHERE stage = ? LIMIT ?';
  const gone = connection.run(`DELETE FROM staged_piece WHERE rowid IN (${some})`, stage, stagedPortion);
  if (gone < stagedPortion) connection.run('DELETE FROM staged_feed WHERE stage = ?', stage);
}

/** Returns up to `limit` jobs whose retention is over: jobs with a retention of their own first, then others. */
function pastJobs(connection: Connection, limit: number, endedBefore: number | null, now: number): { id: number }[] {
  const own = connection.all<{ id: number }>('SELECT id FROM ended WHERE purge_at <= ? ORDER BY purge_at LIMIT ?', now, limit);
  if (endedBefore === null) return own;
  const sql = `SELECT id FROM ended WHERE parent IS NULL AND purge_at IS NULL AND ended_at <= ? ORDER BY ended_at LIMIT ?`;
  return [...own, ...connection.all<{ id: number }>(sql, endedBefore, limit - own.length)];
}

/** A deleted row of table `ended`; of an open job that was deleted, without a result. */
export interface EndedJobRow {
  readonly id: number;
  readonly fate: Fate;
  readonly result: string | null;
}

/**
 * Deletes the edges, history chunks, progress, log, output and steps of a job, and its ended children with theirs. The
 * caller deletes the row of the job itself.
 */
export function deleteBelongings(connection: Connection, { id, fate, result }: EndedJobRow): void {
  const children = 'DELETE FROM ended WHERE parent = ? RETURNING id, fate, result';
  for (const child of connection.all<EndedJobRow>(children, id)) deleteBelongings(connection, child);
  deleteFollowing(connection, id, fate, result);
  for (const table of ['history_chunk', 'progress', 'log', 'output', 'step']) {
    connection.run(`DELETE FROM ${table} WHERE job = ?`, id);
  }
}
