/**
 * Writes changes inside a transaction: each change only if the stored job still has the version that was read. Writes
 * one feed entry for all changes. Implements `commit` of `port/writing.ts`.
 */
import { startsNewJob, type Change } from '../../../model/change.ts';
import { isOpen, type EndedJob, type Job, type OpenJob } from '../../../model/job.ts';
import { FeedEntry } from '../../feed-entry.ts';
import { startsHistoryChunk, lineOf } from '../../row.ts';
import type { Batch } from '../../store.ts';
import { amendSql, amendValues, endValues, openNames, openValues, placeholders, updateValues } from './row-sql.ts';
import type { Connection } from '../connection.ts';
import { updateTogether, moveToEnded, updateOpen } from './bulk-update.ts';
import { insertTogether, insertsFrom } from './bulk-insert.ts';
import { freeIdsOf, type FreeIds } from './new-ids.ts';
import { writeFollowing } from '../maintain/following.ts';
import { deleteBelongings } from '../maintain/purge.ts';
import { pausedTypes } from '../read/pauses.ts';
import { takeKey, releaseKey } from './unique-keys.ts';
import { unstage } from './staging.ts';
import { endWaits, forgetSteps } from './steps.ts';

/**
 * Writes batches inside the caller's transaction; returns for each change whether it was written. All batches that have
 * neither `whole` nor `staged` are written as one batch, with one feed entry.
 */
export function writeBatches(connection: Connection, batches: readonly Batch[], now: number): readonly boolean[][] {
  const shared = batches.filter(isMergeable).flatMap(({ changes }) => changes);
  const written = writeBatch(connection, { changes: shared }, now);
  let offset = 0;
  return batches.map((batch) =>
    isMergeable(batch) ? written.slice(offset, (offset += batch.changes.length)) : writeBatch(connection, batch, now),
  );
}

const isMergeable = ({ whole = false, staged }: Batch): boolean => !whole && staged === undefined;

/** Like `writeBatch`, but an error leaves nothing of the batch in the transaction, which the caller may still commit. */
export function writeWithin(connection: Connection, batch: Batch, now: number): boolean[] {
  let written: boolean[] = [];
  connection.allOrNothing(() => {
    written = writeBatch(connection, batch, now);
    return true;
  });
  return written;
}

/** Writes a batch inside the caller's transaction; returns for each change whether it was written. */
export function writeBatch(connection: Connection, batch: Batch, now: number): boolean[] {
  const { changes, whole = false, staged } = batch;
  const feedEntry = new FeedEntry();
  let written: boolean[] = [];
  const writeAll = (): boolean => {
    written = writeEach(connection, changes, now, feedEntry);
    writeFollowing(connection, batch);
    if (batch.forgottenSteps) forgetSteps(connection, batch.forgottenSteps);
    if (batch.waitEnds) endWaits(connection, batch.waitEnds);
    const isUnstaged = !staged || unstage(connection, staged.parent, staged.fence, now);
    return isUnstaged && !written.includes(false);
  };
  if (whole && !connection.allOrNothing(writeAll)) return changes.map(() => false);
  if (!whole) writeAll();
  if (!feedEntry.isEmpty) connection.run('INSERT INTO feed(at, events) VALUES(?, ?)', now, feedEntry.text);
  return written;
}

function writeEach(connection: Connection, changes: readonly Change[], now: number, feedEntry: FeedEntry): boolean[] {
  const freeIds = freeIdsOf(connection, changes);
  const written: boolean[] = [];
  while (written.length < changes.length) {
    const together = writeSome(connection, changes, written.length, freeIds, feedEntry);
    if (together.length === 0) written.push(writeOne(connection, changes[written.length]!, freeIds, now, feedEntry));
    else for (const isWritten of together) written.push(isWritten);
  }
  return written;
}

/**
 * Writes the changes from index `from` on that can be written together; returns for each whether it was written. Empty:
 * the change at `from` must be written alone.
 */
function writeSome(
  connection: Connection,
  changes: readonly Change[],
  from: number,
  freeIds: FreeIds,
  feedEntry: FeedEntry,
): readonly boolean[] {
  const inserts = insertsFrom(changes, from, freeIds);
  if (inserts.length === 0) return updateTogether(connection, changes, from, feedEntry);
  insertTogether(connection, inserts, feedEntry);
  return inserts.map(() => true);
}

