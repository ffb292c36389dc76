/**
 * Finds the lanes of a request. A lane contains the jobs of one kind, type, version and priority, ordered by due time. It is
 * one range of an index, so the search of a lane reads neither jobs of other types and versions nor jobs that are due
 * later.
 */
import { isLiteral, literalPrefix, matches, parseGlob } from '../../../model/glob.ts';
import type { Kind } from '../../../model/state.ts';
import { firstTypeVersion, versionedTypes, type VersionedType } from '../../../model/type-version.ts';
import type { OpenRow } from '../../row.ts';
import type { Spreads } from '../../spreads.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';
import { isPausable } from '../../../model/pause.ts';
import { pausedTypes } from '../read/pauses.ts';

export interface NamedType extends VersionedType {
  readonly kind: Kind;
}

export interface Lane extends NamedType {
  readonly priority: number;
}

type LaneRequest = Pick<ClaimRequest, 'kinds' | 'names' | 'priorities'>;

/** Reads the first due jobs of each lane of these types, at most `request.limit` per lane. */
export function rowsOfTypes(
  connection: Connection,
  types: readonly NamedType[],
  request: ClaimRequest,
  now: number,
): OpenRow[] {
  const which = 'WHERE lane = 1 AND kind = ? AND type = ? AND type_version = ? AND priority = ? AND due <= ? ORDER BY due, id LIMIT ?';
  return lanesOf(connection, 1, types, request).flatMap(({ kind, type, typeVersion, priority }) =>
    openRows(connection, which, kind, type, typeVersion, priority, now, request.limit),
  );
}

export const lanes = (connection: Connection, lane: 1 | 2, request: LaneRequest, now: number): Lane[] =>
  lanesOf(connection, lane, namedTypes(connection, lane, request, now), request);

export const lanesOf = (
  connection: Connection,
  lane: 1 | 2,
  types: readonly NamedType[],
  { priorities }: Pick<ClaimRequest, 'priorities'>,
): Lane[] =>
  types.flatMap((named) =>
    prioritiesOf(connection, lane, named)
      .filter((priority) => priorities?.includes(priority) ?? true)
      .map((priority) => ({ ...named, priority })),
  );

/**
 * Returns the requested types that have jobs whose column `lane` has this value: 1 (no admission needed) or 2 (waiting
 * at a gate), each with all requested versions, of which some may have no jobs. Leaves out types that are paused at `now`,
 * and those of `typesInSpread`.
 */
export const namedTypes = (connection: Connection, lane: 1 | 2, request: LaneRequest, now: number): NamedType[] =>
  fewNamedTypes(connection, lane, request, now, Infinity)!;

/**
 * Returns the same types as `namedTypes`; null: the request has a pattern, and more than `max` types begin with its
 * literal prefix.
 */
export function fewNamedTypes(
  connection: Connection,
  lane: 1 | 2,
  request: LaneRequest,
  now: number,
  max: number,
): NamedType[] | null {
  const found = typesOfRequest(connection, lane, request, max);
  const paused = pausedTypes(connection, request.kinds, now);
  return paused.size === 0 || found === null
    ? found
    : found.filter(({ kind, type }) => !isPausable(kind) || !paused.has(type));
}

/** Returns the requested types whose resume is spread, as `namedTypes` returns the others. */
export function typesInSpread(
  connection: Connection,
  lane: 1 | 2,
  { kinds, names }: LaneRequest,
  spreads: Spreads,
): NamedType[] {
  const types = spreads.typesIn({ kinds, names });
  if (types.length === 0) return [];
  const versions = versionedTypes(types, 'exact' in names ? names.versions : []);
  return exactTypes(connection, lane, [...new Set(kinds)].filter(isPausable), versions);
}

function typesOfRequest(
  connection: Connection,
  lane: 1 | 2,
  request: LaneRequest,
  max: number,
): NamedType[] | null {
  const { names } = request;
  const kinds = [...new Set(request.kinds)];
  if ('exact' in names) return exactTypes(connection, lane, kinds, versionedTypes(names.exact, names.versions));
  const glob = parseGlob(names.glob);
  const start = literalPrefix(glob);
  if (isLiteral(glob)) return exactTypes(connection, lane, kinds, versionedTypes([start]));
  const found: NamedType[] = [];
  let walked = 0;
  for (const kind of kinds) {
    for (const type of typesFrom(connection, lane, kind, start)) {
      if (++walked > max) return null;
      if (matches(glob, type)) found.push({ kind, type, typeVersion: firstTypeVersion });
    }
  }
  return found;
}

/**
 * One statement for all kinds and types: a claim of an engine with many types would otherwise execute dozens. It searches
 * by names alone: reading the versions from JSON takes twice as long as the search (180 µs instead of 62 for 15 types).
 */
function exactTypes(
  connection: Connection,
  lane: 1 | 2,
  kinds: readonly Kind[],
  types: readonly VersionedType[],
): NamedType[] {
  const sql = `SELECT kinds.value, types.key FROM json_each(?) kinds CROSS JOIN json_each(?) types
    WHERE EXISTS (SELECT 1 FROM job WHERE lane = ${lane} AND kind = kinds.value AND type = types.value)`;
  const byName = [...Map.groupBy(types, ({ type }) => type)];
  const found = connection.arrays(sql, JSON.stringify(kinds), JSON.stringify(byName.map(([name]) => name)));
  return found.flatMap(([kind, index]) =>
    byName[index as number]![1].map((versioned) => ({ kind: kind as Kind, ...versioned })));
}

/** Yields the types that start with the prefix. Each is found by one index seek. */
function* typesFrom(connection: Connection, lane: 1 | 2, kind: Kind, prefix: string): Generator<string> {
  const sql = (sign: '>=' | '>'): string =>
    `SELECT type FROM job WHERE lane = ${lane} AND kind = ? AND type ${sign} ? ORDER BY type LIMIT 1`;
  let found = connection.get<{ type: string }>(sql('>='), kind, prefix);
  while (found?.type.startsWith(prefix)) {
    yield found.type;
    found = connection.get<{ type: string }>(sql('>'), kind, found.type);
  }
}

function prioritiesOf(connection: Connection, lane: 1 | 2, { kind, type, typeVersion }: NamedType): number[] {
  const index = lane === 1 ? 'job_lane' : 'job_gate_order';
  const sql = `SELECT priority FROM job INDEXED BY ${index}
    WHERE lane = ${lane} AND kind = ? AND type = ? AND type_version = ? AND priority < ?
    ORDER BY priority DESC LIMIT 1`;
  const next = (below: number): number | undefined =>
    connection.get<{ priority: number }>(sql, kind, type, typeVersion, below)?.priority;
  const priorities: number[] = [];
  for (let priority = next(Number.MAX_SAFE_INTEGER); priority !== undefined; priority = next(priority)) {
    priorities.push(priority);
  }
  return priorities;
}
