/**
 * Chooses the indexes by which a query reads jobs. A query may read several ranges of an index, one per type, per fate,
 * or per fate and type. The caller merges the results by id.
 */
import type { SQLInputValue } from 'node:sqlite';
import { literalPrefix, matches, parseGlob } from '../../../model/glob.ts';
import { endedStandings, isForDefinitions, excludesSucceeded, includesTasks, type Query } from '../../query.ts';
import type { Connection } from '../connection.ts';

export type Table = 'job' | 'ended';

/** One range of an index: the conditions that select it, and their values. */
export interface IndexChoice {
  /** The index for INDEXED BY; absent: SQLite chooses the right index itself. */
  readonly index?: string;
  readonly terms: readonly string[];
  readonly values: readonly SQLInputValue[];
}

/**
 * The maximum number of types for which one range per type is read. Each range takes time and blocks the event loop.
 * With more types, the index by fate is read if the query excludes succeeded jobs; otherwise jobs are scanned by id.
 */
const entriesMax = 200;
/**
 * The maximum number of types that `#typesLike` reads to find those that match a pattern. A pattern such as `*x` has no
 * literal prefix, so types that do not match it are read, too.
 */
const seeksMax = 300;

/** Chooses the ranges of one scan: anew for each step, because a new type may be stored between two steps. */
export class IndexChooser {
  readonly #connection: Connection;
  readonly #query: Query;
  /** The ranges, as JSON, for which `#choicesPerType` returned null; later steps do not read their types again. */
  readonly #crowded = new Set<string>();

  constructor(connection: Connection, query: Query) {
    this.#connection = connection;
    this.#query = query;
  }

  /** Returns the ranges to read. Every matching job is in exactly one of them. */
  choose(table: Table): IndexChoice[] {
    const { parent, def } = this.#query;
    if (parent !== undefined && parent !== null) return [{ terms: ['parent = ?'], values: [parent] }];
    if (table === 'ended' && hasFewEndedSince(this.#connection, this.#query)) return choicesSince(this.#query.createdFrom!);
    if (table === 'ended' && excludesSucceeded(this.#query)) return this.#choicesForNotSucceeded();
    if (def !== undefined) return [{ terms: ['def = ?'], values: [def] }];
    if (table === 'job' && isForDefinitions(this.#query)) {
      return [{ index: 'job_spec', terms: [`kind = 'def'`], values: [] }];
    }
    if (table === 'job' || includesTasks(this.#query)) return [{ terms: [], values: [] }];
    const top = choice(`kind <> 'task'`);
    return this.#choicesPerType(top, this.#query.glob) ?? [top];
  }

  #choicesForNotSucceeded(): IndexChoice[] {
    const { standings, glob = '*' } = this.#query;
    return endedStandings.filter((fate) => standings!.includes(fate)).flatMap((fate) => {
      const notSucceeded = choice(`fate <> 'succeeded' AND fate = ?`, fate);
      if (includesTasks(this.#query)) return [notSucceeded];
      // Reads one range per type, even if the query names no type. These ranges contain no tasks. The index by fate
      // also contains failed tasks, of which a run may have a million.
      const tops = choice(`kind <> 'task' AND ${notSucceeded.terms[0]}`, fate);
      return this.#choicesPerType(tops, glob) ?? [notSucceeded];
    });
  }

  /**
   * Returns one range per type within `base`; null: there are too many types, or the query names no types and `glob` is
   * undefined.
   */
  #choicesPerType(base: IndexChoice, glob: string | undefined): IndexChoice[] | null {
    const name = JSON.stringify(base);
    if (this.#crowded.has(name)) return null;
    const types = this.#query.types ? [...new Set(this.#query.types)] : this.#typesLike(base, glob);
    if (types === null || types.length > entriesMax) {
      this.#crowded.add(name);
      return null;
    }
    return types.map((type) => ({ terms: [...base.terms, 'type = ?'], values: [...base.values, type] }));
  }

  /**
   * Returns the types that match the pattern among the ended jobs of a range, each found by one index seek; null: there
   * is no pattern, or there are too many types.
   */
  #typesLike({ terms, values }: IndexChoice, pattern: string | undefined): string[] | null {
    if (pattern === undefined) return null;
    const glob = parseGlob(pattern);
    const prefix = literalPrefix(glob);
    const next = (sign: '>=' | '>', from: string): string | undefined =>
      this.#connection.get<{ type: string }>(
        `SELECT type FROM ended WHERE ${terms.join(' AND ')} AND type ${sign} ? ORDER BY type LIMIT 1`, ...values, from,
      )?.type;
    const types: string[] = [];
    let type = next('>=', prefix);
    for (let seeks = 1; type?.startsWith(prefix); seeks++, type = next('>', type)) {
      if (seeks === seeksMax || types.length > entriesMax) return null;
      if (matches(glob, type)) types.push(type);
    }
    return types;
  }
}

/**
 * Returns the ranges of the jobs that ended at `time` or later. They serve queries by `createdFrom`, which no index
 * covers: a job that was created at `time` or later cannot have ended before `time`. They are used only if few jobs
 * have ended since `time`; if many have, a scan by id finds matches soon.
 */
const choicesSince = (time: number): IndexChoice[] => [
  { index: 'ended_past', terms: ['parent IS NULL', 'purge_at IS NULL', 'ended_at >= ?'], values: [time] },
  {
    index: 'ended_since',
    terms: [`kind <> 'task'`, '(parent IS NOT NULL OR purge_at IS NOT NULL)', 'ended_at >= ?'],
    values: [time],
  },
];

/** The ranges of `choicesSince` are read only if each of them has at most this many jobs. */
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
