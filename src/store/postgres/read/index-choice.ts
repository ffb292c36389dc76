/**
 * Chooses the index that yields matching ids in order. It is entered once per type, or per fate and type, and the
 * streams are merged. Entries are written as ranges, with their column in the ORDER BY, so that only that index fits:
 * the planner assumes that matches lie evenly among all ids, and would scan the primary key past a million others.
 */
import { literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { endedStandings, isForDefinitions, excludesSucceeded, includesTasks, type Query } from '../../query.ts';
import { nameArray } from '../sql/row-parameters.ts';

export type Table = 'job' | 'ended';

export interface IndexChoice {
  /** The table `place`, for a statement that begins `with recursive`. */
  readonly entries: string;
  /** The conditions on a job at such an entry. */
  readonly terms: readonly string[];
  /** The column by which the jobs of an entry are ordered, before their ids. */
  readonly column: string;
  /** The part of the query that the entry does not decide. */
  readonly remainder: Query;
}

/** Null: scan by id. Its parameters are added to `values`. */
export function chooseIndex(schema: string, table: Table, query: Query, values: unknown[]): IndexChoice | null {
  if (typeof query.parent === 'number') return byParent(query, values);
  if (table === 'job') return isForDefinitions(query) ? byDefinition(query) : null;
  // Those that did not succeed are few, next to all of a definition or type.
  if (excludesSucceededAndTasks(query)) return byFateAndType(schema, query, values);
  if (excludesSucceeded(query)) return byFate(query, values);
  if (query.def !== undefined) return byDef(query, values);
  return isTyped(query) && !includesTasks(query) ? byType(schema, query, values) : null;
}

export const excludesSucceededAndTasks = (query: Query): boolean => excludesSucceeded(query) && !includesTasks(query);

const isTyped = ({ types, glob }: Query): boolean => types !== undefined || glob !== undefined;

function byParent({ parent, ...remainder }: Query, values: unknown[]): IndexChoice {
  const entries = `place as (select $${values.push(parent)}::bigint as parent)`;
  return { entries, terms: rangeTerms('parent'), column: 'parent', remainder };
}

function byDefinition({ kinds: _kinds, ...remainder }: Query): IndexChoice {
  return { entries: `place as (select 'def' as kind)`, terms: [`kind = 'def'`, ...rangeTerms('kind')], column: 'kind', remainder };
}

function byDef({ def, ...remainder }: Query, values: unknown[]): IndexChoice {
  return { entries: `place as (select $${values.push(def)}::text as def)`, terms: rangeTerms('def'), column: 'def', remainder };
}

function byFate({ standings, ...remainder }: Query, values: unknown[]): IndexChoice {
  const entries = `place as (select fate from ${fatesSql(standings!, values)})`;
  return { entries, terms: [`fate <> 'succeeded'`, ...rangeTerms('fate')], column: 'fate', remainder };
}

function byType(schema: string, query: Query, values: unknown[]): IndexChoice {
  const { types, glob, ...remainder } = query;
  const isTop = `kind <> 'task'`;
  if (types) {
    const entries = `place as (select type from ${typesSql(types, values)})`;
    return { entries, terms: [isTop, ...rangeTerms('type')], column: 'type', remainder: { ...remainder, ...(glob
      ? { glob }
      : {}) } };
  }
  const { from, goesOn, isMatch } = patternOf(glob!, values);
  const next = (further: string): string =>
    `(select type from ${schema}.ended where ${isTop} and ended.type ${further} order by type limit 1)`;
  const entries = `step (type) as (
      select ${next(`>= ${from}`)} union all select ${next('> step.type')} from step where ${goesOn}
    ), place as (select type from step where ${isMatch})`;
  return { entries, terms: [isTop, ...rangeTerms('type')], column: 'type', remainder };
}

/** For all types too, if none are named: a run may have a million failed tasks, and these lists are of runs. */
function byFateAndType(schema: string, query: Query, values: unknown[]): IndexChoice {
  const { standings, types, glob, ...remainder } = query;
  const fates = fatesSql(standings!, values);
  const isTop = `kind <> 'task' and fate <> 'succeeded'`;
  const choice = { terms: [isTop, 'fate = place.fate', ...rangeTerms('type')], column: 'type' };
  if (types) {
    const entries = `place as (select fate, type from ${fates}, ${typesSql(types, values)})`;
    return { ...choice, entries, remainder: { ...remainder, ...(glob ? { glob } : {}) } };
  }
  const { from, goesOn, isMatch } = patternOf(glob ?? '*', values);
  const next = (fate: string, further: string): string => `(select type from ${schema}.ended
      where ${isTop} and ended.fate >= ${fate} and ended.fate <= ${fate} and ended.type ${further}
      order by ended.fate, type limit 1)`;
  const entries = `step (fate, type) as (
      select fate, ${next('fates.fate', `>= ${from}`)} from ${fates}
      union all select fate, ${next('step.fate', '> step.type')} from step where ${goesOn}
    ), place as (select fate, type from step where ${isMatch})`;
  return { ...choice, entries, remainder };
}

const rangeTerms = (column: string): string[] => [`${column} >= place.${column}`, `${column} <= place.${column}`];

function fatesSql(standings: NonNullable<Query['standings']>, values: unknown[]): string {
  const fates = endedStandings.filter((fate) => standings.includes(fate));
  return `unnest($${values.push(nameArray(fates))}::text[]) as fates (fate)`;
}

const typesSql = (types: readonly string[], values: unknown[]): string =>
  `unnest($${values.push(nameArray([...new Set(types)]))}::text[]) as types (type)`;

/** How the types of a pattern are stepped through: where to begin, whether to go on, which to take. */
function patternOf(pattern: string, values: unknown[]): { from: string; goesOn: string; isMatch: string } {
  const glob = parseGlob(pattern);
  const from = `$${values.push(literalPrefix(glob))}::text`;
  return { from, goesOn: `starts_with(type, ${from})`, isMatch: `type ~ $${values.push(toPostgresRegex(glob))}::text` };
}
