/**
 * Staging: children are stored as packed rows, which no query finds. The commit that names their parent and fence
 * inserts them as jobs. The children of one call of `stageChildren` are a piece, one row of table `staged_piece`.
 * Implements `stageChildren` of `port/writing.ts`.
 *
 * Applies to runs that plan more than 1,000 tasks. Saves memory, and a commit that writes all tasks at once after they
 * are planned: what is left for it is the bulk insert. Packed (bench/LEDGER.md, "staged children are packed").
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Change } from '../../../model/change.ts';
import type { OpenJob } from '../../../model/job.ts';
import { FeedEntry } from '../../feed-entry.ts';
import { jobOfOpen, lineOf, type OpenRow } from '../../row.ts';
import { openNames, ownNames, openValues } from './row-sql.ts';
import type { Connection } from '../connection.ts';
import { addToFeed, insertSimilar, insertsFrom, ownWidth, similarRows, type SimilarRows } from './bulk-insert.ts';
import { allIdsFree, takenIds } from './new-ids.ts';
import { takeKey } from './unique-keys.ts';

export function stageChildren(
  connection: Connection,
  parent: number,
  fence: number,
  children: readonly Change[],
  now: number,
): void {
  const stage = stageName(parent, fence);
  const feedEntry = new FeedEntry();
  const groups: SimilarRows[] = [];
  for (let at = 0; at < children.length; ) {
    const inserts = insertsFrom(children, at, allIdsFree);
    const group = inserts.length > 0 ? inserts : [children[at]!];
    groups.push(inserts.length > 0 ? similarRows(group) : singleRow(group[0]!));
    addToFeed(feedEntry, group);
    at += group.length;
  }
  connection.run(insertPiece, stage, children.length, openNames, JSON.stringify(groups));
  connection.run('INSERT INTO staged_feed(stage, at, events) VALUES(?, ?, ?)', stage, now, feedEntry.text);
}

function singleRow({ after, events }: Change): SimilarRows {
  const values = openValues(after as OpenJob, lineOf(events));
  return { own: values.slice(0, ownNames.length), shared: values.slice(ownNames.length), isGated: true };
}

/** Inserts staged children as jobs; false: one of their ids or unique keys is taken, and the caller must roll back. */
export function unstage(connection: Connection, parent: number, fence: number, now: number): boolean {
  const stage = stageName(parent, fence);
  const pieces = connection.all<{ rowid: number }>('SELECT rowid FROM staged_piece WHERE stage = ? ORDER BY rowid', stage);
  for (const { rowid } of pieces) if (!unstagePiece(connection, rowid, now)) return false;
  connection.run(
    'INSERT INTO feed(at, events) SELECT at, events FROM staged_feed WHERE stage = ? ORDER BY rowid', stage,
  );
  connection.run('DELETE FROM staged_piece WHERE stage = ?', stage);
  connection.run('DELETE FROM staged_feed WHERE stage = ?', stage);
  return true;
}

interface StagedPiece {
  /** The columns of the rows, as `openNames` of the version that has staged them. */
  readonly names: string;
  readonly jobs: string;
}

function unstagePiece(connection: Connection, rowid: number, now: number): boolean {
  const { names, jobs } = connection.get<StagedPiece>('SELECT names, jobs FROM staged_piece WHERE rowid = ?', rowid)!;
  for (const rows of JSON.parse(jobs) as readonly SimilarRows[]) {
    if (takenIds(connection, idsOf(rows)).length > 0 || !takeKeyOf(connection, names, rows, now)) return false;
    insertSimilar(connection, rows, names);
  }
  return true;
}

function idsOf(rows: SimilarRows): number[] {
  const width = ownWidth(rows);
  return rows.own.filter((_, index) => index % width === 0) as number[];
}

/** Takes the unique key of a job. Jobs that are inserted together have none (`isPlainInsert`). */
function takeKeyOf(connection: Connection, names: string, rows: SimilarRows, now: number): boolean {
  if (rows.own.length > ownWidth(rows)) return true;
  return takeKey(connection, { before: null, after: jobOfOpen(openRowOf(names, rows)) }, now);
}

function openRowOf(names: string, { own, shared, isGated }: SimilarRows): OpenRow {
  const values: readonly SQLInputValue[] = [...own, ...(isGated ? [] : [null]), ...shared];
  return Object.fromEntries(names.split(', ').map((name, index) => [name, values[index]])) as unknown as OpenRow;
}

const stageName = (parent: number, fence: number): string => `${parent}/${fence}`;

const insertPiece = 'INSERT INTO staged_piece(stage, count, names, jobs) VALUES(?, ?, ?, ?)';
