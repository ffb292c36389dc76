/** Named limits: reads how far they are used, and writes it. Implements the writes of `port/limits.ts`. */
import type { Change } from '../../../model/change.ts';
import { unlimited } from '../../../model/gate.ts';
import { intervalOf, noLimitValues, type LimitState, type LimitValues } from '../../../model/limit.ts';
import { limitContentOf, limitValuesOf } from '../../../model/limit-record.ts';
import { AskedLimits, limitStateOf, noKey, spentUses, type RateRow } from '../../limit-use.ts';
import { recordId } from '../../record-id.ts';
import type { Connection } from '../connection.ts';

/** Returns the named limits at `now`. The rows of a limit and key are read when they are asked for. */
export const limitsAt = (connection: Connection, now: number): AskedLimits =>
  new AskedLimits(now, (name, key) => stateOf(connection, name, key));

function stateOf(connection: Connection, name: string, key: string | null): LimitState {
  const values = valuesOf(connection, name);
  const all = rowOf(connection, name, noKey);
  const row = key === null ? all : rowOf(connection, name, key);
  return values === noLimitValues && !row && !all ? unlimited : limitStateOf(values, row, all);
}

/** Spends what the jobs that these changes start take of rates. */
export function spendStarts(
  connection: Connection,
  changes: readonly Change[],
  { outdated, now }: AskedLimits,
): void {
  for (const { name, key, cost } of spentUses(changes, outdated)) spendLimit(connection, name, key, cost, now);
}

export function spendLimit(connection: Connection, name: string, key: string | null, cost: number, now: number): void {
  const { rate } = valuesOf(connection, name);
  if (rate === null) return;
  const interval = intervalOf(rate);
  const sql = `INSERT INTO rate(name, key, tat, interval) VALUES(?1, ?2, ?3 + ?4 * ?5, ?5)
    ON CONFLICT DO UPDATE SET interval = ?5, tat = ?4 * ?5 + CASE WHEN tat <= ?3 THEN ?3 WHEN interval = ?5 THEN tat
      ELSE ?3 + (tat - ?3) / interval * ?5 END`;
  connection.run(sql, name, key ?? noKey, now, cost, interval);
}

export function closeLimit(connection: Connection, name: string, key: string | null, until: number): void {
  const sql = `INSERT INTO rate(name, key, tat, interval, closed_until) VALUES(?, ?, 0, 0, ?)
    ON CONFLICT DO UPDATE SET closed_until = max(coalesce(closed_until, 0), excluded.closed_until)`;
  connection.run(sql, name, key ?? noKey, until);
}

export function reopenLimit(connection: Connection, name: string, key: string | null): void {
  if (key === null) connection.run('DELETE FROM rate WHERE name = ?', name);
  else connection.run('DELETE FROM rate WHERE name = ? AND key = ?', name, key);
}

export function valuesOf(connection: Connection, name: string): LimitValues {
  const record = connection.get<{ input: string }>('SELECT input FROM job WHERE id = ?', recordId('limit', name));
  return record ? limitValuesOf(limitContentOf(record.input)) : noLimitValues;
}

export const rowOf = (connection: Connection, name: string, key: string): RateRow | undefined =>
  connection.get<RateRow>('SELECT name, key, tat, interval, closed_until FROM rate WHERE name = ? AND key = ?', name, key);
