/**
 * Lanes: a kind, a type and a priority. Each lane is one range of the index, so other types and later jobs cost
 * nothing.
 */
import { isLiteral, literalPrefix, matches, parseGlob } from '../../../model/glob.ts';
import type { Kind } from '../../../model/state.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';

export interface NamedType {
  readonly kind: Kind;
  readonly type: string;
}

interface Lane extends NamedType {
  readonly priority: number;
}

export function freeRows(connection: Connection, request: ClaimRequest, now: number): OpenRow[] {
  const which = 'WHERE lane = 1 AND kind = ? AND type = ? AND priority = ? AND due <= ? ORDER BY due, id LIMIT ?';
  return lanes(connection, 1, request).flatMap(({ kind, type, priority }) =>
    openRows(connection, which, kind, type, priority, now, request.limit),
  );
}

export function lanes(
  connection: Connection,
  lane: 1 | 2,
  request: Pick<ClaimRequest, 'kinds' | 'names' | 'priorities'>,
): Lane[] {
  return namedTypes(connection, lane, request).flatMap(({ kind, type }) =>
    prioritiesOf(connection, kind, type)
      .filter((priority) => request.priorities?.includes(priority) ?? true)
      .map((priority) => ({ kind, type, priority })),
  );
}

/** The requested types with jobs in lane 1 (claimable) or 2 (at a gate). */
export function namedTypes(
  connection: Connection,
  lane: 1 | 2,
  request: Pick<ClaimRequest, 'kinds' | 'names'>,
): NamedType[] {
  const { names } = request;
  const kinds = [...new Set(request.kinds)];
  if ('exact' in names) {
    const exact = [...new Set(names.exact)];
    return kinds.flatMap((kind) =>
      exact.filter((type) => hasAny(connection, lane, kind, type)).map((type) => ({ kind, type })),
    );
  }
  const glob = parseGlob(names.glob);
  const start = literalPrefix(glob);
  if (isLiteral(glob)) return namedTypes(connection, lane, { kinds, names: { exact: [start] } });
  return kinds.flatMap((kind) =>
    typesFrom(connection, lane, kind, start)
      .filter((type) => matches(glob, type))
      .map((type) => ({ kind, type })),
  );
}

const hasAny = (connection: Connection, lane: 1 | 2, kind: Kind, type: string): boolean =>
  connection.get(`SELECT 1 FROM job WHERE lane = ${lane} AND kind = ? AND type = ? LIMIT 1`, kind, type) !== undefined;

/** The types that start with the prefix, each found by one seek into the index. */
function typesFrom(connection: Connection, lane: 1 | 2, kind: Kind, prefix: string): string[] {
  const sql = (sign: '>=' | '>'): string =>
    `SELECT type FROM job WHERE lane = ${lane} AND kind = ? AND type ${sign} ? ORDER BY type LIMIT 1`;
  const types: string[] = [];
  let found = connection.get<{ type: string }>(sql('>='), kind, prefix);
  while (found?.type.startsWith(prefix)) {
    types.push(found.type);
    found = connection.get<{ type: string }>(sql('>'), kind, found.type);
  }
  return types;
}

function prioritiesOf(connection: Connection, kind: Kind, type: string): number[] {
  const sql = 'SELECT priority FROM job WHERE lane = 1 AND kind = ? AND type = ? AND priority < ? ORDER BY priority DESC LIMIT 1';
  const priorities: number[] = [];
  let found = connection.get<{ priority: number }>(sql, kind, type, Number.MAX_SAFE_INTEGER);
  while (found) {
    priorities.push(found.priority);
    found = connection.get<{ priority: number }>(sql, kind, type, found.priority);
  }
  return priorities;
}
