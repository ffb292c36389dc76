/** Writes changes: each where its row is still as it was seen, all in one transaction, with one entry in the feed. */
import type { Change } from '../../../model/change.ts';
import { isOpen, type EndedJob, type Job, type OpenJob } from '../../../model/job.ts';
import { Tellings } from '../../feed-entry.ts';
import { endedRow, historyMovesAside, lineOf } from '../../row.ts';
import type { Batch } from '../../store.ts';
import { openNames, openValues, places } from './columns.ts';
import type { Connection } from '../connection.ts';
import { endValues, moveHerd, moveToEnded, updateOpen, updateValues } from './bulk-update.ts';
import { insertLitter, litterAt } from './bulk-insert.ts';
import { numbersOf, type Numbers } from './new-ids.ts';
import { forget } from '../maintain/purge.ts';
import { takeKey, freeKey } from './unique-keys.ts';
import { unstage } from './staging.ts';

/** Writes a batch inside the caller's transaction; answers which changes were written. */
export function writeBatch(connection: Connection, { changes, whole = false, staged }: Batch, now: number): readonly boolean[] {
  const tellings = new Tellings();
  let written: boolean[] = [];
  const writeAll = (): boolean => {
    written = writeEach(connection, changes, now, tellings);
    const hasCome = !staged || unstage(connection, staged.parent, staged.fence, now);
    return hasCome && !written.includes(false);
  };
  if (whole && !connection.allOrNothing(writeAll)) return changes.map(() => false);
  if (!whole) writeAll();
  if (!tellings.isEmpty) connection.run('INSERT INTO feed(at, events) VALUES(?, ?)', now, tellings.text);
  return written;
}

function writeEach(connection: Connection, changes: readonly Change[], now: number, tellings: Tellings): boolean[] {
  const numbers = numbersOf(connection, changes);
  const written: boolean[] = [];
  while (written.length < changes.length) {
    const some = writeSome(connection, changes, written.length, numbers, tellings);
    if (some.length === 0) written.push(writeOne(connection, changes[written.length]!, numbers, now, tellings));
    else for (const isWritten of some) written.push(isWritten);
  }
  return written;
}

/** Those from there on that one statement can write; none: the first goes alone. */
function writeSome(
  connection: Connection,
  changes: readonly Change[],
  from: number,
  numbers: Numbers,
  tellings: Tellings,
): readonly boolean[] {
  const litter = litterAt(changes, from, numbers);
  if (litter.length === 0) return moveHerd(connection, changes, from, tellings);
  insertLitter(connection, litter, tellings);
  return litter.map(() => true);
}

function writeOne(
  connection: Connection,
  { before, after, events }: Change,
  numbers: Numbers,
  now: number,
  tellings: Tellings,
): boolean {
  if (after === null) return remove(connection, before!);
  if (before === null && !numbers.take(after.id)) return false;
  const line = lineOf(events);
  const written = put(connection, before, after, line, now);
  if (written && events.length > 0) tellings.add(after, line);
  return written;
}

function put(connection: Connection, before: Job | null, after: Job, line: string, now: number): boolean {
  if (before === null) return isOpen(after) ? insert(connection, after, line, now) : false;
  if (isOpen(before)) return isOpen(after) ? update(connection, before, after, line) : end(connection, before, after, line);
  return isOpen(after) ? reopen(connection, before, after, line, now) : amend(connection, before, after, line);
}

function insert(connection: Connection, job: OpenJob, line: string, now: number): boolean {
  if (job.unique && !takeKey(connection, job, now)) return false;
  connection.run(insertOpen, ...openValues(job, line));
  return true;
}

function update(connection: Connection, before: OpenJob, after: OpenJob, line: string): boolean {
  const isAside = historyMovesAside(before.version, after.version) && moveAside(connection, 'job', before);
  return connection.run(updateOpen, ...updateValues(before, after, line, isAside), before.id) === 1;
}

function end(connection: Connection, before: OpenJob, after: EndedJob, line: string): boolean {
  if (connection.run(moveToEnded, ...endValues(before, after, line), before.id) === 0) return false;
  connection.run('DELETE FROM job WHERE id = ?', before.id);
  if (after.unique && after.unique.forMs === null) freeKey(connection, after);
  return true;
}

function reopen(connection: Connection, before: EndedJob, after: OpenJob, line: string, now: number): boolean {
  if (!connection.get('SELECT 1 FROM ended WHERE id = ? AND version = ?', before.id, before.version)) return false;
  if (after.unique && after.unique.forMs === null && !takeKey(connection, after, now)) return false;
  const { history } = connection.get<{ history: string }>('SELECT history FROM ended WHERE id = ?', before.id)!;
  connection.run('DELETE FROM ended WHERE id = ?', before.id);
  connection.run(insertOpen, ...openValues(after, `${history}\n${line}`));
  return true;
}

function amend(connection: Connection, before: EndedJob, after: EndedJob, line: string): boolean {
  const aside = historyMovesAside(before.version, after.version) && moveAside(connection, 'ended', before);
  const { version, type, fate, ended_at, purge_at, result, input, body } = endedRow(after);
  const values = [version, type, fate, ended_at, purge_at, result, input, body, aside ? 1 : 0, line, before.id, before.version];
  return connection.run(updateEnded, ...values) === 1;
}

/** Every trace of a job, and of its ended children. */
function remove(connection: Connection, { id, version, unique }: Job): boolean {
  const gone =
    connection.run('DELETE FROM job WHERE id = ? AND version = ?', id, version) +
    connection.run('DELETE FROM ended WHERE id = ? AND version = ?', id, version);
  if (gone === 0) return false;
  if (unique && unique.forMs === null) freeKey(connection, { id, unique });
  forget(connection, id);
  return true;
}

/** The stored lines go to a chunk of their own; the row starts anew with the next line. */
function moveAside(connection: Connection, table: 'job' | 'ended', { id, version }: Job): boolean {
  const sql = `INSERT INTO chunk(job, upto, lines) SELECT id, version, history FROM ${table} WHERE id = ? AND version = ?`;
  return connection.run(sql, id, version) === 1;
}

const insertOpen = `INSERT INTO job(${openNames}) VALUES(${places})`;

const updateEnded = `UPDATE ended SET version = ?, type = ?, fate = ?, ended_at = ?, purge_at = ?, result = ?, input = ?, body = ?,
  history = iif(?, '', history || char(10)) || ?
  WHERE id = ? AND version = ?`;
