/** Forgets what belongs to jobs beside their rows, and their ended children with all that is theirs. */
import { numberArray } from './columns.ts';
import type { Session } from './connection.ts';

export async function forget(session: Session, ids: readonly number[]): Promise<void> {
  for (let gone = ids; gone.length > 0; ) {
    const list = [numberArray(gone)];
    const remove = (table: string): Promise<object[]> =>
      session.run(`delete from ${session.schema}.${table} where job = any($1::bigint[])`, list);
    const children = `delete from ${session.schema}.ended where parent = any($1::bigint[]) returning id`;
    const [found] = await Promise.all([
      session.run<{ id: number }>(children, list),
      remove('chunk'),
      remove('progress'),
      remove('log'),
    ]);
    gone = found.map(({ id }) => Number(id));
  }
}
