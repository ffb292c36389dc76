/**
 * Finds due jobs that need no admission, by exact types or by a pattern. There are two ways to search by a pattern. One
 * walks the types that the pattern may match, which is slow if there are many types. The other scans the due jobs of
 * all types in claim order, which is slow if many jobs of other types are due. The search alternates between both ways
 * with rising budgets, so that it costs about as much as the faster one.
 */
import type { Kind } from '../../../model/state.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';
import { fewNamedTypes, lanesOf, namedTypes, rowsOfTypes } from './lanes.ts';
import { pausedTypes } from '../read/pauses.ts';

/**
 * `typesFirst`: how many types the first round may walk. `rowsPerType`: how many rows a round may scan for each type
 * that it may walk. Scanning 16 rows takes about as long as walking one type. `growth`: the factor by which both
 * budgets rise each round.
 */
const typesFirst = 64;
const rowsPerType = 16;
const growth = 8;

/** The kinds of jobs that the index `job_order` contains. Jobs of other kinds are claimed by exact types. */
const orderedKinds: readonly Kind[] = ['bedrock', 'mock', 'def'];
const isOrdered = `(kind = 'bedrock' OR kind = 'mock' OR kind = 'def')`;

/** Returns the first due jobs that have no gate or have already been admitted. */
export function freeRows(connection: Connection, request: ClaimRequest, now: number): OpenRow[] {
  if (!canScan(request)) return rowsOfTypes(connection, namedTypes(connection, 1, request, now), request, now);
  for (let budget = typesFirst; ; budget *= growth) {
    const types = fewNamedTypes(connection, 1, request, now, budget);
    if (types) return rowsOfTypes(connection, types, request, now);
    const rows = scanInOrder(connection, request, now, budget * rowsPerType);
    if (rows) return rows;
  }
}

/**
 * Returns for each lane the due time of its first job that is due after `after`. If a pattern may match many types, the
 * returned times may be too early; the caller should ask again at these times.
 */
export function nextFreeDue(
  connection: Connection,
  request: Pick<ClaimRequest, 'kinds' | 'names'>,
  after: number,
): number[] {
  const types = fewNamedTypes(connection, 1, request, after, canScan(request) ? typesFirst : Infinity);
  if (types === null) {
    return orderedLanes(connection, request, after).flatMap((lane) => nextInOrder(connection, lane, after) ?? []);
  }
  const sql = `SELECT due FROM job WHERE lane = 1 AND kind = ? AND type = ? AND type_version = ? AND priority = ? AND due > ?
    ORDER BY due LIMIT 1`;
  return lanesOf(connection, 1, types, {}).flatMap(({ kind, type, typeVersion, priority }) =>
    connection.get<{ due: number }>(sql, kind, type, typeVersion, priority, after)?.due ?? []);
}

const canScan = ({ kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>): boolean =>
  'glob' in names && kinds.every((kind) => orderedKinds.includes(kind));

/**
 * A kind and a priority, which select one range of the index `job_order`, the pattern `glob` of the request, and the
 * paused types as a JSON list.
 */
interface OrderedLane {
  readonly kind: Kind;
  readonly priority: number;
  readonly glob: string;
  readonly paused: string;
}

/** Returns a lane for each kind and priority of which there are jobs, highest priority first. */
function orderedLanes(
  connection: Connection,
  { kinds, names, priorities }: Pick<ClaimRequest, 'kinds' | 'names' | 'priorities'>,
  now: number,
): OrderedLane[] {
  const sql = `SELECT priority FROM job INDEXED BY job_order
    WHERE lane = 1 AND ${isOrdered} AND kind = ? AND priority < ? ORDER BY priority DESC LIMIT 1`;
  const found: OrderedLane[] = [];
  for (const kind of new Set(kinds)) {
    const paused = JSON.stringify([...pausedTypes(connection, [kind], now)]);
    const next = (below: number): number | undefined =>
      connection.get<{ priority: number }>(sql, kind, below)?.priority;
    for (let priority = next(Number.MAX_SAFE_INTEGER); priority !== undefined; priority = next(priority)) {
      found.push({ kind, priority, glob: (names as { glob: string }).glob, paused });
    }
  }
  return found.filter(({ priority }) => priorities?.includes(priority) ?? true).sort((a, b) => b.priority - a.priority);
}

/**
 * Scans the due jobs of all types in claim order. Returns the jobs that match the pattern; null: the budget of rows was
 * used up before enough jobs matched.
 */
function scanInOrder(connection: Connection, request: ClaimRequest, now: number, budget: number): OpenRow[] | null {
  const ids: number[] = [];
  let left = budget;
  for (const group of Map.groupBy(orderedLanes(connection, request, now), ({ priority }) => priority).values()) {
    for (const lane of group) {
      const matching = matchesInLane(connection, lane, now, left, request.limit);
      ids.push(...matching);
      if (matching.length < request.limit) left -= dueInLane(connection, lane, now, left);
      if (left <= 0) return null;
    }
    if (ids.length >= request.limit) break;
  }
  return openRows(connection, 'WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
}

const inOrder = `SELECT id, due, type FROM job INDEXED BY job_order
  WHERE lane = 1 AND ${isOrdered} AND kind = ? AND priority = ?`;

const isMatch = 'type GLOB ? AND type NOT IN (SELECT value FROM json_each(?))';

function matchesInLane(
  connection: Connection,
  { kind, priority, glob, paused }: OrderedLane,
  now: number,
  budget: number,
  limit: number,
): number[] {
  const sql = `SELECT id FROM (${inOrder} AND due <= ? ORDER BY due, id LIMIT ?) WHERE ${isMatch} LIMIT ?`;
  return connection.all<{ id: number }>(sql, kind, priority, now, budget, glob, paused, limit).map(({ id }) => id);
}

const dueInLane = (connection: Connection, { kind, priority }: OrderedLane, now: number, max: number): number =>
  connection.get<{ count: number }>(
    `SELECT count(*) count FROM (${inOrder} AND due <= ? LIMIT ?)`, kind, priority, now, max,
  )!.count;

/**
 * How many jobs per lane `nextInOrder` scans. If none matches, it returns the due time of the last job that was
 * scanned, at which the caller asks again.
 */
const nextScanMax = 1_000;

function nextInOrder(
  connection: Connection,
  { kind, priority, glob, paused }: OrderedLane,
  after: number,
): number | null {
  const later = `${inOrder} AND due > ? ORDER BY due, id`;
  const first = `SELECT due FROM (${later} LIMIT ${nextScanMax}) WHERE ${isMatch} LIMIT 1`;
  const matching = connection.get<{ due: number }>(first, kind, priority, after, glob, paused);
  const last = `${later} LIMIT 1 OFFSET ${nextScanMax - 1}`;
  return (matching ?? connection.get<{ due: number }>(last, kind, priority, after))?.due ?? null;
}
