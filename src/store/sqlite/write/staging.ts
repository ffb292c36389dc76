/** Staging: children are stored invisibly until the commit that names their parent and its fence. */
import type { Change } from '../../../model/change.ts';
import type { OpenJob } from '../../../model/job.ts';
import { Tellings } from '../../feed-entry.ts';
import { jobOfOpen, lineOf, type OpenRow } from '../../row.ts';
import { openNames, openValues, places } from './columns.ts';
import type { Connection } from '../connection.ts';
import { insertLitter, litterAt } from './bulk-insert.ts';
import { allAreFree } from './new-ids.ts';
import { takeKey } from './unique-keys.ts';

/** Keeps children aside until the commit that names their parent and its fence. */
export function stage(connection: Connection, parent: number, fence: number, children: readonly Change[], now: number): void {
  const name = stageName(parent, fence);
  const tellings = new Tellings();
  for (let at = 0; at < children.length; ) {
    const litter = litterAt(children, at, allAreFree);
    if (litter.length > 0) insertLitter(connection, litter, tellings, name);
    else stageOne(connection, name, children[at]!, tellings);
    at += Math.max(1, litter.length);
  }
  connection.run('INSERT INTO staged_feed(stage, at, events) VALUES(?, ?, ?)', name, now, tellings.text);
}

function stageOne(connection: Connection, name: string, { after, events }: Change, tellings: Tellings): void {
  const line = lineOf(events);
  connection.run(insertStaged, ...openValues(after as OpenJob, line), name);
  tellings.add(after!, line);
}

/** Makes jobs of what was staged; false: an id or a unique key of theirs is taken. */
export function unstage(connection: Connection, parent: number, fence: number, now: number): boolean {
  const name = stageName(parent, fence);
  if (connection.get(stagedTaken, name)) return false;
  const keyed = connection.all<OpenRow>(stagedKeyed, name).map(jobOfOpen);
  if (!keyed.every((job) => takeKey(connection, job, now))) return false;
  connection.run(`INSERT INTO job(${openNames}) SELECT ${openNames} FROM staged WHERE stage = ?`, name);
  connection.run('INSERT INTO feed(at, events) SELECT at, events FROM staged_feed WHERE stage = ? ORDER BY rowid', name);
  connection.run('DELETE FROM staged WHERE stage = ?', name);
  connection.run('DELETE FROM staged_feed WHERE stage = ?', name);
  return true;
}

const stageName = (parent: number, fence: number): string => `${parent}/${fence}`;

const insertStaged = `INSERT INTO staged(${openNames}, stage) VALUES(${places}, ?)`;
const stagedTaken = `SELECT 1 FROM staged WHERE stage = ?
  AND (EXISTS (SELECT 1 FROM job WHERE job.id = staged.id) OR EXISTS (SELECT 1 FROM ended WHERE ended.id = staged.id)) LIMIT 1`;
const stagedKeyed = `SELECT * FROM staged WHERE stage = ? AND body ->> '$.unique' IS NOT NULL`;
