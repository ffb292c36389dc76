/**
 * Staging: stores children that no query finds until a commit names the parent and the parent's fence. Implements
 * `stageChildren` of `port/writing.ts`.
 *
 * Saves memory and a long transaction: children are written in batches, each by bulk insert, and `unstage` copies them
 * inside the database. Applies to runs that plan more than 1,000 tasks. Without it the commit that ends the planning
 * would insert all tasks, and block the other writers of the file meanwhile.
 */
import type { Change } from '../../../model/change.ts';
import type { OpenJob } from '../../../model/job.ts';
import { FeedEntry } from '../../feed-entry.ts';
import { jobOfOpen, lineOf, type OpenRow } from '../../row.ts';
import { openNames, openValues, placeholders } from './row-sql.ts';
import type { Connection } from '../connection.ts';
import { insertTogether, insertsFrom } from './bulk-insert.ts';
import { allIdsFree } from './new-ids.ts';
import { takeKey } from './unique-keys.ts';

export function stageChildren(
  connection: Connection,
  parent: number,
  fence: number,
  children: readonly Change[],
  now: number,
): void {
  const name = stageName(parent, fence);
  const feedEntry = new FeedEntry();
  for (let at = 0; at < children.length; ) {
    const inserts = insertsFrom(children, at, allIdsFree);
    if (inserts.length > 0) insertTogether(connection, inserts, feedEntry, name);
    else stageOne(connection, name, children[at]!, feedEntry);
    at += Math.max(1, inserts.length);
  }
  connection.run('INSERT INTO staged_feed(stage, at, events) VALUES(?, ?, ?)', name, now, feedEntry.text);
}

function stageOne(connection: Connection, name: string, { after, events }: Change, feedEntry: FeedEntry): void {
  const line = lineOf(events);
  connection.run(insertStaged, ...openValues(after as OpenJob, line), name);
  feedEntry.add(after!, line);
}

/** Moves staged children to `job`; false: one of their ids or unique keys is taken, and the caller must roll back. */
export function unstage(connection: Connection, parent: number, fence: number, now: number): boolean {
  const name = stageName(parent, fence);
  if (connection.get(stagedTaken, name)) return false;
  const keyed = connection.all<OpenRow>(stagedKeyed, name).map(jobOfOpen);
  if (!keyed.every((job) => takeKey(connection, { before: null, after: job }, now))) return false;
  connection.run(`INSERT INTO job(${openNames}) SELECT ${openNames} FROM staged WHERE stage = ?`, name);
  connection.run(
    'INSERT INTO feed(at, events) SELECT at, events FROM staged_feed WHERE stage = ? ORDER BY rowid', name,
  );
  connection.run('DELETE FROM staged WHERE stage = ?', name);
  connection.run('DELETE FROM staged_feed WHERE stage = ?', name);
  return true;
}

const stageName = (parent: number, fence: number): string => `${parent}/${fence}`;

const insertStaged = `INSERT INTO staged(${openNames}, stage) VALUES(${placeholders}, ?)`;
const stagedTaken = `SELECT 1 FROM staged WHERE stage = ?
  AND (EXISTS (SELECT 1 FROM job WHERE job.id = staged.id) OR EXISTS (SELECT 1 FROM ended WHERE ended.id = staged.id)) LIMIT 1`;
const stagedKeyed = `SELECT * FROM staged WHERE stage = ? AND body ->> '$.unique' IS NOT NULL`;
