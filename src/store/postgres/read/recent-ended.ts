/**
 * Finds recently ended jobs by their creation time. No index is ordered by `created`, but two indexes are ordered by
 * `ended_at`, and an ended job that was created after a time has also ended after that time. If few jobs have ended
 * since `createdFrom`, all of them are read. If many have, a scan by id soon finds matches.
 */
import type { Query } from '../../query.ts';
import type { Session } from '../sql/database.ts';

/**
 * The conditions of the two partial indexes on `ended_at`, verbatim. Every ended job except tasks is in one of them.
 */
export const endedPartitions: readonly string[] = [
  'parent is null and purge_at is null',
  `kind <> 'task' and (parent is not null or purge_at is not null)`,
];

const few = 2000;

/**
 * Returns `createdFrom` if at most `few` jobs have ended since then, so that all of them can be read; else undefined.
 * Also returns undefined for queries by parent, and for queries that may match tasks, which the indexes do not contain.
 */
export async function recentEndedSince(
  session: Session,
  { createdFrom, kinds, parent }: Query,
): Promise<number | undefined> {
  if (createdFrom === undefined || typeof parent === 'number' || (kinds?.includes('task') ?? true)) return undefined;
  const partitions = endedPartitions.map((partition) => `(select 1 from ${session.schema}.ended
    where ${partition} and ended_at >= $1 order by ended_at desc limit ${few + 1})`);
  const text = `select count(*) as count from (${partitions.join(' union all ')}) since`;
  const [row] = await session.runUnprepared<{ count: number }>(text, [createdFrom]);
  return row!.count <= few ? createdFrom : undefined;
}
