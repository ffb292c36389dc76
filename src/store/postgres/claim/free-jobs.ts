/**
 * Locks due jobs that have no gate or have been admitted, from the scan cursors on or from the beginning of the lanes.
 * See claim.ts.
 */
import type { ClaimRequest } from '../../store.ts';
import { textArray, numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { hasSpreadsSql, isClaimableSql, pausedSql } from '../read/pauses.ts';
import { anyAtGatesSql, isFree, lanesSql, lockAndRead, lockSql } from './lanes.ts';
import { canScanInOrder, scanInOrder, growth, rowsPerType, typesFirst, type FreeJobs } from './scan-in-order.ts';
import type { LaneCursor, ScanCursors, ScanResult } from './scan-cursor.ts';

/**
 * Scans the lanes from their cursors. If there are no cursors, or this finds fewer jobs than requested and
 * `acceptsPartial` is false, `scanAll` makes a full scan.
 */
export async function freeRows(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> {
  const cursor = cursors.start(request);
  const resumed = cursor && (await scanFromCursor(session, request, cursor));
  const count = resumed?.rows.length ?? 0;
  const isEnough = resumed && (count === request.limit || cursors.acceptsPartial(request, count));
  const free = isEnough ? resumed : await scanAll(session, cursors, request);
  cursors.recordClaim(request, free.rows);
  return free;
}

async function scanFromCursor(
  session: Session,
  request: ClaimRequest,
  cursor: readonly LaneCursor[],
): Promise<FreeJobs> {
  const values: unknown[] = [session.time.parameter(), request.limit];
  const list = (value: string, type: string): string => `$${values.push(value)}::${type}[]`;
  const lanes = [
    list(textArray(cursor.map(({ kind }) => kind)), 'text'),
    list(textArray(cursor.map(({ type }) => type)), 'text'),
    list(numberArray(cursor.map(({ type_version }) => type_version)), 'bigint'),
    list(numberArray(cursor.map(({ priority }) => priority)), 'bigint'),
    list(numberArray(cursor.map(({ due }) => due)), 'bigint'),
    list(numberArray(cursor.map(({ id }) => id)), 'bigint'),
  ];
  const tables = `${pausedSql(session.schema)}, 
    lane as (select * from unnest(${lanes.join(', ')}) as lane (kind, type, type_version, priority, due, id)
      where ${isClaimableSql(request.kinds, 'lane')}),
    ${lockSql(session.schema, cursor.length, 'and (job.due, job.id) > (lane.due, lane.id)')}`;
  const summary = `'hasJobsAtGates', false, 'hasSpreads', ${hasSpreadsSql}`;
  return lockAndRead(session, tables, summary, values, { expected: request.limit });
}

async function scanAll(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> {
  if (!canScanInOrder(request)) return (await scanLanes(session, cursors, request))!;
  for (let types = typesFirst; ; types *= growth) {
    const found = await scanLanes(session, cursors, request, types);
    if (found) return found;
    cursors.forget(request);
    const { isComplete, ...ordered } = await scanInOrder(session, request, types * rowsPerType);
    if (isComplete) return ordered;
  }
}

/** Scans all lanes from their beginning; null: the pattern has more than `typesMax` types to walk through. */
async function scanLanes(
  session: Session,
  cursors: ScanCursors,
  request: ClaimRequest,
  typesMax?: number,
): Promise<FreeJobs | null> {
  const scannedAt = session.time.host.monotonic();
  const lanesFound = cursors.lanesFound(request);
  const found = await scan(session, request, lanesFound, typesMax);
  if (found.isCut) return null;
  cursors.recordScan(request, found, scannedAt);
  // The CTE `near` found enough rows, but other claims have locked some of them: scan each lane until enough rows are
  // locked.
  const isShort = lanesFound > 1 && found.rows.length < request.limit && found.near >= request.limit;
  return isShort ? scan(session, request, 1, typesMax) : found;
}

function scan(
  session: Session,
  request: ClaimRequest,
  lanesFound: number,
  typesMax?: number,
): Promise<FreeJobs & ScanResult & { readonly near: number; readonly isCut: boolean }> {
  const { schema } = session;
  const values: unknown[] = [session.time.parameter(), request.limit];
  const tables = `${lanesSql(schema, request, isFree, values, { typesMax })}, ${lockSql(schema, lanesFound, '')}`;
  const summary = `'lanes', (select coalesce(json_agg(json_build_array(kind, type, type_version, priority)), '[]') from lane),
    'near', (select count(*) from near), 'hasJobsAtGates', ${anyAtGatesSql(schema, request, values)},
    'isCut', exists (select 1 from types_cut),
    'hasPauses', exists (select 1 from paused), 'hasSpreads', ${hasSpreadsSql}, 'tookMs', ${tookMs}`;
  return lockAndRead(session, tables, summary, values);
}

/** The duration of a scan, measured by the server: a client would also measure the time until it reads the answer. */
const tookMs = 'extract(epoch from clock_timestamp() - statement_timestamp()) * 1000';
