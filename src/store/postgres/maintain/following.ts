/** The edges between runs and the runs that they follow, and flows. Implements `port/following.ts`. */
import type { Edge } from '../../../model/following.ts';
import type { Job } from '../../../model/job.ts';
import { edgeOfRow, flowTallyOfRow, linksText, talliesOfRows, type EdgeRow, type EdgeTallyRow } from '../../edge-row.ts';
import { namesOf, openColumns } from '../../job-columns.ts';
import type { OpenRow } from '../../row.ts';
import { otherEnd, type Batch, type EdgeQuery, type EdgeTally, type FlowTally, type FollowingPage, type ManyEdgesQuery } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { numberArray } from '../sql/row-parameters.ts';
import { idsParameter } from '../read/claimed.ts';
import { joinOriginSql, jobOfRow, storedNamesSql } from '../read/open-rows.ts';

const openNames = storedNamesSql(namesOf(openColumns));

/**
 * Sends the statements that write the edges and the flows of a batch. Rows are locked in the order of the followed runs. If
 * an earlier try, whose answer was lost, has written them, this one must not fail: `commit` finds out what is stored.
 */
export async function writeFollowing(session: Session, { edges = [], flows = [] }: Batch): Promise<void> {
  const { schema } = session;
  const writeEdges = `insert into ${schema}.edge (follower, followed, outcome, links, result)
    select follower, followed, outcome, links, result from json_to_recordset($1::json)
      as given (follower bigint, followed bigint, outcome text, links text, result text)
    on conflict (follower, followed)
      do update set outcome = excluded.outcome, links = excluded.links, result = excluded.result`;
  const writeFlows = `insert into ${schema}.flow_run (run, flow)
    select run, flow from unnest($1::bigint[], $2::bigint[]) as given (run, flow)
    on conflict (run) do nothing`;
  const members = flows.flatMap(({ id, runs }) => runs.map((run) => ({ run, flow: id })));
  const rows = edges.toSorted(byFollowed).map((edge) => ({ ...edge, links: linksText(edge) }));
  await Promise.all([
    rows.length > 0 && session.run(writeEdges, [JSON.stringify(rows)]),
    members.length > 0 && session.run(writeFlows, [
      numberArray(members.map(({ run }) => run)), numberArray(members.map(({ flow }) => flow)),
    ]),
  ]);
}

const byFollowed = (a: Edge, b: Edge): number => a.followed - b.followed || a.follower - b.follower;

/** Whether there is no job with the id. A job that runs in a claim has only its row of `origin`. */
const isMissing = (schema: string, id: string): string => ['origin', 'job', 'ended']
  .map((table) => `not exists (select 1 from ${schema}.${table} where ${table}.id = ${id})`).join(' and ');

/**
 * Closes edges. The rows of the ended runs are locked first: a run that is being reopened is skipped after its commit,
 * which has opened its edges again. `isAlone`: the statement is a transaction of its own, whose commit does not wait for
 * a flush to the disk. If the server crashes, the search for ended runs with open edges closes them again; a later
 * commit, such as that which continues a follower, is flushed after this one.
 */
export async function closeEdges(session: Session, followed: readonly number[], isAlone = false): Promise<number[]> {
  const { schema } = session;
  const unflushed = isAlone ? `cross join (select set_config('synchronous_commit', 'off', true) offset 0) unflushed` : '';
  const text = `with gone as materialized (
      select locked.id, locked.fate from unnest(${idsParameter(1)}) as goal (id) cross join lateral (
        select id, fate from ${schema}.ended where ended.id = goal.id limit 1 for share) locked
      union all
      select goal.id, 'cancelled' from unnest(${idsParameter(1)}) as goal (id) where ${isMissing(schema, 'goal.id')}
    ), open as materialized (
      select edge.follower, edge.followed, gone.fate from gone ${unflushed} cross join lateral (
        select follower, followed from ${schema}.edge
        where edge.followed = gone.id and outcome is null order by follower for update) edge
    ) update ${schema}.edge set outcome = open.fate from open
    where edge.follower = open.follower and edge.followed = open.followed returning edge.follower`;
  const rows = await session.run<EdgeRow>(text, [numberArray(followed.toSorted((a, b) => a - b))]);
  return [...new Set(rows.map(({ follower }) => Number(follower)))];
}

