/** Reads the use of a named limit by key. Implements `limitUse` of `port/limits.ts`. */
import { noLimitValues } from '../../../model/limit.ts';
import { admittedPerKey, limitInUse, mostUsedKeys, noKey, rateRowsMax, type RateRow } from '../../limit-use.ts';
import type { LimitInUseNow, LimitStates } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { admittedPerGate } from './gates.ts';
import { readLimits } from './limits.ts';

export async function limitUse(
  session: Session,
  name: string,
  which: Parameters<LimitStates['limitUse']>[1],
): Promise<LimitInUseNow[]> {
  const admitted = admittedPerKey(name, await admittedPerGate(session));
  const keys = 'keys' in which
    ? which.keys.map((key) => key ?? noKey)
    : mostUsedKeys(admitted, await startedKeys(session, name), which.count);
  const asked = [...new Set([...keys, noKey])].map((key) => ({ name, key: key === noKey ? null : key }));
  const { now, values, rows } = await readLimits(session, asked);
  return limitInUse({ values: values.get(name) ?? noLimitValues, admitted, rows, now }, keys);
}

const startedKeys = (session: Session, name: string): Promise<Pick<RateRow, 'key' | 'tat'>[]> =>
  session.run(`select key, tat from ${session.schema}.rate where name = $1 limit ${rateRowsMax}`, [name]);
