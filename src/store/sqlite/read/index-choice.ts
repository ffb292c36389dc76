/**
 * Leads: which index has the ids of those that are meant in order. It is entered at one place for each type, or each
 * fate and type, and what is found at all places is merged.
 */
import type { SQLInputValue } from 'node:sqlite';
import { literalPrefix, matches, parseGlob } from '../../../model/glob.ts';
import { endedStandings, isOfDefinitions, isUnlucky, isWithTasks, type Query } from '../../query.ts';
import type { Connection } from '../connection.ts';

export type Table = 'job' | 'ended';

/** The terms of one place in an index. */
export interface Lead {
  /** Named where others would seem better. */
  readonly index?: string;
  readonly terms: readonly string[];
  readonly values: readonly SQLInputValue[];
}

/** All who are meant are at one of these places, and none is at two. */
export function leadsOf(connection: Connection, table: Table, query: Query): Lead[] {
  const { parent, def } = query;
  if (parent !== undefined && parent !== null) return [{ terms: ['parent = ?'], values: [parent] }];
  if (table === 'ended' && haveFewEnded(connection, query)) return leadsSince(query.createdFrom!);
  if (table === 'ended' && isUnlucky(query)) return leadsToUnlucky(connection, query);
  if (def !== undefined) return [{ terms: ['def = ?'], values: [def] }];
  if (table === 'job' && isOfDefinitions(query)) return [{ index: 'job_spec', terms: [`kind = 'def'`], values: [] }];
  if (table === 'job' || isWithTasks(query)) return [{ terms: [], values: [] }];
  const top = lead(`kind <> 'task'`);
  return leadsToTypes(connection, top, query) ?? [top];
}

function leadsToUnlucky(connection: Connection, query: Query): Lead[] {
  const fates = endedStandings.filter((fate) => query.standings!.includes(fate));
  return fates.flatMap((fate) => {
    const unlucky = lead(`fate <> 'succeeded' AND fate = ?`, fate);
    if (isWithTasks(query)) return [unlucky];
    // For all types too, if none are named: a run may have a million unlucky tasks, and these lists are of runs.
    const tops = lead(`kind <> 'task' AND ${unlucky.terms[0]}`, fate);
    return leadsToTypes(connection, tops, { glob: '*', ...query }) ?? [unlucky];
  });
}

/** So many places are looked at without keeping others waiting; where there are more, all are walked through. */
const placesMax = 200;

/** Null: there are too many, or it is not said which. */
function leadsToTypes(connection: Connection, places: Lead, { types, glob }: Query): Lead[] | null {
  const chosen = types ? [...new Set(types)] : glob === undefined ? null : typesLike(connection, places, glob);
  if (chosen === null || chosen.length > placesMax) return null;
  return chosen.map((type) => ({ terms: [...places.terms, 'type = ?'], values: [...places.values, type] }));
}

/** Each found by one step into the index; no more than show that there are too many. */
function typesLike(connection: Connection, { terms, values }: Lead, pattern: string): string[] {
  const glob = parseGlob(pattern);
  const prefix = literalPrefix(glob);
  const next = (sign: '>=' | '>', from: string): string | undefined =>
    connection.get<{ type: string }>(
      `SELECT type FROM ended WHERE ${terms.join(' AND ')} AND type ${sign} ? ORDER BY type LIMIT 1`, ...values, from,
    )?.type;
  const types: string[] = [];
  for (let type = next('>=', prefix); type?.startsWith(prefix); type = next('>', type)) {
    if (matches(glob, type)) types.push(type);
    if (types.length > placesMax) break;
  }
  return types;
}

/**
 * No index tells when a job was created, but whoever was created since a time has also ended since then. Where few have,
 * those are all looked at; where many have, those that are meant are soon found by their ids.
 */
const leadsSince = (time: number): Lead[] => [
  { index: 'ended_past', terms: ['parent IS NULL', 'purge_at IS NULL', 'ended_at >= ?'], values: [time] },
  {
    index: 'ended_since',
    terms: [`kind <> 'task'`, '(parent IS NOT NULL OR purge_at IS NOT NULL)', 'ended_at >= ?'],
    values: [time],
  },
];

const few = 2000;

function haveFewEnded(connection: Connection, query: Query): boolean {
  if (query.createdFrom === undefined || isWithTasks(query)) return false;
  return leadsSince(query.createdFrom).every(({ index, terms, values }) => {
    const sql = `SELECT 1 FROM ended INDEXED BY ${index} WHERE ${terms.join(' AND ')} LIMIT 1 OFFSET ${few}`;
    return connection.get(sql, ...values) === undefined;
  });
}

export const tableFor = (table: Table, { index }: Lead): string =>
  index === undefined ? table : `${table} INDEXED BY ${index}`;

const lead = (term: string, ...values: SQLInputValue[]): Lead => ({ terms: [term], values });
