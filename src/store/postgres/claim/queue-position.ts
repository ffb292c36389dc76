/**
 * Counts the due jobs of the same kind and type that precede a job in claim order, up to `queuePositionMax`. Jobs at
 * full gates count as well. Implements `queuePosition` of `port/claiming.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { queuePositionMax } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { isAtGate, isFree } from './lanes.ts';
import { nowSql } from '../sql/server-clock.ts';

export async function queuePosition(session: Session, { id, kind, type, priority, due }: Job): Promise<number> {
  const aheadIn = (waits: string): string => `select 1 from ${session.schema}.job
    where ${waits} and kind = $2 and type = $3 and due <= ${nowSql}
      and (priority > $4::bigint or (priority = $4::bigint and (due, id) < ($5::bigint, $6::bigint)))`;
  const text = `select count(*) as count from (${aheadIn(isFree)} union all ${aheadIn(isAtGate)} limit ${queuePositionMax}) ahead`;
  const [row] = await session.run<{ count: number }>(text, [session.time.parameter(), kind, type, priority, due, id]);
  return row!.count;
}