/** Open edges are searched from the newest run on: old runs usually end first and leave dead index entries. */
const openEdge = (schema: string): string => `left join lateral (
  select followed as open from ${schema}.edge where edge.follower = job.id and outcome is null
  order by followed desc limit 1) edge on true`;

export async function proceedable(session: Session, followers: readonly number[]): Promise<Job[]> {
  const { schema } = session;
  const text = `with ready as materialized (
      select job.* from unnest(${idsParameter(1)}) as goal (follower) cross join lateral (
        select * from ${schema}.job where job.id = goal.follower and hold = 'runs' limit 1) job ${openEdge(schema)}
      where open is null
    ) select ${openNames} from ready job ${joinOriginSql(schema, 'job')} order by id`;
  return (await session.run<OpenRow>(text, [numberArray(followers)])).map((row) => jobOfRow(session, row));
}

/** OFFSET 0: a plain join, planned for any number of followers, would read all edges. */
export async function tallyEdges(session: Session, followers: readonly number[]): Promise<Map<number, EdgeTally>> {
  const text = `select edge.follower, edge.outcome, count(*) as count from unnest(${idsParameter(1)}) as goal (follower)
    cross join lateral (
      select follower, outcome from ${session.schema}.edge where edge.follower = goal.follower offset 0) edge
    group by edge.follower, edge.outcome`;
  return talliesOfRows(followers, await session.run<EdgeTallyRow>(text, [numberArray(followers)]));
}

export async function edges(session: Session, query: EdgeQuery): Promise<Edge[]> {
  const { after = 0, limit, isOpen = false } = query;
  const [own, other, id] = 'follower' in query
    ? ['follower', 'followed', query.follower] : ['followed', 'follower', query.followed];
  const text = `select follower, followed, outcome, links, result from ${session.schema}.edge
    where ${own} = $1 and ${other} > $2 ${isOpen ? 'and outcome is null' : ''} order by ${other} limit $3`;
  return (await session.run<EdgeRow>(text, [id, after, limit])).map(edgeOfRow);
}

export async function edgesOfMany(session: Session, { end, ids, after, limit }: ManyEdgesQuery): Promise<Edge[]> {
  const other = otherEnd(end);
  const text = `select edge.* from unnest(${idsParameter(1)}) as goal (id) cross join lateral (
      select follower, followed, outcome, links, result from ${session.schema}.edge
      where edge.${end} = goal.id and (goal.id > $2 or edge.${other} > $3) order by edge.${other} limit $4) edge
    order by edge.${end}, edge.${other} limit $4`;
  const from = after?.[end] ?? 0;
  const goals = numberArray(ids.filter((id) => id >= from));
  return (await session.run<EdgeRow>(text, [goals, from, after?.[other] ?? 0, limit])).map(edgeOfRow);
}

export async function stalledFollowers(session: Session, after: number, limit: number): Promise<FollowingPage> {
  const { schema } = session;
  const text = `select job.id, open is null as chosen from (
      select id from ${schema}.job where hold = 'runs' and id > $1 order by id limit $2) job ${openEdge(schema)}
    order by job.id`;
  return pageOf(await session.run<ScannedRow>(text, [after, limit]), limit);
}

