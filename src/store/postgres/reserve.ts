/** Reserves ids: a counter in a row, so that a dump, a restored copy or a standby never gives one twice. */
import type { Session } from './connection.ts';

export async function reserve(session: Session, amount: number): Promise<number> {
  const text = `update ${session.schema}.counter set value = value + $1 where name = 'id' returning value`;
  const [row] = await session.run<{ value: number }>(text, [amount]);
  return row!.value - amount + 1;
}
