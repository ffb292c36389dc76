/**
 * Loads, finds and counts jobs. One statement reads all sources, the tables `job` and `ended` and the jobs that run in
 * claims, so that a job that moves from one to another is found once.
 * Filters on the body search its text in SQL, and may let through too many rows; `matchesQuery` then decides.
 * Implements `load`, `find`, `count` and `jobsByKey` of `port/reading.ts`.
 */
import type { Job } from '../../../model/job.ts';
import {
  endedStandings, matchesQuery, openStandings, pageLimitMax, type Page, type PageRequest, type Query, type Standing,
  type Tally,
} from '../../query.ts';
import { talliesOf, type TallyRow } from '../../tally-row.ts';
import { TallySum } from '../../tally-sum.ts';
import { scanIds, type IdRange } from '../../id-scan.ts';
import { textArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { claimedSql, idsParameter, idsValue } from './claimed.ts';
import { claimTallySql, hasCommonType, isByType } from './claim-tally.ts';
import { excludesSucceededAndTasks, chooseIndex, type JobSource, type Table } from './index-choice.ts';
import { joinOriginSql } from './open-rows.ts';
import { endedPartitions, recentEndedSince } from './recent-ended.ts';
import { nowSql } from '../sql/server-clock.ts';
import { jobOfSourceRow, rowNames, selectClaimed, selectFrom, type SourceRow } from './source-rows.ts';
import { whereSql } from './where.ts';

export async function load(session: Session, ids: readonly number[]): Promise<Job[]> {
  if (ids.length === 0) return [];
  const wanted = idsParameter(1);
  const select = (table: Table): string => `${selectFrom(session.schema, table)} where id = any(${wanted}::bigint[])`;
  const claimed = selectClaimed(session.schema, { ids: wanted });
  const text = `${select('job')} union all ${select('ended')} union all ${claimed}`;
  return (await session.run<SourceRow>(text, [idsValue(ids)])).map((row) => jobOfSourceRow(session, row));
}

export async function jobsByKey(session: Session, keys: readonly string[]): Promise<Map<string, number>> {
  const text = `select key, job from ${session.schema}.unique_key
    where key = any($2::text[]) and (until is null or until > ${nowSql})`;
  const rows = await session.run<{ key: string; job: number }>(text, [session.time.parameter(), textArray(keys)]);
  return new Map(rows.map(({ key, job }) => [key, job]));
}

export async function find(session: Session, query: Query, page: PageRequest = {}): Promise<Page> {
  const { order = 'newest', after, limit = 100, patienceMs } = page;
  const size = Math.min(limit, pageLimitMax);
  const found: Job[] = [];
  const next = isIndexed(query)
    ? await collectMatches(session, query, { order, after }, size, found)
    : await search(session, query, { order, after, patienceMs, since: await recentEndedSince(session, query) }, size, found);
  const jobs = found.slice(0, size);
  return { jobs, next: found.length > size ? (jobs.at(-1)?.id ?? null) : next };
}

/** The ids to scan: those beyond `after` in the page's order, up to `upTo` or the end. */
interface ScanBounds {
  readonly order: 'newest' | 'oldest';
  readonly after?: number | undefined;
  readonly upTo?: number | undefined;
  /** If set, leaves out ended jobs that ended before this time. */
  readonly since?: number | undefined;
}

/**
 * Appends the matches within the bounds to `found`, until it has more than `size` jobs. Always returns null, which
 * means for `find` that there is no id after which to continue.
 */
async function collectMatches(
  session: Session,
  query: Query,
  bounds: ScanBounds,
  size: number,
  found: Job[],
): Promise<null> {
  const portion = Math.max(size + 1, isByColumns(query) ? 0 : 200);
  for (let { after } = bounds; ;) {
    const jobs = await readPortion(session, query, { ...bounds, after }, portion);
    for (const job of jobs) if (matchesQuery(job, query)) found.push(job);
    if (found.length > size || jobs.length < portion) return null;
    after = jobs.at(-1)!.id;
  }
}

/**
 * Searches in steps of short statements, because no index yields exactly the matches. Returns the id after which to
 * continue if `patienceMs` ran out; otherwise null.
 */
function search(
  session: Session,
  query: Query,
  { order, after, since, patienceMs }: ScanBounds & { readonly patienceMs: number | undefined },
  size: number,
  found: Job[],
): Promise<number | null> {
  return scanIds(
    { order, after, stepMs: scanStepMs, patienceMs, clock: session.time.host },
    {
      stepEnd: (range, rows) => stepEnd(session, query, { order, since }, range, rows),
      scan: async ({ low, high }) => {
        const bounds = order === 'newest' ? { after: high + 1, upTo: low } : { after: low - 1, upTo: high };
        await collectMatches(session, query, { order, since, ...bounds }, size, found);
        return found.length > size;
      },
    },
  );
}

const scanStepMs = 40;

/**
 * Returns the id at which a step ends: the first at which one search (of a table, or of an index by one value) has
 * found `rows` rows. Null: no search finds so many in the range. Counts the rows that pass the filters of
 * `indexedPart`, because a step reads all of these rows.
 */
async function stepEnd(
  session: Session,
  query: Query,
  { order, since }: ScanBounds,
  { low, high }: IdRange,
  rows: number,
): Promise<number | null> {
  const [direction, nearer] = order === 'newest' ? ['desc', 'max'] : ['asc', 'min'];
  const values: unknown[] = [low, high, rows - 1];
  const ends = sourcesOf(query).map((table) =>
    idsSql(session.schema, table, indexedPart(query), {
      beyond: ['id >= $1', 'id <= $2'], direction, portion: 'limit 1 offset $3', since,
    }, values),
  );
  if (ends.length === 0) return null;
  const [row] = await session.runUnprepared<{ id: number | null }>(
    `select ${nearer}(id) as id from (${ends.join(' union all ')}) ends`,
    values,
  );
  return row?.id ?? null;
}

/** Returns the query without filters on creation time and on JSON, which most indexes do not support. */
function indexedPart({ createdFrom: _from, createdBefore: _before, ...query }: Query): Query {
  const { tags: _tags, error: _error, input: _input, text: _text, ...indexed } = query;
  return indexed;
}

export async function count(session: Session, query: Query, dueBy: number | undefined): Promise<Tally[]> {
  if (!isByColumns(query)) return countOneByOne(session, query, dueBy);
  const values: unknown[] = [];
  const texts = sourcesOf(query).flatMap((source) => talliesSql(session.schema, source, query, values, dueBy));
  if (texts.length === 0) return [];
  const due = dueBy === undefined ? '' : ', due';
  const text = `select kind, standing, json_agg(json_build_array(type, count${due}))::text as types
    from (${texts.join(' union all ')}) tally group by 1, 2`;
  return withSummedRunning(talliesOf(await session.runUnprepared<TallyRow>(text, values)));
}

/** Running jobs are counted in two sources. All other tallies are in one: with 20,000 types it takes 30 ms to sum them. */
function withSummedRunning(tallies: readonly Tally[]): Tally[] {
  const sum = new TallySum();
  for (const tally of tallies) if (tally.standing === 'running') sum.add(tally);
  return [...tallies.filter(({ standing }) => standing !== 'running'), ...sum.all()];
}

/** Returns the queries for the tallies of a source. */
function talliesSql(
  schema: string,
  source: JobSource,
  query: Query,
  values: unknown[],
  dueBy: number | undefined,
): string[] {
  if (source === 'job') return [tallySql(source, jobsSql(schema, source, query), query, values, dueBy)];
  if (source === 'ended') return [tallySql(source, jobsSql(schema, source, query), query, values)];
  if (!isByType(query)) return [tallySql(source, inClaimsSql(schema, claimsSql(query, values)), query, values)];
  return [
    claimTallySql(schema, query, values),
    tallySql(source, inClaimsSql(schema, `(${hasCommonType}) is not true`), query, values),
  ];
}

function tallySql(source: JobSource, from: string, query: Query, values: unknown[], dueBy?: number): string {
  const where = whereSql(source, query, values);
  const isDue = dueBy === undefined ? 'false' : `state = 'pending' and due < $${values.push(dueBy)}`;
  return `select kind, type, ${standingSql[source]} as standing, count(*) as count, count(*) filter (where ${isDue}) as due
    from ${from} ${where} group by 1, 2, 3`;
}

const standingSql: Readonly<Record<JobSource, string>> = { job: 'state', ended: 'fate', claim: `'running'` };

/** The FROM clause of a source. */
const fromSql = (schema: string, source: JobSource, query: Query, values: unknown[]): string =>
  source === 'claim' ? inClaimsSql(schema, claimsSql(query, values)) : jobsSql(schema, source, query);

/** The FROM clause of a table. Its rows need their origins only if the query filters by input or body. */
const jobsSql = (schema: string, table: Table, query: Query): string =>
  `${schema}.${table} ${isByColumns(query) ? '' : joinOriginSql(schema, table)}`;

/** The FROM clause of the jobs that run in claims with this condition. */
const inClaimsSql = (schema: string, where: string): string => `(${claimedSql(schema, { where })}) claimed`;

/** The condition of the claims in which jobs of the query may run. */
const claimsSql = ({ parent }: Query, values: unknown[]): string =>
  typeof parent === 'number' ? `$${values.push(parent)}::bigint = any(claim.parents)` : 'true';

/** Reads up to `limit` rows that may match, in the page's order. */
async function readPortion(session: Session, query: Query, bounds: ScanBounds, limit: number): Promise<Job[]> {
  const { order, after, upTo, since } = bounds;
  const [sign, opposite, direction] = order === 'newest' ? ['<', '>=', 'desc'] : ['>', '<=', 'asc'];
  const values: unknown[] = [limit];
  const beyond = [
    ...(after === undefined ? [] : [`id ${sign} $${values.push(after)}`]),
    ...(upTo === undefined ? [] : [`id ${opposite} $${values.push(upTo)}`]),
  ];
  const texts = sourcesOf(query).map((table) => {
    if (table === 'claim') {
      const where = [claimsSql(query, values), ...beyond.map((term) => `listed.${term}`)].join(' and ');
      return `(${selectClaimed(session.schema, { where, direction })}
        ${whereSql(table, query, values)} order by id ${direction} limit $1)`;
    }
    const ids = idsSql(session.schema, table, query, { beyond, direction, portion: 'limit $1', since }, values);
    // Each id is looked up in a lateral subquery. For a plain join, and with statistics that were collected while the
    // table was empty, the planner would read the whole table and search the ids for each of its rows. Ordered by the
    // id of `wanted`, whose order is known, the sources are merged, and rows beyond the limit are not looked up.
    return `(select wanted.id, ${rowNames} from (${ids} order by id ${direction} limit $1) wanted
      cross join lateral (${selectFrom(session.schema, table)} where id = wanted.id limit 1) row
      order by wanted.id ${direction})`;
  });
  if (texts.length === 0) return [];
  const text = `select * from (${texts.join(' union all ')}) found order by id ${direction} limit $1`;
  const rows = await session.runUnprepared<SourceRow>(text, values);
  return rows.map((row) => jobOfSourceRow(session, row));
}

interface IdsRequest {
  readonly beyond: readonly string[];
  readonly direction: string;
  /**
   * The LIMIT clause. If `chooseIndex` returns an index, the clause limits the ids that are found for each row of the
   * CTE `entry`. If `chooseIndex` returns null, the clause limits all ids together.
   */
  readonly portion: string;
  readonly since: number | undefined;
}

/** Returns a query for the ids of rows that may match. */
function idsSql(schema: string, table: JobSource, query: Query, request: IdsRequest, values: unknown[]): string {
  const { beyond, direction, portion, since } = request;
  if (since !== undefined && table === 'ended') return idsSinceSql(schema, query, request, since, values);
  const choice = table === 'claim' ? null : chooseIndex(schema, table, query, values);
  const from = fromSql(schema, table, query, values);
  const where = whereSql(table, choice?.remainder ?? query, values, [...beyond, ...(choice?.terms ?? [])]);
  const select = (by: string): string => `select id from ${from} ${where} order by ${by} ${portion}`;
  if (choice === null) return `select id from (${select(`id ${direction}`)}) all_ids`;
  const ids = select(`${table}.${choice.column} ${direction}, id ${direction}`);
  return `select id from (
    with recursive ${choice.entries} select ids.id from entry cross join lateral (${ids}) ids) indexed_ids`;
}

/**
 * Returns a query for the ids of jobs that ended at `since` or later. The CTE is materialized so that the planner uses
 * the indexes on `ended_at`. Otherwise it may scan the primary key, because the ids are ordered and limited.
 */
function idsSinceSql(schema: string, query: Query, request: IdsRequest, since: number, values: unknown[]): string {
  const { beyond, direction, portion } = request;
  const hasEnded = `ended_at >= $${values.push(since)}`;
  const from = fromSql(schema, 'ended', query, values);
  const partitions = endedPartitions.map((partition) => `(select id from ${from}
    ${whereSql('ended', query, values, [...beyond, partition, hasEnded])} order by ended_at desc)`);
  return `select id from (with since as materialized (${partitions.join(' union all ')})
    select id from since order by id ${direction} ${portion}) since_ids`;
}

function sourcesOf({ standings, dueBefore }: Query): JobSource[] {
  const includes = (some: readonly Standing[]): boolean =>
    standings?.some((standing) => some.includes(standing)) ?? true;
  const open: JobSource[] = includes(openStandings) ? ['job'] : [];
  const claimed: JobSource[] = includes(['running']) ? ['claim'] : [];
  return includes(endedStandings) && dueBefore === undefined ? [...open, 'ended', ...claimed] : [...open, ...claimed];
}

/**
 * Whether the query is answered without a search in steps. It must have no filter on JSON. It may filter by creation
 * time only if the index `ended_not_succeeded_top` fits: no other index contains `created`.
 */
const isIndexed = (query: Query): boolean =>
  isByColumns(query) && (isTimeless(query) || excludesSucceededAndTasks(query));

const isTimeless = ({ createdFrom, createdBefore }: Query): boolean =>
  createdFrom === undefined && createdBefore === undefined;

/** Whether the query has no filter on JSON. If so, SQL selects exactly the jobs for which `matchesQuery` is true. */
const isByColumns = ({ tags, error, input, text }: Query): boolean =>
  tags === undefined && error === undefined && input === undefined && text === undefined;

async function countOneByOne(session: Session, query: Query, dueBy: number | undefined): Promise<Tally[]> {
  const sum = new TallySum();
  for (let after = 0; ;) {
    const { jobs, next } = await find(session, query, { order: 'oldest', after, limit: pageLimitMax });
    for (const job of jobs) sum.addJob(job, dueBy);
    if (next === null) return sum.all();
    after = next;
  }
}
