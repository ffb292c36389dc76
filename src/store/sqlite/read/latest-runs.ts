/** The latest runs of definitions, by one seek per definition. Implements `latestEnds` and `startedRuns` of `port/reading.ts`. */
import type { Fate } from '../../../model/state.ts';
import { openMax, startedMax, type LatestEnd } from '../../store.ts';
import type { Connection } from '../connection.ts';

/** Index `ended_def_end` has all columns that are read. */
const endsSql = `SELECT wanted.value,
    (SELECT json_array(id, fate, ended_at) FROM ended INDEXED BY ended_def_end
      WHERE ended.def = wanted.value AND ended.def IS NOT NULL AND kind = 'run'
      ORDER BY ended_at DESC, id DESC LIMIT 1)
  FROM json_each(?) wanted`;

export function latestEnds(connection: Connection, defs: readonly string[]): Map<string, LatestEnd> {
  const found = new Map<string, LatestEnd>();
  for (const [def, end] of connection.arrays(endsSql, JSON.stringify(defs)) as [string, string | null][]) {
    if (end === null) continue;
    const [id, fate, endedAt] = JSON.parse(end) as [number, Fate, number];
    found.set(def, { id, fate, endedAt });
  }
  return found;
}

const startedSql = `SELECT wanted.value,
    (SELECT json_group_array(id) FROM (
      SELECT id FROM (
        SELECT id, fence, cancel_asked FROM job INDEXED BY job_def
        WHERE job.def = wanted.value AND job.def IS NOT NULL AND kind = 'run' ORDER BY id LIMIT ${openMax})
      WHERE fence > 0 OR cancel_asked = 1 ORDER BY id DESC LIMIT ${startedMax}))
  FROM json_each(?) wanted`;

export function startedRuns(connection: Connection, defs: readonly string[]): Map<string, readonly number[]> {
  const rows = connection.arrays(startedSql, JSON.stringify(defs)) as [string, string][];
  return new Map(rows.filter(([, ids]) => ids !== '[]').map(([def, ids]) => [def, JSON.parse(ids) as number[]]));
}
