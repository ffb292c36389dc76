/**
 * Finds due jobs that need no admission and that spreads let through, and divides waiting jobs into the parts of a spread.
 * Implements `divideWaiting` of `port/claiming.ts`.
 */
import { isPausable, type PauseScope } from '../../../model/pause.ts';
import type { Position } from '../../../model/spread.ts';
import { kinds } from '../../../model/state.ts';
import type { OpenRow } from '../../row.ts';
import { gatePartOf } from '../../scope-gates.ts';
import type { Spreads } from '../../spreads.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';
import { dueWindows } from './due-windows.ts';
import { lanesOf, typesInSpread } from './lanes.ts';

/** Returns the first due jobs of each lane of the types whose resume is spread. */
export function spreadRows(connection: Connection, request: ClaimRequest, spreads: Spreads, now: number): OpenRow[] {
  return lanesOf(connection, 1, typesInSpread(connection, 1, request, spreads), request)
    .flatMap(({ kind, type, typeVersion, priority }) => dueWindows(spreads.ofType(type), now).flatMap(({ where, values }) =>
      openRows(
        connection,
        `WHERE lane = 1 AND kind = ? AND type = ? AND type_version = ? AND priority = ? AND ${where} ORDER BY due, id LIMIT ?`,
        kind, type, typeVersion, priority, ...values, request.limit,
      )));
}

export function divideWaiting(connection: Connection, scope: PauseScope, count: number, now: number): Position[] {
  const { where, values } = waitingIn(scope);
  const sql = `SELECT due, id FROM (
      SELECT due, id, row_number() OVER (ORDER BY due, id) n, count(*) OVER () total FROM (${where}) WHERE due <= ?
    ) WHERE n * CAST(? AS INTEGER) / total > (n - 1) * CAST(? AS INTEGER) / total ORDER BY n`;
  return connection.all<{ due: number; id: number }>(sql, ...values, now, count, count).map(({ due, id }) => ({ due, id }));
}

const pausableKinds = kinds.filter(isPausable).map((kind) => `'${kind}'`).join(', ');

function waitingIn(scope: PauseScope): { readonly where: string; readonly values: readonly string[] } {
  const select = (lane: 1 | 2, rest: string): string =>
    `SELECT due, id FROM job WHERE lane = ${lane} AND kind IN (${pausableKinds}) ${rest}`;
  if ('limit' in scope) return { where: select(2, 'AND instr(gate, ?) > 0'), values: [gatePartOf(scope)] };
  const { type, key } = scope;
  return key === null
    ? { where: `${select(1, 'AND type = ?')} UNION ALL ${select(2, 'AND type = ?')}`, values: [type, type] }
    : { where: select(2, 'AND type = ? AND instr(gate, ?) > 0'), values: [type, gatePartOf({ type, key })] };
}
