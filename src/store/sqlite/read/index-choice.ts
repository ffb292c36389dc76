/**
 * Chooses the index that yields matching ids in order. It is entered once per type, or per fate and type, and the
 * streams are merged.
 */
import type { SQLInputValue } from 'node:sqlite';
import { literalPrefix, matches, parseGlob } from '../../../model/glob.ts';
import { endedStandings, isForDefinitions, excludesSucceeded, includesTasks, type Query } from '../../query.ts';
import type { Connection } from '../connection.ts';

export type Table = 'job' | 'ended';

/** One entry into an index. */
export interface IndexChoice {
  /** The index for INDEXED BY, where SQLite would choose another. */
  readonly index?: string;
  readonly terms: readonly string[];
  readonly values: readonly SQLInputValue[];
}

/** Every match is at exactly one of these entries. */
export function chooseIndexes(connection: Connection, table: Table, query: Query): IndexChoice[] {
  const { parent, def } = query;
  if (parent !== undefined && parent !== null) return [{ terms: ['parent = ?'], values: [parent] }];
  if (table === 'ended' && hasFewEndedSince(connection, query)) return choicesSince(query.createdFrom!);
  if (table === 'ended' && excludesSucceeded(query)) return choicesForNotSucceeded(connection, query);
  if (def !== undefined) return [{ terms: ['def = ?'], values: [def] }];
  if (table === 'job' && isForDefinitions(query)) return [{ index: 'job_spec', terms: [`kind = 'def'`], values: [] }];
  if (table === 'job' || includesTasks(query)) return [{ terms: [], values: [] }];
  const top = choice(`kind <> 'task'`);
  return choicesPerType(connection, top, query) ?? [top];
}

function choicesForNotSucceeded(connection: Connection, query: Query): IndexChoice[] {
  const fates = endedStandings.filter((fate) => query.standings!.includes(fate));
  return fates.flatMap((fate) => {
    const notSucceeded = choice(`fate <> 'succeeded' AND fate = ?`, fate);
    if (includesTasks(query)) return [notSucceeded];
    // Without type names, for each type: the index by fate alone contains failed tasks, maybe a million per run.
    const tops = choice(`kind <> 'task' AND ${notSucceeded.terms[0]}`, fate);
    return choicesPerType(connection, tops, { glob: '*', ...query }) ?? [notSucceeded];
  });
}

/** More entries than this would block the event loop for too long; then jobs are scanned by id. */
const entriesMax = 200;

/** Null: there are too many types, or the query names none. */
function choicesPerType(connection: Connection, base: IndexChoice, { types, glob }: Query): IndexChoice[] | null {
  const chosen = types ? [...new Set(types)] : glob === undefined ? null : typesLike(connection, base, glob);
  if (chosen === null || chosen.length > entriesMax) return null;
  return chosen.map((type) => ({ terms: [...base.terms, 'type = ?'], values: [...base.values, type] }));
}

/** Finds each type by one seek into the index; stops when there are too many. */
function typesLike(connection: Connection, { terms, values }: IndexChoice, pattern: string): string[] {
  const glob = parseGlob(pattern);
  const prefix = literalPrefix(glob);
  const next = (sign: '>=' | '>', from: string): string | undefined =>
    connection.get<{ type: string }>(
      `SELECT type FROM ended WHERE ${terms.join(' AND ')} AND type ${sign} ? ORDER BY type LIMIT 1`, ...values, from,
    )?.type;
  const types: string[] = [];
  for (let type = next('>=', prefix); type?.startsWith(prefix); type = next('>', type)) {
    if (matches(glob, type)) types.push(type);
    if (types.length > entriesMax) break;
  }
  return types;
}

/**
 * No index covers `created`, but an ended job that was created since a time has also ended since then. If few jobs
 * have, all of them are read; if many have, a scan by id soon finds matches.
 */
const choicesSince = (time: number): IndexChoice[] => [
  { index: 'ended_past', terms: ['parent IS NULL', 'purge_at IS NULL', 'ended_at >= ?'], values: [time] },
  {
    index: 'ended_since',
    terms: [`kind <> 'task'`, '(parent IS NOT NULL OR purge_at IS NOT NULL)', 'ended_at >= ?'],
    values: [time],
  },
];

const few = 2000;

function hasFewEndedSince(connection: Connection, query: Query): boolean {
  if (query.createdFrom === undefined || includesTasks(query)) return false;
  return choicesSince(query.createdFrom).every(({ index, terms, values }) => {
    const sql = `SELECT 1 FROM ended INDEXED BY ${index} WHERE ${terms.join(' AND ')} LIMIT 1 OFFSET ${few}`;
    return connection.get(sql, ...values) === undefined;
  });
}

export const tableFor = (table: Table, { index }: IndexChoice): string =>
  index === undefined ? table : `${table} INDEXED BY ${index}`;

const choice = (term: string, ...values: SQLInputValue[]): IndexChoice => ({ terms: [term], values });
