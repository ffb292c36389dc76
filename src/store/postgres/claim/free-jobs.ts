/**
 * Locks due jobs that have no gate or have been admitted, from the scan cursors on or from the beginning of the lanes.
 * See claim.ts.
 */
import type { ClaimRequest } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { hasSpreadsSql } from '../read/pauses.ts';
import { afterCursor, anyAtGatesSql, cursorLanesSql, isFree, lanesSql, lockAndRead, lockSql, tookMs } from './lanes.ts';
import { canScanInOrder, scanInOrder, growth, rowsPerType, typesFirst, type FreeJobs } from './scan-in-order.ts';
import { fromCursorOn, type LaneCursor, type ScanCursors, type ScanResult } from './scan-cursor.ts';

export const freeRows = (session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FreeJobs> =>
  fromCursorOn(cursors, request, {
    behind: (cursor) => scanFromCursor(session, request, cursor),
    all: () => scanAll(session, cursors, request),
  });

async function scanFromCursor(
  session: Session,
  request: ClaimRequest,
  cursor: readonly LaneCursor[],
): Promise<FreeJobs> {
  const { schema } = session;
  const values: unknown[] = [session.time.parameter(), request.limit];
  const tables = `${cursorLanesSql(schema, request, cursor, values)}, ${lockSql(schema, cursor.length, afterCursor)}`;
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
  const expectsGates = cursors.expectsGates(request);
  const found = await scan(session, request, { lanesFound, expectsGates, typesMax });
  if (found.isCut) return null;
  cursors.recordScan(request, found, scannedAt);
  // The CTE `near` found enough rows, but other claims have locked some of them: scan each lane until enough rows are
  // locked.
  const isShort = lanesFound > 1 && found.rows.length < request.limit && found.near >= request.limit;
  return isShort ? scan(session, request, { lanesFound: 1, expectsGates, typesMax }) : found;
}

interface ScanPlan {
  readonly lanesFound: number;
  /** Whether the claim searches at gates in any case, so that the scan need not look for jobs there. */
  readonly expectsGates: boolean;
  readonly typesMax?: number | undefined;
}

function scan(
  session: Session,
  request: ClaimRequest,
  { lanesFound, expectsGates, typesMax }: ScanPlan,
): Promise<FreeJobs & ScanResult & { readonly near: number; readonly isCut: boolean }> {
  const { schema } = session;
  const values: unknown[] = [session.time.parameter(), request.limit];
  const tables = `${lanesSql(schema, request, isFree, values, { typesMax })}, ${lockSql(schema, lanesFound, '')}`;
  const summary = `'lanes', (select coalesce(json_agg(json_build_array(kind, type, type_version, priority)), '[]') from lane),
    'near', (select count(*) from near), 'hasJobsAtGates', ${expectsGates ? 'true' : anyAtGatesSql(schema, request, values)},
    'isCut', exists (select 1 from types_cut),
    'hasPauses', exists (select 1 from paused), 'hasSpreads', ${hasSpreadsSql}, 'tookMs', ${tookMs}`;
  return lockAndRead(session, tables, summary, values);
}
