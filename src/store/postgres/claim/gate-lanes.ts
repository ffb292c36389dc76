/**
 * Reads the first due jobs of each lane that wait at gates, whether their gates have room or not: behind the scan cursors,
 * or from the beginning of the lanes. See gates.ts.
 */
import type { GatedType, WaitingJob } from '../../waiting-job.ts';
import type { ClaimRequest } from '../../store.ts';
import { gateLaneRows } from '../../gate-admission.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { nothingPausedSql } from '../read/pauses.ts';
import {
  afterCursor, cursorLanesSql, inLane, isAtGate, isStillAtGate, lanesSql, lockAndRead, lockSql, tookMs, type LockedJobs,
} from './lanes.ts';
import { fromCursorOn, type LaneCursor, type ScanCursors, type ScanResult } from './scan-cursor.ts';
import type { SpreadLanes } from './spread-jobs.ts';

/**
 * Switches sorts off for the statements that search, and on again. With statistics of a nearly empty table, the planner
 * would read and sort all waiting jobs instead of reading an index in its order, until the table is analysed again. It is
 * sent together with other statements, so that it costs no round trip.
 */
export const setSorts = (session: Session, value: 'on' | 'off'): Promise<object[]> =>
  session.run(`select set_config('enable_sort', '${value}', true)`);

export interface FirstLocked extends LockedJobs {
  /** When a search was sent that found no job of the request at a gate, due or not; null: it found some, or did not look for all. */
  readonly emptyAt: number | null;
}

/**
 * Locks the first due jobs that wait at gates, even if their gates are full. As for jobs without gates, the rows are
 * locked directly if the last scan of the request found one lane (see claim.ts, "Lanes").
 */
export const lockFirst = (session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FirstLocked> =>
  fromCursorOn(cursors, request, {
    behind: (cursor) => lockBehind(session, request, cursor),
    all: () => lockFromBeginning(session, cursors, request),
  });

async function lockBehind(session: Session, request: ClaimRequest, cursor: readonly LaneCursor[]): Promise<FirstLocked> {
  const { schema, time } = session;
  const values: unknown[] = [time.parameter(), request.limit];
  const lanes = cursorLanesSql(schema, request, cursor, values);
  const tables = `${lanes}, ${lockSql(schema, cursor.length, afterCursor, isAtGate, isStillAtGate)}`;
  return withoutSorts(session, () => lockAndRead(session, tables, `'emptyAt', null`, values, { expected: request.limit }));
}

async function lockFromBeginning(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<FirstLocked> {
  const { schema, time } = session;
  const values: unknown[] = [time.parameter(), request.limit];
  const scannedAt = time.host.monotonic();
  const lanes = lanesSql(schema, request, isAtGate, values);
  const tables = `${lanes}, ${lockSql(schema, cursors.lanesFound(request), '', isAtGate, isStillAtGate)}`;
  const summary = `'lanes', (select coalesce(json_agg(json_build_array(kind, type, type_version, priority)), '[]') from lane),
    'tookMs', ${tookMs}`;
  const locked = await withoutSorts(session, () =>
    lockAndRead<Pick<ScanResult, 'lanes' | 'tookMs'>>(session, tables, summary, values));
  cursors.recordScan(request, { ...locked, hasJobsAtGates: false, hasPauses: false }, scannedAt);
  return { ...locked, emptyAt: locked.lanes.length === 0 ? scannedAt : null };
}

async function withoutSorts<Found>(session: Session, execute: () => Promise<Found>): Promise<Found> {
  const [, found] = await Promise.all([setSorts(session, 'off'), execute(), setSorts(session, 'on')]);
  return found;
}

export type WaitingRow = WaitingJob & GatedType & LaneCursor;

/** Reads the first due jobs at gates of each lane behind the cursor, and does not lock them. */
export function waitingBehind(session: Session, request: ClaimRequest, cursor: readonly LaneCursor[]): Promise<WaitingRow[]> {
  const values: unknown[] = [session.time.parameter(), gateLaneRows(request.limit)];
  return waitingIn(session, cursorLanesSql(session.schema, request, cursor, values), afterCursor, values).then(jobsOf);
}

/** Reads the first due jobs at gates of each lane, and does not lock them. */
export async function firstWaiting(session: Session, cursors: ScanCursors, request: ClaimRequest): Promise<WaitingRow[]> {
  const values: unknown[] = [session.time.parameter(), gateLaneRows(request.limit)];
  const scannedAt = session.time.host.monotonic();
  const rows = await waitingIn(session, lanesSql(session.schema, request, isAtGate, values), '', values);
  const lanes = rows.map(({ kind, type, type_version: version, priority }) => [kind, type, version, priority] as const);
  cursors.recordScan(request, { lanes, tookMs: rows.at(-1)?.took_ms ?? 0, hasJobsAtGates: false, hasPauses: false }, scannedAt);
  return jobsOf(rows);
}

/** Reads the first due jobs at gates of a type whose resume is spread, in a range of positions. */
export function waitingInSpread(session: Session, { request, range }: SpreadLanes): Promise<WaitingRow[]> {
  const values: unknown[] = [session.time.parameter(), gateLaneRows(request.limit)];
  const lanes = lanesSql(session.schema, request, isAtGate, values, { paused: nothingPausedSql });
  return waitingIn(session, lanes, range(values), values).then(jobsOf);
}

interface LaneRow extends LaneCursor {
  readonly gate: string;
  readonly took_ms: number;
}

/** A lane without due jobs has one row, with a null id. */
function waitingIn(session: Session, lanes: string, beyond: string, values: unknown[]): Promise<(LaneRow | EmptyLane)[]> {
  const text = `with recursive ${lanes}
    select lane.kind, lane.type, lane.type_version, lane.priority, job.id, job.due, job.gate, ${tookMs} as took_ms
      from lane left join lateral (
        select id, due, gate from ${session.schema}.job where ${isAtGate} and ${inLane} ${beyond} and due <= ${nowSql}
        order by due, id limit $2::bigint) job on true`;
  return session.run(text, values);
}

type EmptyLane = Omit<LaneRow, 'id'> & { readonly id: null };

const jobsOf = (rows: readonly (LaneRow | EmptyLane)[]): WaitingRow[] =>
  rows.filter((row): row is LaneRow => row.id !== null).map((row) => ({ ...row, typeVersion: row.type_version }));
