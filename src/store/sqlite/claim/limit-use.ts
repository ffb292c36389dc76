/** Reads the use of a named limit by key. Implements `limitUse` of `port/limits.ts`. */
import { admittedPerKey, limitInUse, mostUsedKeys, noKey, rateRowsMax, type RateRow } from '../../limit-use.ts';
import type { LimitInUseNow, LimitStates } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { admittedPerGate } from './gates.ts';
import { rowOf, valuesOf } from './limits.ts';

export function limitUse(
  connection: Connection,
  name: string,
  which: Parameters<LimitStates['limitUse']>[1],
  now: number,
): LimitInUseNow[] {
  const admitted = admittedPerKey(name, admittedPerGate(connection));
  const keys = 'keys' in which
    ? which.keys.map((key) => key ?? noKey)
    : mostUsedKeys(admitted, startedKeys(connection, name), which.count);
  const rows = [...new Set([...keys, noKey])].flatMap((key) => rowOf(connection, name, key) ?? []);
  return limitInUse({ values: valuesOf(connection, name), admitted, rows, now }, keys);
}

const startedKeys = (connection: Connection, name: string): Pick<RateRow, 'key' | 'tat'>[] =>
  connection.all(`SELECT key, tat FROM rate WHERE name = ? LIMIT ${rateRowsMax}`, name);
