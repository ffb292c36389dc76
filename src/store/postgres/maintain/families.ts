/**
 * Families: finds parents that are not open any more but have open children, and parents that wait although no child is
 * open.
 * Implements `orphaned` and `settleable` of `port/maintenance.ts`.
 */
import type { Job } from '../../../model/job.ts';
import { namesOf, openColumns } from '../../job-columns.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';

const openNames = namesOf(openColumns).join(', ');

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
    ) select parent from family left join lateral (
      select id as open from ${schema}.job where job.id = family.parent limit 1) found on true
    where open is null limit $1`;
  return (await session.run<{ parent: number }>(text, [limit])).map(({ parent }) => parent);
}

/**
 * Finds parents that wait for their children although no child is open. Open children are searched from the newest on:
 * old children usually end first and leave dead index entries.
 */
export async function settleable(session: Session, limit: number, parents?: readonly number[]): Promise<Job[]> {
  const { schema } = session;
  const given = parents ? 'and parent.id = any($2::bigint[])' : '';
  const text = `select ${openNames} from ${schema}.job parent left join lateral (
      select id as open from ${schema}.job child where child.parent = parent.id order by id desc limit 1) child on true
    where hold = 'children' and open is null ${given} order by id limit $1`;
  return (await session.run<OpenRow>(text, parents ? [limit, numberArray(parents)] : [limit])).map(jobOfOpen);
}
