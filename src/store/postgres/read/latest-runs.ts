/**
 * The latest runs of definitions, by one seek per definition. Implements `latestEnds` and `startedRuns` of `port/reading.ts`.
 * Must be executed in a transaction of the store, whose settings make the planner read the runs of a definition in order,
 * whatever the statistics. The definition is in the ORDER BY and is not compared by `=`, so that the planner can use only
 * the index that begins with it (index-choice.ts).
 */
import type { Fate } from '../../../model/state.ts';
import { openMax, startedMax, type LatestEnd } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { textArray } from '../sql/row-parameters.ts';
import { claimedSql } from './claimed.ts';

type End = readonly [def: string, id: number, fate: Fate, endedAt: number];

/**
 * Index `ended_def_end` has all columns that are read. The last entry up to each definition is read, which may be that of
 * another one. With a lower bound, the server would compare it with all entries of the page: three times as long. The answer
 * is one JSON text: the driver would take six times as long to read as many rows.
 */
export async function latestEnds(session: Session, defs: readonly string[]): Promise<Map<string, LatestEnd>> {
  const text = `select json_agg(json_build_array(wanted.def, latest.id, latest.fate, latest.ended_at))::text as ends
    from unnest($1::text[]) as wanted (def)
    cross join lateral (
      select def, id, fate, ended_at from ${session.schema}.ended
      where kind = 'run' and ended.def is not null and ended.def <= wanted.def
      order by ended.def desc, ended_at desc, id desc limit 1) latest
    where latest.def = wanted.def`;
  const [row] = await session.run<{ ends: string | null }>(text, [textArray(defs)]);
  const ends = JSON.parse(row?.ends ?? '[]') as readonly End[];
  return new Map(ends.map(([def, id, fate, endedAt]) => [def, { id, fate, endedAt }]));
}

interface StartedRow {
  readonly def: string;
  /** Ids as JSON text. */
  readonly ids: string;
}

/**
 * Reads the rows of `job`, and all jobs that run in claims. The condition `is true` makes the planner search the definition
 * of each of these in a hash table of the names.
 */
export async function startedRuns(session: Session, defs: readonly string[]): Promise<Map<string, readonly number[]>> {
  const { schema } = session;
  const text = `select wanted.def, json_agg(started.id)::text as ids from unnest($1::text[]) as wanted (def)
    cross join lateral (
      select id from (
        select id, fence, cancel_asked from ${schema}.job
        where kind = 'run' and job.def is not null and job.def >= wanted.def and job.def <= wanted.def
        order by job.def, id limit ${openMax}) open
      where fence > 0 or cancel_asked = 1 order by id desc limit ${startedMax}) started
    group by wanted.def
    union all
    select claimed.def, json_agg(claimed.id)::text from (${claimedSql(schema)}) claimed
    where claimed.kind = 'run' and (claimed.def in (select unnest($1::text[]))) is true
    group by claimed.def`;
  const rows = await session.run<StartedRow>(text, [textArray([...new Set(defs)])]);
  const found = new Map<string, readonly number[]>();
  for (const { def, ids } of rows) found.set(def, newest([...(found.get(def) ?? []), ...(JSON.parse(ids) as number[])]));
  return found;
}

const newest = (ids: number[]): number[] => ids.sort((a, b) => b - a).slice(0, startedMax);
