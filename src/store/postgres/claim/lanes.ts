/**
 * Lanes: where pending jobs wait. A lane is a kind, a type and a priority; each is entered at its own place of the
 * index, so that a million jobs of other names, or due later, cost nothing. Which lanes there are is found by stepping
 * from one priority (and, for a pattern, from one type) to the next, a look into the index each.
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

/** A job, and where its row lies: as long as it is locked, it lies still. */
export interface RowWithCtid extends OpenRow {
  readonly place: string;
}

/** Jobs that are locked for this claim, best first. */
export interface LockedJobs {
  readonly rows: readonly RowWithCtid[];
  /** Of their parents those that could be locked: whether each was asked to give up. */
  readonly parents: ReadonlyMap<number, boolean>;
  /** The time when they were. */
  readonly now: number;
}

export type LaneRequest = Pick<ClaimRequest, 'kinds' | 'names' | 'priorities'>;

/** As the partial indexes say it, to the letter. */
export const isFree = `state = 'pending' and (gate is null or admitted = 1)`;
export const isAtGate = `state = 'pending' and gate is not null and admitted = 0`;

interface FreeJobs extends LockedJobs {
  readonly isAnyoneAtGates: boolean;
}

/** The best jobs that wait at no gate, or have passed it; locked. */
export async function freeRows(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> {
  const cursor = cursors.resumeAt(request);
  const found = cursor && (await scanFromCursor(session, request, cursor));
  const isEnough = found !== null && (found.rows.length === request.limit || cursors.acceptsPartial(request, found.rows.length));
  const free = isEnough ? found : await scanAll(session, cursors, request);
  cursors.recordClaim(request, free.rows);
  return free;
}

/** From where the last claim ended. */
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
  return lockAndRead(session, tables, `'isAnyoneAtGates', false`, values);
}

async function scanAll(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> {
  const scannedAt = systemClock.monotonic();
  const lanesFound = cursors.lanesFound(request);
  const found = await scan(session, request, lanesFound);
  cursors.recordScan(request, found, scannedAt);
  // Of those near the front too many were locked by others: what is left may lie further back in some lane.
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
    'near', (select count(*) from near), 'isAnyoneAtGates', ${anyAtGatesSql(schema, request)}, 'tookMs', ${tookMs}`;
  return lockAndRead(session, tables, summary, values);
}

/** Of the statement so far. Seen from here it would count also how long we were too busy to read the answer. */
const tookMs = 'extract(epoch from clock_timestamp() - statement_timestamp()) * 1000';

/**
 * Runs a statement whose table `best` locks jobs, and locks their parents: against a cancel, which is read after the
 * lock. One that cannot be locked at once is not waited for. What is told once for all rows comes in a row of its own.
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
    ) select place, ${pendingNames} from best union all select null, ${noPending},
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

/** The tables that lock as many as the second parameter says of the jobs in `lane`. */
const lockSql = (schema: string, lanes: number, beyond: string): string =>
  lanes > 1 ? lockBestSql(schema, beyond) : lockInLanesSql(schema, beyond);

/** As many as asked for of each lane: right for one lane, and locks too many when there are several. */
const lockInLanesSql = (schema: string, beyond: string): string => `near as (select), best as materialized (
  select job.* from lane cross join lateral (
    select ctid as place, ${pendingNames} from ${schema}.job where ${isFree} and ${inLane} ${beyond} and due <= ${nowText}
    order by due, id limit $2::bigint for update skip locked) job
  order by job.priority desc, job.due, job.id limit $2::bigint)`;

/** Those near the front of all lanes are looked at, and locked in their order until there are enough. */
const lockBestSql = (schema: string, beyond: string): string => `near as materialized (
  select job.* from lane cross join lateral (
    select id, priority, due from ${schema}.job where ${isFree} and ${inLane} ${beyond} and due <= ${nowText}
    order by due, id limit 2 * $2::bigint + 20) job
  ), best as materialized (
  select job.* from (select id from near order by priority desc, due, id) near cross join lateral (
    select ctid as place, ${pendingNames} from ${schema}.job where ${isFree} and job.id = near.id for update skip locked) job
  limit $2::bigint)`;

export const inLane = `job.kind = lane.kind and job.type = lane.type and job.priority = lane.priority`;

/** The tables `named` (kind, type) and `lane` (kind, type, priority) for a statement that begins `with recursive`. */
export function lanesSql(schema: string, request: LaneRequest, waits: string, values: unknown[]): string {
  const next = (from: string, further: string): string => `select kind, type, (select priority from ${schema}.job
      where ${waits} and job.kind = ${from}.kind and job.type = ${from}.type ${further}
      order by priority desc limit 1) from ${from}`;
  const chosen = request.priorities
    ? `and priority = any($${values.push(numberArray(request.priorities))}::bigint[])`
    : '';
  return `${namedTypesSql(schema, request, waits, values)}, step (kind, type, priority) as (
      ${next('named', '')} union all ${next('step', 'and job.priority < step.priority')} where priority is not null
    ), lane as (select * from step where priority is not null ${chosen})`;
}

/** The kinds and types that an ask names; for a pattern those of them that wait somewhere. */
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
  return `stride (kind, type) as (
      select kind, ${next('kinds.kind', `>= $${prefix}::text`)} from ${kindList}
      union all
      select kind, ${next('stride.kind', '> stride.type')} from stride where starts_with(type, $${prefix}::text)
    ), named as (select kind, type from stride where type ~ $${regex}::text)`;
}

/** Null: they are a pattern. */
function exactNames(names: LaneRequest['names']): readonly string[] | null {
  if ('exact' in names) return names.exact;
  const glob = parseGlob(names.glob);
  return isLiteral(glob) ? [literalPrefix(glob)] : null;
}

/** Whether a look at the gates is worth its while; for a pattern all types are taken for its own. */
const anyAtGatesSql = (schema: string, { names }: LaneRequest): string =>
  exactNames(names)
    ? `exists (select 1 from named cross join lateral (select 1 from ${schema}.job
        where ${isAtGate} and job.kind = named.kind and job.type = named.type limit 1) waiting)`
    : `(select true from ${schema}.job where ${isAtGate} order by kind, type, gate limit 1) is true`;
