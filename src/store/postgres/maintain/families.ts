/**
 * Families: finds parents that are not open any more but have open children, and parents that wait although no child is
 * open.
 * Implements `orphaned` and `settleable` of `port/maintenance.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { namesOf, openColumns } from '../../job-columns.ts';
import type { OpenRow } from '../../row.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { claimedIdsSql } from '../read/claimed.ts';
import { joinOriginSql, jobOfRow, storedNamesSql } from '../read/open-rows.ts';

const openNames = storedNamesSql(namesOf(openColumns));

/**
 * Returns the ids of parents that have open children but are not open themselves. Each parent takes two index seeks,
 * however many children it has: one finds its id, the other looks up its row.
 */
export async function orphaned(session: Session, limit: number): Promise<number[]> {
  const { schema } = session;
  const text = `with recursive family(parent) as (
      (select parent from ${schema}.job where parent is not null order by parent limit 1)
      union all
      select next.parent from family cross join lateral (
        select parent from ${schema}.job where job.parent > family.parent order by parent limit 1) next
    ), every (parent) as (
      select parent from family
      union select parent from (${claimedIdsSql(schema, { where: 'claim.parents is not null', also: 'parent' })}) claimed
    ), missing as materialized (
      select parent from every left join lateral (
        select id as open from ${schema}.job where job.id = every.parent limit 1) found on true
      where open is null and parent is not null
    ) select parent from missing where (parent in (
      select id from (${claimedIdsSql(schema, { ids: '(select array_agg(parent order by parent) from missing)' })}) claimed)) is not true
    limit $1`;
  return (await session.run<{ parent: number }>(text, [limit])).map(({ parent }) => parent);
}

/**
 * Finds parents that wait for their children although no child is open. Open children are searched from the newest on:
 * old children usually end first and leave dead index entries.
 */
export async function settleable(session: Session, limit: number, parents?: readonly number[]): Promise<Job[]> {
  const { schema } = session;
  const isOfQuiet = 'claim.parents is not null and (listed.parent in (select id from quiet)) is true';
  const given = parents ? 'and parent.id = any($2::bigint[])' : '';
  const text = `with quiet as materialized (
      select parent.* from ${schema}.job parent left join lateral (
        select id as open from ${schema}.job child where child.parent = parent.id order by id desc limit 1) child on true
      where hold = 'children' and open is null ${given}
    ), busy as materialized (
      select parent from (${claimedIdsSql(schema, { where: isOfQuiet, also: 'parent' })}) claimed
    ) select ${openNames} from quiet job ${joinOriginSql(schema, 'job')}
    where (job.id in (select parent from busy)) is not true order by id limit $1`;
  const rows = await session.run<OpenRow>(text, parents ? [limit, numberArray(parents)] : [limit]);
  return rows.map((row) => jobOfRow(session, row));
}
