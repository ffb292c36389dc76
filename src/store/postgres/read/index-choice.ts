/**
 * Leads: which index has the ids of those that are meant in order. It is entered at one place for each type, or each
 * fate and type, and the best of all places are merged. Places are said as ranges, with the column in the order, so that
 * only that index will do: the planner thinks that those who are meant lie evenly among all, and would read all from one
 * end, past a million others, if they lie at the other.
 */
import { literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { endedStandings, isOfDefinitions, isUnlucky, isWithTasks, type Query } from '../../query.ts';
import { nameArray } from '../sql/row-parameters.ts';

export type Table = 'job' | 'ended';

export interface Lead {
  /** The table `place`, for a statement that begins `with recursive`. */
  readonly places: string;
  /** What is said of a job in such a place. */
  readonly terms: readonly string[];
  /** What the jobs of a place are ordered by, before their ids. */
  readonly column: string;
  /** What of the query is not said by the place. */
  readonly rest: Query;
}

/** Null: all are looked at by their ids. Its parameters are added to `values`. */
export function leadOf(schema: string, table: Table, query: Query, values: unknown[]): Lead | null {
  if (typeof query.parent === 'number') return byParent(query, values);
  if (table === 'job') return isOfDefinitions(query) ? byDefinition(query) : null;
  // Those that did not succeed are few, next to all of a definition or type.
  if (isOfUnluckyTops(query)) return byFateAndType(schema, query, values);
  if (isUnlucky(query)) return byFate(query, values);
  if (query.def !== undefined) return byDef(query, values);
  return isTyped(query) && !isWithTasks(query) ? byType(schema, query, values) : null;
}

export const isOfUnluckyTops = (query: Query): boolean => isUnlucky(query) && !isWithTasks(query);

const isTyped = ({ types, glob }: Query): boolean => types !== undefined || glob !== undefined;

function byParent({ parent, ...rest }: Query, values: unknown[]): Lead {
  const places = `place as (select $${values.push(parent)}::bigint as parent)`;
  return { places, terms: within('parent'), column: 'parent', rest };
}

function byDefinition({ kinds: _kinds, ...rest }: Query): Lead {
  return { places: `place as (select 'def' as kind)`, terms: [`kind = 'def'`, ...within('kind')], column: 'kind', rest };
}

function byDef({ def, ...rest }: Query, values: unknown[]): Lead {
  return { places: `place as (select $${values.push(def)}::text as def)`, terms: within('def'), column: 'def', rest };
}

function byFate({ standings, ...rest }: Query, values: unknown[]): Lead {
  const places = `place as (select fate from ${fatesText(standings!, values)})`;
  return { places, terms: [`fate <> 'succeeded'`, ...within('fate')], column: 'fate', rest };
}

function byType(schema: string, query: Query, values: unknown[]): Lead {
  const { types, glob, ...rest } = query;
  const isTop = `kind <> 'task'`;
  if (types) {
    const places = `place as (select type from ${typesText(types, values)})`;
    return { places, terms: [isTop, ...within('type')], column: 'type', rest: { ...rest, ...(glob ? { glob } : {}) } };
  }
  const { from, goesOn, isMeant } = patternOf(glob!, values);
  const next = (further: string): string =>
    `(select type from ${schema}.ended where ${isTop} and ended.type ${further} order by type limit 1)`;
  const places = `step (type) as (
      select ${next(`>= ${from}`)} union all select ${next('> step.type')} from step where ${goesOn}
    ), place as (select type from step where ${isMeant})`;
  return { places, terms: [isTop, ...within('type')], column: 'type', rest };
}

/** For all types too, if none are named: a run may have a million unlucky tasks, and these lists are of runs. */
function byFateAndType(schema: string, query: Query, values: unknown[]): Lead {
  const { standings, types, glob, ...rest } = query;
  const fates = fatesText(standings!, values);
  const isTop = `kind <> 'task' and fate <> 'succeeded'`;
  const lead = { terms: [isTop, 'fate = place.fate', ...within('type')], column: 'type' };
  if (types) {
    const places = `place as (select fate, type from ${fates}, ${typesText(types, values)})`;
    return { ...lead, places, rest: { ...rest, ...(glob ? { glob } : {}) } };
  }
  const { from, goesOn, isMeant } = patternOf(glob ?? '*', values);
  const next = (fate: string, further: string): string => `(select type from ${schema}.ended
      where ${isTop} and ended.fate >= ${fate} and ended.fate <= ${fate} and ended.type ${further}
      order by ended.fate, type limit 1)`;
  const places = `step (fate, type) as (
      select fate, ${next('fates.fate', `>= ${from}`)} from ${fates}
      union all select fate, ${next('step.fate', '> step.type')} from step where ${goesOn}
    ), place as (select fate, type from step where ${isMeant})`;
  return { ...lead, places, rest };
}

const within = (column: string): string[] => [`${column} >= place.${column}`, `${column} <= place.${column}`];

function fatesText(standings: NonNullable<Query['standings']>, values: unknown[]): string {
  const fates = endedStandings.filter((fate) => standings.includes(fate));
  return `unnest($${values.push(nameArray(fates))}::text[]) as fates (fate)`;
}

const typesText = (types: readonly string[], values: unknown[]): string =>
  `unnest($${values.push(nameArray([...new Set(types)]))}::text[]) as types (type)`;

/** How the types of a pattern are stepped through: where to begin, whether to go on, which to take. */
function patternOf(pattern: string, values: unknown[]): { from: string; goesOn: string; isMeant: string } {
  const glob = parseGlob(pattern);
  const from = `$${values.push(literalPrefix(glob))}::text`;
  return { from, goesOn: `starts_with(type, ${from})`, isMeant: `type ~ $${values.push(toPostgresRegex(glob))}::text` };
}
