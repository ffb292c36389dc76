/**
 * Claims by a pattern of type names. There are two ways. One walks the types that the pattern may match, which is slow
 * if there are many. The other scans the due jobs of all types in claim order, which is slow if many jobs of other
 * types are due. Both take turns with rising budgets, so that a claim costs about as much as the faster way. Many types
 * whose jobs are all due later do not slow a claim down, because the scan in claim order does not read these jobs.
 */
import { literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import type { Kind } from '../../../model/state.ts';
import type { ClaimRequest } from '../../store.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import {
  anyAtGatesSql, exactNames, isFree, kindsSql, lockAndRead, lockNearSql, lockedNames, type LaneRequest, type
  LockedJobs,
} from './lanes.ts';
import { hasSpreadsSql, isClaimableSql, pausedSql } from '../read/pauses.ts';
import { nowSql } from '../sql/server-clock.ts';

/**
 * The budgets. The first walk may visit `typesFirst` types. If a walk may visit n types, the scan after it may read
 * n × `rowsPerType` rows of each lane, because visiting a type takes about as long as reading sixteen rows. Each next
 * walk may visit `growth` times as many types.
 */
export const typesFirst = 64;
export const rowsPerType = 16;
export const growth = 8;

export interface FreeJobs extends LockedJobs {
  readonly hasJobsAtGates: boolean;
  /** Whether the resume of a type is spread, perhaps of one of the request. */
  readonly hasSpreads: boolean;
}

/** The kinds of jobs in the index `job_order`. Jobs of other kinds are claimed by exact types. */
const orderedKinds: readonly Kind[] = ['bedrock', 'mock', 'def'];
const isOrdered = `${isFree} and kind in ('bedrock', 'mock', 'def')`;

export const canScanInOrder = ({ kinds, names }: LaneRequest): boolean =>
  exactNames(names) === null && kinds.every((kind) => orderedKinds.includes(kind));

/**
 * Locks the first matching jobs among the first `budget` due jobs of each lane. Here a lane is a kind and a priority,
 * with the jobs of all types. `isComplete` is false if matching jobs beyond the budget might precede the locked ones in
 * claim order, or might be needed to reach the limit.
 */
export async function scanInOrder(
  session: Session,
  request: ClaimRequest,
  budget: number,
): Promise<FreeJobs & { readonly isComplete: boolean }> {
  const { schema } = session;
  const values: unknown[] = [session.time.parameter(), request.limit, budget];
  const lanes = orderedLanesSql(schema, request, values);
  const isMatch = matchSql(request, values, 'scanned');
  const due = `select id, due, type, job.kind from ${schema}.job where ${isOrdered} and ${inLane} and due <= ${nowSql}
    order by due, id`;
  const tables = `${lanes}, near as materialized (
      select job.id, lane.kind, lane.priority, job.due from lane cross join lateral (
        select id, due from (${due} limit $3::bigint) scanned where ${isMatch} limit 2 * $2::bigint + 20) job
    ), cut as materialized (
      select priority from lane where $2::bigint > (
          select count(*) from near where near.kind = lane.kind and near.priority = lane.priority)
        and (select true from (${due}) due offset $3::bigint limit 1)
    ), ${lockNearSql(schema)}`;
  const summary = `'cut', (select max(priority) from cut), 'near', (select count(*) from near),
    'hasJobsAtGates', ${anyAtGatesSql(schema, request, values)}, 'hasSpreads', ${hasSpreadsSql}`;
  const { cut, near, ...found } = await lockAndRead<OrderedScan>(session, tables, summary, values);
  const isEnough = found.rows.length === request.limit;
  // The CTE `near` found enough rows, but other claims have locked some of them: scan without a budget until enough
  // rows are locked.
  if (!isEnough && near >= request.limit) return { ...(await lockInOrder(session, request)), isComplete: true };
  return { ...found, isComplete: cut === null || (isEnough && found.rows.at(-1)!.priority > cut) };
}

