/** The edges between runs and the runs that they follow, and flows. Implements `port/following.ts`. */
import type { Edge } from '../../../model/following.ts';
import type { Job } from '../../../model/job.ts';
import type { Fate } from '../../../model/state.ts';
import { edgeOfRow, flowTallyOfRow, linksText, talliesOfRows, type EdgeRow, type EdgeTallyRow } from '../../edge-row.ts';
import { edgesOfEach } from '../../many-edges.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { Batch, EdgeQuery, EdgeTally, FlowTally, FollowingPage, ManyEdgesQuery } from '../../store.ts';
import type { Connection } from '../connection.ts';

/** Writes the edges and the flows of a batch. */
export function writeFollowing(connection: Connection, { edges = [], flows = [] }: Batch): void {
  const sql = `INSERT INTO edge(follower, followed, outcome, links, result) VALUES(?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET outcome = excluded.outcome, links = excluded.links, result = excluded.result`;
  for (const edge of edges) {
    connection.run(sql, edge.follower, edge.followed, edge.outcome, linksText(edge), edge.result);
  }
  for (const { id, runs } of flows) {
    for (const run of runs) connection.run('INSERT INTO flow_run(run, flow) VALUES(?, ?)', run, id);
  }
}

export function closeEdges(connection: Connection, followed: readonly number[]): number[] {
  const sql = `UPDATE edge SET outcome = coalesce((SELECT fate FROM ended WHERE id = ?1), 'cancelled')
    WHERE followed = ?1 AND outcome IS NULL AND NOT EXISTS (SELECT 1 FROM job WHERE id = ?1) RETURNING follower`;
  const followers = new Set<number>();
  for (const id of followed) for (const row of connection.all<EdgeRow>(sql, id)) followers.add(row.follower);
  return [...followers];
}

const hasNoOpenEdge = 'NOT EXISTS (SELECT 1 FROM edge WHERE edge.follower = job.id AND outcome IS NULL)';

export function proceedable(connection: Connection, followers: readonly number[]): Job[] {
  const sql = `SELECT job.* FROM json_each(?) given CROSS JOIN job ON job.id = given.value
    WHERE hold = 'runs' AND ${hasNoOpenEdge} ORDER BY job.id`;
  return connection.all<OpenRow>(sql, JSON.stringify(followers)).map(jobOfOpen);
}

export function tallyEdges(connection: Connection, followers: readonly number[]): Map<number, EdgeTally> {
  const sql = `SELECT follower, outcome, count(*) AS count FROM json_each(?) given
    CROSS JOIN edge ON edge.follower = given.value GROUP BY follower, outcome`;
  return talliesOfRows(followers, connection.all<EdgeTallyRow>(sql, JSON.stringify(followers)));
}

export function edges(connection: Connection, query: EdgeQuery): Edge[] {
  const { after = 0, limit, isOpen = false } = query;
  const [own, other, id] = 'follower' in query
    ? ['follower', 'followed', query.follower] : ['followed', 'follower', query.followed];
  const sql = `SELECT * FROM edge WHERE ${own} = ? AND ${other} > ? ${isOpen ? 'AND outcome IS NULL' : ''}
    ORDER BY ${other} LIMIT ?`;
  return connection.all<EdgeRow>(sql, id, after, limit).map(edgeOfRow);
}

export const edgesOfMany = (connection: Connection, query: ManyEdgesQuery): Edge[] =>
  edgesOfEach(query, (each) => edges(connection, each));

export function stalledFollowers(connection: Connection, after: number, limit: number): FollowingPage {
  const sql = `SELECT id, ${hasNoOpenEdge} AS chosen FROM job WHERE hold = 'runs' AND id > ? ORDER BY id LIMIT ?`;
  return pageOf(connection.all<ScannedRow>(sql, after, limit), limit);
}

/** Each run is found by one index seek, however many edges lead to it. */
export function endedWithOpenEdges(connection: Connection, after: number, limit: number): FollowingPage {
  const next = (from: string): string =>
    `(SELECT followed FROM edge WHERE outcome IS NULL AND followed > ${from} ORDER BY followed LIMIT 1)`;
  const sql = `WITH RECURSIVE seen(id) AS (
      SELECT ${next('?1')} UNION ALL SELECT ${next('seen.id')} FROM seen WHERE id IS NOT NULL LIMIT ?2)
    SELECT id, NOT EXISTS (SELECT 1 FROM job WHERE job.id = seen.id) AS chosen FROM seen WHERE id IS NOT NULL`;
  return pageOf(connection.all<ScannedRow>(sql, after, limit), limit);
}

interface ScannedRow {
  readonly id: number;
  readonly chosen: number;
}

const pageOf = (scanned: readonly ScannedRow[], limit: number): FollowingPage => ({
  ids: scanned.filter(({ chosen }) => chosen === 1).map(({ id }) => id),
  next: scanned.length === limit ? scanned.at(-1)!.id : null,
});

export function flows(connection: Connection, before: number | null, limit: number): number[] {
  const next = (from: string): string => `(SELECT max(flow) FROM flow_run WHERE flow < ${from})`;
  const sql = `WITH RECURSIVE seen(id) AS (
      SELECT ${next('?1')} UNION ALL SELECT ${next('seen.id')} FROM seen WHERE id IS NOT NULL LIMIT ?2)
    SELECT id FROM seen WHERE id IS NOT NULL`;
  return connection.all<{ id: number }>(sql, before ?? Number.MAX_SAFE_INTEGER, limit).map(({ id }) => id);
}

export function flowRuns(connection: Connection, flow: number, after: number, limit: number): number[] {
  const sql = 'SELECT run FROM flow_run WHERE flow = ? AND run > ? ORDER BY run LIMIT ?';
  return connection.all<{ run: number }>(sql, flow, after, limit).map(({ run }) => run);
}

/** The runs of each flow are limited by a statement of their own; SQLite has no lateral joins. */
export function tallyFlows(connection: Connection, flowIds: readonly number[], runsMax: number): FlowTally[] {
  const sql = `SELECT ?1 AS flow, coalesce(ended.type, job.type) AS type, coalesce(ended.fate, job.state) AS standing,
      count(*) AS count, min(some.run) AS first, min(coalesce(ended.created, job.created)) AS created
    FROM (SELECT run FROM flow_run WHERE flow = ?1 ORDER BY run LIMIT ?2) some
    LEFT JOIN ended ON ended.id = some.run LEFT JOIN job ON job.id = some.run GROUP BY 2, 3 ORDER BY first`;
  return flowIds.flatMap((flow) => connection.all<FlowTally>(sql, flow, runsMax).map(flowTallyOfRow));
}

export const flowOf = (connection: Connection, run: number): number | null =>
  connection.get<{ flow: number }>('SELECT flow FROM flow_run WHERE run = ?', run)?.flow ?? null;

/**
 * Deletes the edges of a deleted job, and removes it from its flow. Its followers keep its outcome, and its result if
 * they use it.
 */
export function deleteFollowing(connection: Connection, id: number, fate: Fate, result: string | null): void {
  connection.run(`UPDATE edge SET outcome = coalesce(outcome, ?),
      result = CASE WHEN links IS NULL THEN NULL ELSE coalesce(result, ?) END
    WHERE followed = ? AND (outcome IS NULL OR links IS NOT NULL)`, fate, result, id);
  connection.run('DELETE FROM edge WHERE follower = ?', id);
  connection.run('DELETE FROM flow_run WHERE run = ?', id);
}
