/**
 * Chooses the index that yields matching ids in order. The index is searched once per value of its leading columns (for
 * example once per type, or per fate and type), and the ids from all searches are merged. Each value is compared by
 * `>=` and `<=`, and its column is in the ORDER BY, so that the planner can use only the chosen index. If it could use
 * the primary key, it might read a million other jobs first, because it assumes that matches are spread evenly over all
 * ids.
 */
import { literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { endedStandings, isForDefinitions, excludesSucceeded, includesTasks, type Query } from '../../query.ts';
import { textArray } from '../sql/row-parameters.ts';

export type Table = 'job' | 'ended';

/** Where jobs are found: in their tables, or in claims (claimed.ts). */
export type JobSource = Table | 'claim';

export interface IndexChoice {
  /**
   * The CTE `entry`: each row has the values for one search of the index. The statement that contains this CTE must
   * begin with `with recursive`.
   */
  readonly entries: string;
  /** The conditions under which a job matches a row of `entry`. */
  readonly terms: readonly string[];
  /** The column that precedes `id` in the ORDER BY of each search. */
  readonly column: string;
  /** The filters of the query that `entries` and `terms` do not cover; they go into the WHERE clause. */
  readonly remainder: Query;
}

/** Returns the choice, and appends its parameters to `values`; null: no index fits, scan by id. */
export function chooseIndex(schema: string, table: Table, query: Query, values: unknown[]): IndexChoice | null {
  if (typeof query.parent === 'number') return byParent(query, values);
  if (table === 'job') return isForDefinitions(query) ? byDefinition(query) : null;
  // Fates come before definition and type, because the jobs that did not succeed are few, compared with all jobs of a
  // definition or type.
  if (excludesSucceededAndTasks(query)) return byFateAndType(schema, query, values);
  if (excludesSucceeded(query)) return byFate(query, values);
  if (query.def !== undefined) return byDef(query, values);
  return isTyped(query) && !includesTasks(query) ? byType(schema, query, values) : null;
}

export const excludesSucceededAndTasks = (query: Query): boolean => excludesSucceeded(query) && !includesTasks(query);

const isTyped = ({ types, glob }: Query): boolean => types !== undefined || glob !== undefined;

function byParent({ parent, ...remainder }: Query, values: unknown[]): IndexChoice {
  const entries = `entry as (select $${values.push(parent)}::bigint as parent)`;
  return { entries, terms: rangeTerms('parent'), column: 'parent', remainder };
}

function byDefinition({ kinds: _kinds, ...remainder }: Query): IndexChoice {
  const terms = [`kind = 'def'`, ...rangeTerms('kind')];
  return { entries: `entry as (select 'def' as kind)`, terms, column: 'kind', remainder };
}

function byDef({ def, ...remainder }: Query, values: unknown[]): IndexChoice {
  const entries = `entry as (select $${values.push(def)}::text as def)`;
  return { entries, terms: rangeTerms('def'), column: 'def', remainder };
}

function byFate({ standings, ...remainder }: Query, values: unknown[]): IndexChoice {
  const entries = `entry as (select fate from ${fatesSql(standings!, values)})`;
  return { entries, terms: [`fate <> 'succeeded'`, ...rangeTerms('fate')], column: 'fate', remainder };
}

function byType(schema: string, query: Query, values: unknown[]): IndexChoice {
  const { types, glob, ...remainder } = query;
  const isTop = `kind <> 'task'`;
  if (types) {
    const entries = `entry as (select type from ${typesSql(types, values)})`;
    const terms = [isTop, ...rangeTerms('type')];
    return { entries, terms, column: 'type', remainder: { ...remainder, ...(glob ? { glob } : {}) } };
  }
  const { from, continues, isMatch } = patternOf(glob!, values);
  const next = (further: string): string =>
    `(select type from ${schema}.ended where ${isTop} and ended.type ${further} order by type limit 1)`;
  const entries = `step (type) as (
      select ${next(`>= ${from}`)} union all select ${next('> step.type')} from step where ${continues}
    ), entry as (select type from step where ${isMatch})`;
  return { entries, terms: [isTop, ...rangeTerms('type')], column: 'type', remainder };
}

/**
 * Chooses the index by fate and type. If the query names no types, the index is searched once for every fate and type
 * that it contains. The index by fate would be slower: unlike this one, it also contains failed tasks, maybe a million
 * per run.
 */
function byFateAndType(schema: string, query: Query, values: unknown[]): IndexChoice {
  const { standings, types, glob, ...remainder } = query;
  const fates = fatesSql(standings!, values);
  const isTop = `kind <> 'task' and fate <> 'succeeded'`;
  const choice = { terms: [isTop, 'fate = entry.fate', ...rangeTerms('type')], column: 'type' };
  if (types) {
    const entries = `entry as (select fate, type from ${fates}, ${typesSql(types, values)})`;
    return { ...choice, entries, remainder: { ...remainder, ...(glob ? { glob } : {}) } };
  }
  const { from, continues, isMatch } = patternOf(glob ?? '*', values);
  const next = (fate: string, further: string): string => `(select type from ${schema}.ended
      where ${isTop} and ended.fate >= ${fate} and ended.fate <= ${fate} and ended.type ${further}
      order by ended.fate, type limit 1)`;
  const entries = `step (fate, type) as (
      select fate, ${next('fates.fate', `>= ${from}`)} from ${fates}
      union all select fate, ${next('step.fate', '> step.type')} from step where ${continues}
    ), entry as (select fate, type from step where ${isMatch})`;
  return { ...choice, entries, remainder };
}

const rangeTerms = (column: string): string[] => [`${column} >= entry.${column}`, `${column} <= entry.${column}`];

function fatesSql(standings: NonNullable<Query['standings']>, values: unknown[]): string {
  const fates = endedStandings.filter((fate) => standings.includes(fate));
  return `unnest($${values.push(textArray(fates))}::text[]) as fates (fate)`;
}

const typesSql = (types: readonly string[], values: unknown[]): string =>
  `unnest($${values.push(textArray([...new Set(types)]))}::text[]) as types (type)`;

/** Returns conditions that find the types of a pattern: where to start, whether to continue, and which types match. */
function patternOf(pattern: string, values: unknown[]): { from: string; continues: string; isMatch: string } {
  const glob = parseGlob(pattern);
  const from = `$${values.push(literalPrefix(glob))}::text`;
  const isMatch = `type ~ $${values.push(toPostgresRegex(glob))}::text`;
  return { from, continues: `starts_with(type, ${from})`, isMatch };
}
