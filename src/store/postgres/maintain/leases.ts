/**
 * Extends leases; finds the jobs whose lease has lapsed, and the jobs that are held under an instance's lease.
 * Implements `extend` of `port/claiming.ts`, and `lapsed` and `heldUnderLeaseOf` of `port/maintenance.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { namesOf, openColumns } from '../../job-columns.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { Holding } from '../../store.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';

const openNames = namesOf(openColumns).join(', ');

/**
 * Extends leases; returns for each whether it was extended. The clock is read after the rows are locked, and `lapsed`
 * skips locked rows. So a lease that was found lapsed can no longer be extended, and a lease that is being extended is
 * not found lapsed.
 */
export async function extend(session: Session, holdings: readonly Holding[], until: number): Promise<boolean[]> {
  if (holdings.length === 0) return [];
  const { schema, time } = session;
  // A row may change while this statement waits for the lock of the row. So `fence` and `state` are checked after the
  // row is locked, and the UPDATE checks `lease_until` in the newest version of the row.
  const text = `with held as materialized (
      select locked.id from unnest($2::bigint[], $3::bigint[]) as held (id, fence) cross join lateral (
        select id, fence, state from ${schema}.job where job.id = held.id limit 1 for update) locked
      where locked.fence = held.fence and locked.state = 'running'
    ), clock as materialized (select ${nowSql} as now from (select count(*) from held) locked), extended as (
      update ${schema}.job set lease_until = greatest(lease_until, $4) from clock
      where job.id = any(array(select id from held)) and lease_until > clock.now
      returning job.id, job.fence
    ) select id, fence from extended`;
  const sorted = holdings.toSorted((a, b) => a.id - b.id);
  const [ids, fences] = [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence)];
  const rows = await session.run<Holding>(text, [time.parameter(), numberArray(ids), numberArray(fences), until]);
  const extended = new Set(rows.map(({ id, fence }) => `${id}/${fence}`));
  return holdings.map(({ id, fence }) => extended.has(`${id}/${fence}`));
}

export async function lapsed(session: Session, limit: number): Promise<Job[]> {
  const { schema, time } = session;
  const text = `select * from (
      select * from (
        select ${openNames} from ${schema}.job where state = 'running' and lease_until <= ${nowSql}
        order by lease_until limit $2 for share skip locked) late
      union all
      select ${openNames} from ${schema}.job where state = 'running' and lease_until is null
        and holder in (select id from ${schema}.instance where lease_until <= ${nowSql})
    ) over order by id limit $2`;
  return (await session.run<OpenRow>(text, [time.parameter(), limit])).map(jobOfOpen);
}

export async function heldUnderLeaseOf(session: Session, instance: string, limit: number): Promise<Job[]> {
  const text = `select ${openNames} from ${session.schema}.job
    where state = 'running' and holder = $1 and lease_until is null order by id limit $2`;
  return (await session.run<OpenRow>(text, [instance, limit])).map(jobOfOpen);
}
