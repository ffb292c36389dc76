/**
 * Bulk update: one statement writes equal changes of many open jobs. A job is written only if it still has the version
 * that was read.
 *
 * Saves (bench/LEDGER.md, "one statement updates all open jobs that change in the same way"): with 1,000 jobs at a
 * time, the claim of a job takes 13.6 instead of 17.4 µs and its end 12.4 instead of 19.0 µs.
 * Applies to consecutive changes that update or end open jobs, write equal values, release no key and start no
 * history chunk.
 * Without it (`updateTogether` returns none) each change is written by statements of its own.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Change } from '../../../model/change.ts';
import { isOpen } from '../../../model/job.ts';
import { releasedKey } from '../../../model/unique-key.ts';
import type { FeedEntry } from '../../feed-entry.ts';
import { startsHistoryChunk, lineOf } from '../../row.ts';
import { endedNames, endedRowSql, endValues, updateSql, updateValues } from './row-sql.ts';
import type { Connection } from '../connection.ts';

/** The parameters of a statement, except the ids, which follow them. The last value is the version that was read. */
type Values = readonly SQLInputValue[];

interface RowUpdate {
  readonly kind: 'update' | 'end';
  readonly values: Values;
}

/**
 * Writes the equal changes from index `from` on; returns for each whether it was written. Empty: the change at `from`
 * must be written alone.
 */
export function updateTogether(
  connection: Connection,
  changes: readonly Change[],
  from: number,
  feedEntry: FeedEntry,
): boolean[] {
  if (from === changes.length - 1) return [];
  const first = updateOf(changes[from]);
  const group = new Map<number, Change>();
  for (let at = from, update = first; first && update && isSame(update, first); update = updateOf(changes[at])) {
    const change = changes[at]!;
    if (group.has(change.before!.id)) break;
    group.set(change.before!.id, change);
    at += 1;
  }
  if (group.size < 2) return [];
  const written = first!.kind === 'end'
    ? endAll(connection, group, first!.values)
    : updateAll(connection, group, first!.values);
  const line = lineOf(changes[from]!.events);
  return Array.from(group.values(), ({ after }) => {
    const isWritten = written.has(after!.id);
    if (isWritten) feedEntry.add(after!, line);
    return isWritten;
  });
}

function updateAll(connection: Connection, group: ReadonlyMap<number, Change>, values: Values): ReadonlySet<number> {
  return idsIn(connection, updateAmong, [...group.keys()], values);
}

function endAll(connection: Connection, group: ReadonlyMap<number, Change>, values: Values): ReadonlySet<number> {
  const ended = idsIn(connection, endAmong, [...group.keys()], values);
  connection.run(deleteAmong, JSON.stringify([...ended]));
  return ended;
}

const idsIn = (connection: Connection, sql: string, ids: readonly number[], values: Values): ReadonlySet<number> =>
  new Set(connection.arrays(sql, ...values, JSON.stringify(ids)).map(([id]) => id as number));

/** Returns the values that a bulk update writes for a change; null: the change needs other statements. */
function updateOf(change: Change | undefined): RowUpdate | null {
  if (!change?.before || !change.after || !isOpen(change.before) || change.events.length === 0) return null;
  const { before, after, events } = change;
  if (!isOpen(after)) {
    return releasedKey(change) !== null ? null : { kind: 'end', values: endValues(before, after, lineOf(events)) };
  }
  if (startsHistoryChunk(before.version, after.version)) return null;
  return { kind: 'update', values: updateValues(before, after, lineOf(events), false) };
}

const isSame = (update: RowUpdate, other: RowUpdate): boolean =>
  update.kind === other.kind && update.values.every((value, index) => value === other.values[index]);

const updateWhere = (which: string): string => `UPDATE job SET ${updateSql} WHERE version = ? AND ${which}`;

const endWhere = (which: string): string => `INSERT INTO ended(${endedNames})
  SELECT ${endedRowSql} FROM job WHERE version = ? AND ${which}`;

export const updateOpen = updateWhere('id = ?');
export const moveToEnded = endWhere('id = ?');

const amongIds = 'id IN (SELECT value FROM json_each(?))';
const updateAmong = `${updateWhere(amongIds)} RETURNING id`;
const endAmong = `${endWhere(amongIds)} RETURNING id`;
const deleteAmong = `DELETE FROM job WHERE ${amongIds}`;
