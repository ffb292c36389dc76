/** Locks rows by their ids. */
import { numberArray } from './columns.ts';
import type { Session } from './connection.ts';

/** In the order of their ids, waiting for whoever has them. */
export async function lockById(session: Session, table: 'job' | 'ended', ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const text = `select 1 from unnest($1::bigint[]) as wanted (id) cross join lateral (
    select 1 from ${session.schema}.${table} row where row.id = wanted.id for update) locked`;
  await session.run(text, [numberArray(ids.toSorted((a, b) => a - b))]);
}