interface OrderedScan {
  /**
   * The highest priority of the lanes that have too few matches within the budget and more due jobs beyond it; null:
   * there is no such lane.
   */
  readonly cut: number | null;
  readonly near: number;
  readonly hasJobsAtGates: boolean;
  readonly hasSpreads: boolean;
}

/** Locks the first matching jobs that nobody else has locked, however many due jobs of other types precede them. */
function lockInOrder(session: Session, request: ClaimRequest): Promise<FreeJobs> {
  const { schema } = session;
  const values: unknown[] = [session.time.parameter(), request.limit];
  const tables = `${orderedLanesSql(schema, request, values)}, best as materialized (
      select job.* from lane cross join lateral (
        select ${lockedNames} from ${schema}.job
        where ${isOrdered} and ${inLane} and due <= ${nowSql} and ${matchSql(request, values, 'job')}
        order by due, id limit $2::bigint for update skip locked) job
      order by job.priority desc, job.due, job.id limit $2::bigint)`;
  const summary = `'hasJobsAtGates', ${anyAtGatesSql(schema, request, values)}, 'hasSpreads', ${hasSpreadsSql}`;
  return lockAndRead(session, tables, summary, values);
}

/**
 * How many jobs per lane `nextDueInOrder` scans. If none matches, it returns the due time of the last job that was
 * scanned, at which the caller asks again.
 */
const nextScanMax = 1_000;

/**
 * Returns the due time of the next matching job after `after`, or an earlier time at which to ask again. If `after` is
 * null, searches from now on. Returns null if no job is due later.
 */
export async function nextDueInOrder(
  session: Session,
  request: LaneRequest,
  after: number | null,
): Promise<number | null> {
  const { schema } = session;
  const values: unknown[] = [after];
  const lanes = orderedLanesSql(schema, request, values);
  const isMatch = matchSql(request, values, 'scanned');
  const later = `select due, type, job.kind from ${schema}.job where ${isOrdered} and ${inLane} and due > ${nowSql}
    order by due, id`;
  const text = `with recursive ${lanes} select min(coalesce(
      (select due from (${later} limit ${nextScanMax}) scanned where ${isMatch} limit 1),
      (select due from (${later} offset ${nextScanMax - 1} limit 1) last))) as due from lane`;
  const [row] = await session.run<{ due: number | null }>(text, values);
  return row!.due;
}

/** The CTEs `paused` and `lane` (kind, priority). Each lane is one range of the index `job_order`, and is found by one seek. */
function orderedLanesSql(schema: string, { kinds, priorities }: LaneRequest, values: unknown[]): string {
  const next = (from: string, further: string): string => `select kind, (select priority from ${schema}.job
      where ${isOrdered} and job.kind = ${from}.kind ${further} order by priority desc limit 1)`;
  const chosen = priorities ? `and priority = any($${values.push(numberArray(priorities))}::bigint[])` : '';
  return `${pausedSql(schema)}, priority_step (kind, priority) as (
      ${next('kinds', '')} from ${kindsSql(kinds, values)} union all
      ${next('priority_step', 'and job.priority < priority_step.priority')} from priority_step where priority is not null
    ), lane as (select * from priority_step where priority is not null ${chosen})`;
}

const inLane = 'job.kind = lane.kind and job.priority = lane.priority';

/** A condition on the rows of `table`: their types match the pattern and are not paused. */
function matchSql({ kinds, names }: LaneRequest, values: unknown[], table: string): string {
  const glob = parseGlob((names as { glob: string }).glob);
  const prefix = `starts_with(${table}.type, $${values.push(literalPrefix(glob))}::text)`;
  const isMatch = `${prefix} and ${table}.type ~ $${values.push(toPostgresRegex(glob))}::text`;
  return `${isMatch} and ${isClaimableSql(kinds, table)}`;
}
