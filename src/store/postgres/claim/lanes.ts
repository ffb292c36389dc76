/**
 * Lanes: a kind, a type and a priority. Each lane is one range of the index `job_lane`, so jobs of other types and
 * later jobs cost nothing. The lanes are found by seeks into the index from one priority (and type) to the next. See
 * claim.ts.
 */
import { isLiteral, literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { byClaimOrder } from '../../../model/claim-order.ts';
import { systemClock } from '../../../time/clock.ts';
import { namesOf, pendingColumns } from '../../job-columns.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import { nameArray, numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/connection.ts';
import type { ScanCursors, LaneCursor, ScanResult } from './scan-cursor.ts';
import { nowText } from '../sql/server-clock.ts';

/** A row with its ctid, which does not change while the row is locked. */
export interface RowWithCtid extends OpenRow {
  readonly row_ctid: string;
}

/** The jobs that a claim has locked, in claim order. */
export interface LockedJobs {
  readonly rows: readonly RowWithCtid[];
  /** The parents that could be locked, and whether each has been asked to cancel. */
  readonly parents: ReadonlyMap<number, boolean>;
  /** Store time after locking. */
  readonly now: number;
}

export type LaneRequest = Pick<ClaimRequest, 'kinds' | 'names' | 'priorities'>;

/** The conditions of the partial indexes, verbatim. */
export const isFree = `state = 'pending' and (gate is null or admitted = 1)`;
export const isAtGate = `state = 'pending' and gate is not null and admitted = 0`;

interface FreeJobs extends LockedJobs {
  readonly hasJobsAtGates: boolean;
}

/** Locks the first due jobs that have no gate or have been admitted. */
export async function freeRows(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> {
  const cursor = cursors.start(request);
  const resumed = cursor && (await scanFromCursor(session, request, cursor));
  const count = resumed?.rows.length ?? 0;
  const isEnough = resumed && (count === request.limit || cursors.acceptsPartial(request, count));
  const free = isEnough ? resumed : await scanAll(session, cursors, request);
  cursors.recordClaim(request, free.rows);
  return free;
}

/** Scans each lane from its cursor on. */
async function scanFromCursor(
  session: Session,
  request: ClaimRequest,
  cursor: readonly LaneCursor[],
): Promise<FreeJobs> {
  const values: unknown[] = [session.time.parameter(), request.limit];
  const list = (value: string, type: string): string => `$${values.push(value)}::${type}[]`;
  const lanes = [
    list(nameArray(cursor.map(({ kind }) => kind)), 'text'),
    list(nameArray(cursor.map(({ type }) => type)), 'text'),
    list(numberArray(cursor.map(({ priority }) => priority)), 'bigint'),
    list(numberArray(cursor.map(({ due }) => due)), 'bigint'),
    list(numberArray(cursor.map(({ id }) => id)), 'bigint'),
  ];
  const tables = `lane as (select * from unnest(${lanes.join(', ')}) as lane (kind, type, priority, due, id)),
    ${lockSql(session.schema, cursor.length, 'and (job.due, job.id) > (lane.due, lane.id)')}`;
  return lockAndRead(session, tables, `'hasJobsAtGates', false`, values);
}

async function scanAll(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> {
  const scannedAt = systemClock.monotonic();
  const lanesFound = cursors.lanesFound(request);
  const found = await scan(session, request, lanesFound);
  cursors.recordScan(request, found, scannedAt);
  // Others have locked too many of the rows in `near`: scan each lane until enough rows are locked.
  const isShort = lanesFound > 1 && found.rows.length < request.limit && found.near >= request.limit;
  return isShort ? scan(session, request, 1) : found;
}

function scan(
  session: Session,
  request: ClaimRequest,
  lanesFound: number,
): Promise<LockedJobs & ScanResult & { near: number }> {
  const { schema } = session;
  const values: unknown[] = [session.time.parameter(), request.limit];
  const tables = `${lanesSql(schema, request, isFree, values)}, ${lockSql(schema, lanesFound, '')}`;
  const summary = `'lanes', (select coalesce(json_agg(json_build_array(kind, type, priority)), '[]') from lane),
    'near', (select count(*) from near), 'hasJobsAtGates', ${anyAtGatesSql(schema, request)}, 'tookMs', ${tookMs}`;
  return lockAndRead(session, tables, summary, values);
}

/** Measured by the server: a client's measurement would include the time until it reads the answer. */
const tookMs = 'extract(epoch from clock_timestamp() - statement_timestamp()) * 1000';

/**
 * Executes a statement whose CTE `best` locks jobs, and locks their parents; `cancel_asked` is read after the lock.
 * Locked rows of others are skipped. The last row of the result is a summary: its body is JSON.
 */
export async function lockAndRead<Summary>(
  session: Session,
  tables: string,
  summary: string,
  values: unknown[],
): Promise<LockedJobs & Summary> {
  const { schema, time } = session;
  const text = `with recursive ${tables}, parent as materialized (
      select parent.* from (select distinct parent as id from best where parent is not null) of cross join lateral (
        select id, cancel_asked from ${schema}.job where job.id = of.id for share skip locked) parent
    ) select row_ctid, ${pendingNames} from best union all select null, ${noPending},
      json_build_object('now', ${nowText}, ${summary},
        'parents', (select coalesce(json_agg(json_build_array(id, cancel_asked)), '[]') from parent))::text`;
  const found = await session.run<RowWithCtid>(text, values);
  const once = JSON.parse(found.pop()!.body) as Summary & { now: number; parents: [number, number][] };
  const { now, parents, ...more } = once;
  time.observe(now);
  const rows = found.map((row) => Object.assign(row, { state: 'pending' as const })).sort(byClaimOrder);
  return { rows, now, parents: new Map(parents.map(([id, asked]) => [id, asked === 1])), ...(more as Summary) };
}

/** The columns of a pending job; the body is last, since the summary takes its place. */
const namesBeforeBody = namesOf(pendingColumns).filter((name) => name !== 'body');
export const pendingNames = [...namesBeforeBody, 'body'].join(', ');
const noPending = namesBeforeBody.map(() => 'null').join(', ');

/** The CTEs `near` and `best`, which lock up to $2 jobs of the lanes. */
const lockSql = (schema: string, lanes: number, beyond: string): string =>
  lanes > 1 ? lockBestSql(schema, beyond) : lockInLanesSql(schema, beyond);

/** Locks up to $2 rows of each lane: exact for one lane, too many rows for several. */
const lockInLanesSql = (schema: string, beyond: string): string => `near as (select), best as materialized (
  select job.* from lane cross join lateral (
    select ctid as row_ctid, ${pendingNames} from ${schema}.job
    where ${isFree} and ${inLane} ${beyond} and due <= ${nowText}
    order by due, id limit $2::bigint for update skip locked) job
  order by job.priority desc, job.due, job.id limit $2::bigint)`;

/** Reads the first rows of all lanes without locks, then locks them in claim order until there are $2. */
const lockBestSql = (schema: string, beyond: string): string => `near as materialized (
  select job.* from lane cross join lateral (
    select id, priority, due from ${schema}.job where ${isFree} and ${inLane} ${beyond} and due <= ${nowText}
    order by due, id limit 2 * $2::bigint + 20) job
  ), best as materialized (
  select job.* from (select id from near order by priority desc, due, id) near cross join lateral (
    select ctid as row_ctid, ${pendingNames} from ${schema}.job
    where ${isFree} and job.id = near.id for update skip locked) job
  limit $2::bigint)`;

export const inLane = `job.kind = lane.kind and job.type = lane.type and job.priority = lane.priority`;

/** The CTEs `named` (kind, type) and `lane` (kind, type, priority) of a statement that begins `with recursive`. */
export function lanesSql(schema: string, request: LaneRequest, waits: string, values: unknown[]): string {
  const next = (from: string, further: string): string => `select kind, type, (select priority from ${schema}.job
      where ${waits} and job.kind = ${from}.kind and job.type = ${from}.type ${further}
      order by priority desc limit 1) from ${from}`;
  const { priorities } = request;
  const chosen = priorities ? `and priority = any($${values.push(numberArray(priorities))}::bigint[])` : '';
  return `${namedTypesSql(schema, request, waits, values)}, priority_step (kind, type, priority) as (
      ${next('named', '')}
      union all ${next('priority_step', 'and job.priority < priority_step.priority')} where priority is not null
    ), lane as (select * from priority_step where priority is not null ${chosen})`;
}

/**
 * The CTE `named` (kind, type): the kinds and types of a request; for a pattern, the matching types with pending jobs.
 */
export function namedTypesSql(schema: string, { kinds, names }: LaneRequest, waits: string, values: unknown[]): string {
  const kindList = `unnest($${values.push(nameArray([...new Set(kinds)]))}::text[]) as kinds (kind)`;
  const exact = exactNames(names);
  if (exact) {
    const types = values.push(nameArray([...new Set(exact)]));
    return `named (kind, type) as (select kind, type from ${kindList}, unnest($${types}::text[]) as types (type))`;
  }
  const glob = parseGlob((names as { glob: string }).glob);
  const [prefix, regex] = [values.push(literalPrefix(glob)), values.push(toPostgresRegex(glob))];
  const next = (kind: string, further: string): string => `(select type from ${schema}.job
      where ${waits} and job.kind = ${kind} and job.type ${further} order by type limit 1)`;
  return `type_step (kind, type) as (
      select kind, ${next('kinds.kind', `>= $${prefix}::text`)} from ${kindList}
      union all
      select kind, ${next('type_step.kind', '> type_step.type')} from type_step
      where starts_with(type, $${prefix}::text)
    ), named as (select kind, type from type_step where type ~ $${regex}::text)`;
}

/** Null: the names are a pattern. */
function exactNames(names: LaneRequest['names']): readonly string[] | null {
  if ('exact' in names) return names.exact;
  const glob = parseGlob(names.glob);
  return isLiteral(glob) ? [literalPrefix(glob)] : null;
}

/** Whether jobs of the request wait at gates; for a pattern, whether any jobs do. */
const anyAtGatesSql = (schema: string, { names }: LaneRequest): string =>
  exactNames(names)
    ? `exists (select 1 from named cross join lateral (select 1 from ${schema}.job
        where ${isAtGate} and job.kind = named.kind and job.type = named.type limit 1) waiting)`
    : `(select true from ${schema}.job where ${isAtGate} order by kind, type, gate limit 1) is true`;