/** Each run is found by one index seek, however many edges lead to it. */
export async function endedWithOpenEdges(session: Session, after: number, limit: number): Promise<FollowingPage> {
  const { schema } = session;
  const next = (from: string): string => `select followed as id from ${schema}.edge
    where outcome is null and followed > ${from} order by followed limit 1`;
  const text = `with recursive seen (id, number) as (
      (select id, 1 from (${next('$1')}) first)
      union all
      select following.id, seen.number + 1 from seen cross join lateral (${next('seen.id')}) following
      where seen.number < $2)
    select seen.id, gone.id is not null or ${isMissing(schema, 'seen.id')} as chosen from seen left join lateral (
      select ended.id from ${schema}.ended where ended.id = seen.id limit 1) gone on true order by seen.id`;
  return pageOf(await session.run<ScannedRow>(text, [after, limit]), limit);
}

interface ScannedRow {
  readonly id: number;
  readonly chosen: boolean;
}

const pageOf = (scanned: readonly ScannedRow[], limit: number): FollowingPage => ({
  ids: scanned.filter(({ chosen }) => chosen).map(({ id }) => id),
  next: scanned.length === limit ? scanned.at(-1)!.id : null,
});

export async function flows(session: Session, before: number | null, limit: number): Promise<number[]> {
  const next = (from: string): string => `select flow as id from ${session.schema}.flow_run
    where flow < ${from} order by flow desc limit 1`;
  const text = `with recursive seen (id, number) as (
      (select id, 1 from (${next('$1')}) first)
      union all
      select following.id, seen.number + 1 from seen cross join lateral (${next('seen.id')}) following
      where seen.number < $2)
    select id from seen order by id desc`;
  const rows = await session.run<{ id: number }>(text, [before ?? Number.MAX_SAFE_INTEGER, limit]);
  return rows.map(({ id }) => id);
}

export async function flowRuns(session: Session, flow: number, after: number, limit: number): Promise<number[]> {
  const text = `select run from ${session.schema}.flow_run where flow = $1 and run > $2 order by run limit $3`;
  return (await session.run<{ run: number }>(text, [flow, after, limit])).map(({ run }) => run);
}

/** A run without a row in `ended` and `job` runs in a claim. */
export async function tallyFlows(session: Session, flowIds: readonly number[], runsMax: number): Promise<FlowTally[]> {
  const { schema } = session;
  const one = (table: string, columns: string): string =>
    `left join lateral (select ${columns} from ${schema}.${table} where ${table}.id = member.run limit 1) ${table} on true`;
  const of = (column: string): string => `coalesce(ended.${column}, job.${column}, origin.${column})`;
  const text = `select goal.id as flow, ${of('type')} as type, coalesce(ended.fate, job.state, 'running') as standing,
      count(*) as count, min(member.run) as first, min(${of('created')}) as created
    from unnest(${idsParameter(1)}) as goal (id) cross join lateral (
      select run from ${schema}.flow_run where flow = goal.id order by run limit $2) member
    ${one('ended', 'type, created, fate')} ${one('job', 'type, created, state')} ${one('origin', 'type, created')}
    group by 1, 2, 3 order by 1, 5`;
  return (await session.run<FlowTally>(text, [numberArray(flowIds), runsMax])).map(flowTallyOfRow);
}

export async function flowOf(session: Session, run: number): Promise<number | null> {
  const text = `select flow from ${session.schema}.flow_run where run = $1`;
  return (await session.run<{ flow: number }>(text, [run]))[0]?.flow ?? null;
}

/**
 * The part of a statement in which the followers of deleted jobs keep their outcomes, and their results if they use
 * them. The CTE `gone` must have the ids, fates and results of the jobs.
 */
export const keepOutcomesSql = (schema: string): string => `update ${schema}.edge
    set outcome = coalesce(edge.outcome, kept.fate),
      result = case when edge.links is null then null else coalesce(edge.result, kept.result) end
    from (select edge.follower, edge.followed, gone.fate, gone.result from gone cross join lateral (
      select follower, followed from ${schema}.edge
      where edge.followed = gone.id and (outcome is null or links is not null)) edge) kept
    where edge.follower = kept.follower and edge.followed = kept.followed`;
