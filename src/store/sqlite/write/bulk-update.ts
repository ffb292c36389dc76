/**
 * Bulk update: open jobs to which the same happens, such as jobs that are claimed or end together. One statement writes
 * all of them, each guarded by the version that was read.
 */
import type { SQLInputValue } from 'node:sqlite';
import { leavesLease, type Change } from '../../../model/change.ts';
import { isOpen, type EndedJob, type OpenJob } from '../../../model/job.ts';
import type { FeedEntry } from '../../feed-entry.ts';
import { endedBody, startsHistoryChunk, lineOf, openBody, purgeTime } from '../../row.ts';
import { laneOf } from './columns.ts';
import type { Connection } from '../connection.ts';

/** What a statement takes beside the ids; the last value is the version that was seen. */
type Values = readonly SQLInputValue[];

interface RowUpdate {
  readonly kind: 'update' | 'end';
  readonly values: Values;
}

/** Writes the changes from this index on that are alike; answers which were written. Empty: the first is unlike. */
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

/** Null: it has something of its own to do, and goes alone. */
function updateOf(change: Change | undefined): RowUpdate | null {
  if (!change?.before || !change.after || !isOpen(change.before) || change.events.length === 0) return null;
  const { before, after, events } = change;
  if (!isOpen(after)) {
    return after.unique?.forMs === null ? null : { kind: 'end', values: endValues(before, after, lineOf(events)) };
  }
  if (startsHistoryChunk(before.version, after.version)) return null;
  return { kind: 'update', values: updateValues(before, after, lineOf(events), false) };
}

const isSame = (update: RowUpdate, other: RowUpdate): boolean =>
  update.kind === other.kind && update.values.every((value, index) => value === other.values[index]);

/** Null for what stays as it is. */
export function updateValues(before: OpenJob, after: OpenJob, line: string, startsChunk: boolean): SQLInputValue[] {
  const lease = after.state === 'running' ? after.lease : null;
  return [
    after.version, after.type, after.state, after.state === 'held' ? after.hold : null, after.phase, after.priority,
    before.due === after.due ? null : after.due, after.fence, lease?.holder ?? null, leavesLease(before, after) ? 1 : 0,
    lease?.until ?? null, after.admitted ? 1 : 0, after.cancel ? 1 : 0, laneOf(after),
    before.input === after.input ? null : after.input, openBody(after), startsChunk ? 1 : 0, line, before.version,
  ];
}

export const endValues = (before: OpenJob, after: EndedJob, line: string): SQLInputValue[] => [
  after.version, after.type, after.fate, after.endedAt, purgeTime(after), after.result,
  before.input === after.input ? null : after.input, endedBody(after), line, before.version,
];

const updateWhere = (which: string): string => `UPDATE job SET version = ?, type = ?, state = ?, hold = ?,
  phase = ?, priority = ?, due = coalesce(?, due), fence = ?, holder = ?, lease_until = iif(?, lease_until, ?),
  admitted = ?, cancel_asked = ?, lane = ?, input = coalesce(?, input), body = ?,
  history = iif(?, '', history || char(10)) || ? WHERE version = ? AND ${which}`;

const endWhere = (which: string): string => `INSERT INTO ended(
    id, version, kind, type, def, parent, created, fate, ended_at, purge_at, result, input, body, history)
  SELECT id, ?, kind, ?, def, parent, created, ?, ?, ?, ?, coalesce(?, input), ?, history || char(10) || ?
  FROM job WHERE version = ? AND ${which}`;

export const updateOpen = updateWhere('id = ?');
export const moveToEnded = endWhere('id = ?');

const amongIds = 'id IN (SELECT value FROM json_each(?))';
const updateAmong = `${updateWhere(amongIds)} RETURNING id`;
const endAmong = `${endWhere(amongIds)} RETURNING id`;
const deleteAmong = `DELETE FROM job WHERE ${amongIds}`;