function writeOne(
  connection: Connection,
  { before, after, events }: Change,
  freeIds: FreeIds,
  now: number,
  feedEntry: FeedEntry,
): boolean {
  if (after === null) return deleteJob(connection, before!);
  if (startsNewJob({ before, after }) && pausedTypes(connection, [after.kind], now).has(after.type)) return false;
  if (before === null && !freeIds.claimId(after.id)) return false;
  const line = lineOf(events);
  const written = put(connection, before, after, line, now);
  if (written && events.length > 0) feedEntry.add(after, line);
  return written;
}

function put(connection: Connection, before: Job | null, after: Job, line: string, now: number): boolean {
  if (before === null) return isOpen(after) ? insert(connection, after, line, now) : false;
  if (isOpen(before)) {
    return isOpen(after) ? update(connection, before, after, line) : end(connection, before, after, line);
  }
  return isOpen(after) ? reopen(connection, before, after, line, now) : amend(connection, before, after, line);
}

function insert(connection: Connection, job: OpenJob, line: string, now: number): boolean {
  if (!takeKey(connection, { before: null, after: job }, now)) return false;
  connection.run(insertOpen, ...openValues(job, line));
  return true;
}

function update(connection: Connection, before: OpenJob, after: OpenJob, line: string): boolean {
  const startsChunk = startsHistoryChunk(before.version, after.version) && storeHistoryChunk(connection, 'job', before);
  return connection.run(updateOpen, ...updateValues(before, after, line, startsChunk), before.id) === 1;
}

function end(connection: Connection, before: OpenJob, after: EndedJob, line: string): boolean {
  if (connection.run(moveToEnded, ...endValues(before, after, line), before.id) === 0) return false;
  connection.run('DELETE FROM job WHERE id = ?', before.id);
  releaseKey(connection, { before, after });
  return true;
}

function reopen(connection: Connection, before: EndedJob, after: OpenJob, line: string, now: number): boolean {
  if (!connection.get('SELECT 1 FROM ended WHERE id = ? AND version = ?', before.id, before.version)) return false;
  if (!takeKey(connection, { before, after }, now)) return false;
  const { history } = connection.get<{ history: string }>('SELECT history FROM ended WHERE id = ?', before.id)!;
  connection.run('DELETE FROM ended WHERE id = ?', before.id);
  connection.run(insertOpen, ...openValues(after, `${history}\n${line}`));
  return true;
}

function amend(connection: Connection, before: EndedJob, after: EndedJob, line: string): boolean {
  const startsChunk = startsHistoryChunk(before.version, after.version) && storeHistoryChunk(connection, 'ended', before);
  return connection.run(updateEnded, ...amendValues(before, after, line, startsChunk), before.id) === 1;
}

/**
 * Deletes a job with its history, notes and ended children, and releases its unique key unless the key has a period.
 * False: the stored job has another version or does not exist.
 */
function deleteJob(connection: Connection, job: Job): boolean {
  const { id, version } = job;
  const gone =
    connection.run('DELETE FROM job WHERE id = ? AND version = ?', id, version) +
    connection.run('DELETE FROM ended WHERE id = ? AND version = ?', id, version);
  if (gone === 0) return false;
  releaseKey(connection, { before: job, after: null });
  deleteBelongings(connection, { id, fate: job.state === 'ended' ? job.fate : 'cancelled', result: job.result });
  return true;
}

/**
 * Copies the history in the row to a chunk, so that the history in the row can start again with the next line. Returns
 * false if the stored job has another version.
 */
function storeHistoryChunk(connection: Connection, table: 'job' | 'ended', { id, version }: Job): boolean {
  const sql = `INSERT INTO history_chunk(job, upto, lines)
    SELECT id, version, history FROM ${table} WHERE id = ? AND version = ?`;
  return connection.run(sql, id, version) === 1;
}

const insertOpen = `INSERT INTO job(${openNames}) VALUES(${placeholders})`;

const updateEnded = `UPDATE ended SET ${amendSql} WHERE version = ? AND id = ?`;
