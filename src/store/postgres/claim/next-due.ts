/** Finds when the next job becomes due, in a lane or at a gate. Implements `nextDue` of `port/claiming.ts`. */
import { parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { isPausable } from '../../../model/pause.ts';
import type { Session } from '../sql/database.ts';
import { textArray } from '../sql/row-parameters.ts';
import { endOfPausesSql } from '../read/pauses.ts';
import { exactNames, inLane, isAtGate, isFree, lanesSql, type LaneRequest } from './lanes.ts';
import { nowSql } from '../sql/server-clock.ts';
import { canScanInOrder, nextDueInOrder, typesFirst } from './scan-in-order.ts';

/**
 * Returns the first due time after `after` (default: now), or an earlier time at which to ask again; null: no job is
 * due later.
 */
export async function nextDue(session: Session, request: LaneRequest, after?: number): Promise<number | null> {
  if (request.kinds.length === 0) return null;
  const start = after ?? session.time.parameter();
  const values: unknown[] = [start];
  const firstIn = (waits: string, typesMax?: number): string => `with recursive
    ${lanesSql(session.schema, request, waits, values, { typesMax })}
    select json_build_array(exists (select 1 from types_cut), (
      select min(due) from lane cross join lateral (
        select due from ${session.schema}.job where ${waits} and ${inLane} and due > ${nowSql}
        order by due limit 1) job))`;
  const free = firstIn(isFree, canScanInOrder(request) ? typesFirst : undefined);
  const text = `select (${free}) as free, (${firstIn(isAtGate)}) as gated,
    ${endOfPausesSql(session.schema, isNamedSql(request, values))} as "pauseEnd"`;
  const [row] = await session.run<DueTimes>(text, values);
  const pauseEnd = request.kinds.some(isPausable) ? row!.pauseEnd : null;
  const dues = [pauseEnd, row!.gated[1], row!.free[0] ? await nextDueInOrder(session, request, start) : row!.free[1]];
  return dues.reduce((first, due) => (first === null || due === null ? (first ?? due) : Math.min(first, due)));
}

interface DueTimes {
  readonly free: DueTime;
  readonly gated: DueTime;
  readonly pauseEnd: number | null;
}

type DueTime = readonly [isCut: boolean, due: number | null];

/** A condition: the request names the type of a pause. */
function isNamedSql({ names }: LaneRequest, values: unknown[]): string {
  const exact = exactNames(names);
  if (exact) return `pause.type = any($${values.push(textArray(exact))}::text[])`;
  return `pause.type ~ $${values.push(toPostgresRegex(parseGlob((names as { glob: string }).glob)))}::text`;
}
