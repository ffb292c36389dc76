/**
 * Finds for each type the job that has been due longest and waits to be claimed. Implements `oldestDue` of
 * `port/claiming.ts`.
 */
import type { DueJob } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { inLane, isAtGate, isFree, lanesSql, type LaneRequest } from './lanes.ts';

export async function oldestDue(session: Session, request: LaneRequest): Promise<Map<string, DueJob>> {
  const { schema, time } = session;
  const values: unknown[] = [time.parameter()];
  const firstIn = (waits: string): string => `(with recursive ${lanesSql(schema, request, waits, values)}
    select lane.type, job.id, job.due from lane cross join lateral (
      select id, due from ${schema}.job where ${waits} and ${inLane} and due <= ${nowSql}
      order by due, id limit 1) job)`;
  const text = `select distinct on (type) type, id, due from (${firstIn(isFree)} union all ${firstIn(isAtGate)}) first
    order by type, due, id`;
  const rows = await session.run<DueJob & { readonly type: string }>(text, values);
  return new Map(rows.map(({ type, id, due }) => [type, { id, due }]));
}
