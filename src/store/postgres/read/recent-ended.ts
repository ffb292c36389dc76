/**
 * Since: no index tells when a job was created, but whoever was created since a time has also ended since then, which two
 * indexes tell. Where few have, those are all looked at; where many have, those that are meant are soon found by their ids.
 */
import type { Query } from '../../query.ts';
import type { Session } from '../sql/connection.ts';

/** As the partial indexes say it, to the letter: every ended job but tasks is in one of them. */
export const endedHalves: readonly string[] = [
  'parent is null and purge_at is null',
  `kind <> 'task' and (parent is not null or purge_at is not null)`,
];

const few = 2000;

/** The time, if few have ended since. */
export async function fewSince(session: Session, { createdFrom, kinds, parent }: Query): Promise<number | undefined> {
  if (createdFrom === undefined || typeof parent === 'number' || (kinds?.includes('task') ?? true)) return undefined;
  const halves = endedHalves.map((half) => `(select 1 from ${session.schema}.ended
    where ${half} and ended_at >= $1 order by ended_at desc limit ${few + 1})`);
  const text = `select count(*) as count from (${halves.join(' union all ')}) since`;
  const [row] = await session.ask<{ count: number }>(text, [createdFrom]);
  return row!.count <= few ? createdFrom : undefined;
}
