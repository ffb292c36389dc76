/**
 * Loads, finds and counts jobs in both tables. Implements `load`, `find`, `count` and `jobsByKey` of `port/reading.ts`.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Job } from '../../../model/job.ts';
import type { Kind } from '../../../model/state.ts';
import {
  asciiLower, endedStandings, openStandings, pageLimitMax, type Page, type PageRequest, type Query, type Standing,
  type Tally,
} from '../../query.ts';
import { endedColumns, endedRowOf, namesOf } from '../../job-columns.ts';
import { jobOfEnded, jobOfOpen } from '../../row.ts';
import type { Connection } from '../connection.ts';
import { talliesOf, type TallyRow } from '../../tally-row.ts';
import { TallySum } from '../../tally-sum.ts';
import type { Clock } from '../../../time/clock.ts';
import { scanIds, type IdRange } from '../../id-scan.ts';
import { IndexChooser, tableFor, type Table } from './index-choice.ts';
import { openRows } from './open-rows.ts';

/** Without the histories. */
const endedSql = `SELECT ${namesOf(endedColumns).join(', ')} FROM ended WHERE id IN (SELECT value FROM json_each(?))`;

export function load(connection: Connection, ids: readonly number[]): Job[] {
  const list = JSON.stringify(ids);
  return [
    ...openRows(connection, 'WHERE id IN (SELECT value FROM json_each(?))', list).map(jobOfOpen),
    ...connection.arrays(endedSql, list).map((values) => jobOfEnded(endedRowOf(values))),
  ];
}

export async function find(connection: Connection, clock: Clock, query: Query, page: PageRequest = {}): Promise<Page> {
  const { order = 'newest', after, limit = 100, patienceMs } = page;
  const size = Math.min(limit, pageLimitMax);
  const found: Job[] = [];
  const search = newSearch(connection, query);
  const next = await scanIds(
    { order, after, stepMs: scanStepMs, patienceMs, clock },
    {
      stepEnd: (range, rows) => stepEnd(search, order, range, rows),
      scan: (range) => {
        const wanted = size + 1 - found.length;
        found.push(...connection.read(() => findBetween(search, order, range, wanted)));
        return found.length > size;
      },
    },
  );
  const jobs = found.slice(0, size);
  return { jobs, next: found.length > size ? jobs.at(-1)!.id : next };
}

/** One call of `find` or `count`. */
interface Search {
  readonly connection: Connection;
  readonly query: Query;
  readonly indexes: IndexChooser;
}

const newSearch = (connection: Connection, query: Query): Search =>
  ({ connection, query, indexes: new IndexChooser(connection, query) });

/**
 * Returns the id at which a step over about `rows` index entries ends; null: fewer entries are left. All entries of the
 * chosen indexes count, because a step also reads the entries of jobs that do not match the query.
 */
function stepEnd(
  { connection, query, indexes }: Search,
  order: 'newest' | 'oldest',
  { low, high }: IdRange,
  rows: number,
): number | null {
  const isNewest = order === 'newest';
  const ends = (table: Table): number[] => {
    const choices = indexes.choose(table);
    const rowsEach = Math.max(1, Math.floor(rows / choices.length));
    return choices.flatMap((choice) => {
      const sql = `SELECT id FROM ${tableFor(table, choice)} ${whereText(['id >= ?', 'id <= ?', ...choice.terms])}
        ORDER BY id ${isNewest ? 'DESC' : 'ASC'} LIMIT 1 OFFSET ?`;
      return connection.get<{ id: number }>(sql, low, high, ...choice.values, rowsEach - 1)?.id ?? [];
    });
  };
  const known = [...(includesOpen(query) ? ends('job') : []), ...(includesEnded(query) ? ends('ended') : [])];
  if (known.length === 0) return null;
  return isNewest ? Math.max(...known) : Math.min(...known);
}

function findBetween(
  { connection, query, indexes }: Search,
  order: 'newest' | 'oldest',
  range: IdRange,
  limit: number,
): Job[] {
  const direction = order === 'newest' ? 'DESC' : 'ASC';
  const nearest = (some: readonly { readonly id: number }[]): number[] =>
    some.map(({ id }) => id).sort((a, b) => (order === 'newest' ? b - a : a - b)).slice(0, limit);
  const idsIn = (table: Table): number[] => {
    const { terms, values } = where(table, query, range);
    const found = indexes.choose(table).flatMap((choice) => {
      const sql = `SELECT id FROM ${tableFor(table, choice)} ${whereText([...terms, ...choice.terms])}
        ORDER BY id ${direction} LIMIT ?`;
      return connection.all<{ id: number }>(sql, ...values, ...choice.values, limit);
    });
    return nearest(found);
  };
  const ids = [...(includesOpen(query) ? idsIn('job') : []), ...(includesEnded(query) ? idsIn('ended') : [])];
  const jobs = new Map(load(connection, ids).map((job) => [job.id, job]));
  return nearest([...jobs.values()]).map((id) => jobs.get(id)!);
}

export async function count(
  connection: Connection,
  clock: Clock,
  query: Query,
  dueBy: number | undefined,
): Promise<Tally[]> {
  const sum = new TallySum();
  const search = newSearch(connection, query);
  await scanIds(
    { order: 'oldest', stepMs: scanStepMs, clock },
    {
      stepEnd: (range, rows) => stepEnd(search, 'oldest', range, rows),
      scan: (range) => {
        for (const tally of connection.read(() => countBetween(search, range, dueBy))) sum.add(tally);
        return false;
      },
    },
  );
  return sum.all();
}

function countBetween({ connection, query, indexes }: Search, range: IdRange, dueBy: number | undefined): Tally[] {
  const tally = (table: Table): Tally[] => {
    const { terms, values } = where(table, query, range);
    return indexes.choose(table).flatMap((choice) => {
      const sql = tallySql(table, tableFor(table, choice), [...terms, ...choice.terms], dueBy !== undefined);
      const first = dueBy === undefined || table === 'ended' ? [] : [dueBy];
      return talliesOf(connection.all<TallyRow>(sql, ...first, ...values, ...choice.values));
    });
  };
  return [...(includesOpen(query) ? tally('job') : []), ...(includesEnded(query) ? tally('ended') : [])];
}

function tallySql(table: Table, from: string, terms: readonly string[], withDue: boolean): string {
  const [standing, isDue] = table === 'job' ? ['state', `state = 'pending' AND due < ?`] : ['fate', '0'];
  const counts = withDue ? `count(*) count, sum(${isDue}) due` : 'count(*) count';
  return `SELECT kind, standing, json_group_array(json_array(type, count${withDue ? ', due' : ''})) types
    FROM (SELECT kind, type, ${standing} standing, ${counts} FROM ${from} ${whereText(terms)} GROUP BY 1, 2, 3)
    GROUP BY 1, 2`;
}

/**
 * How long a step of a scan should take. It is short because node:sqlite is synchronous: a step blocks the event loop.
 */
const scanStepMs = 4;

export function jobsByKey(connection: Connection, keys: readonly string[], now: number): Map<string, number> {
  const sql =
    'SELECT key, job FROM unique_key WHERE key IN (SELECT value FROM json_each(?)) AND (until IS NULL OR until > ?)';
  return new Map(
    connection.all<{ key: string; job: number }>(sql, JSON.stringify(keys), now).map(({ key, job }) => [key, job]),
  );
}

const includesOpen = ({ standings }: Query): boolean =>
  standings?.some((standing) => openStandings.includes(standing)) ?? true;

const includesEnded = ({ standings, dueBefore }: Query): boolean =>
  dueBefore === undefined && (standings?.some((standing) => endedStandings.includes(standing)) ?? true);

const whereText = (terms: readonly string[]): string => `WHERE ${terms.join(' AND ')}`;

function where(table: Table, query: Query, { low, high }: IdRange): { terms: string[]; values: SQLInputValue[] } {
  const terms: string[] = ['id >= ?', 'id <= ?'];
  const values: SQLInputValue[] = [low, high];
  const add = (term: string, ...given: SQLInputValue[]): void => {
    terms.push(term);
    values.push(...given);
  };
  if (query.kinds) addKinds(add, query.kinds);
  if (query.types) add('type IN (SELECT value FROM json_each(?))', JSON.stringify(query.types));
  if (query.glob !== undefined) add('type GLOB ?', query.glob);
  if (query.def !== undefined) add('def = ?', query.def);
  if (query.parent === null) add('parent IS NULL');
  else if (query.parent !== undefined) add('parent = ?', query.parent);
  if (query.standings) addStandings(add, table, query.standings);
  for (const [name, value] of Object.entries(query.tags ?? {})) add(tagTerm, name, value);
  if (query.createdFrom !== undefined) add('created >= ?', query.createdFrom);
  if (query.createdBefore !== undefined) add('created < ?', query.createdBefore);
  if (query.dueBefore !== undefined) add('due < ?', query.dueBefore);
  if (query.error !== undefined) add(`instr(lower(${errorMessage}), ?) > 0`, asciiLower(query.error));
  if (query.input !== undefined) add('has_scalar(input, ?) = 1', JSON.stringify(query.input));
  if (query.text !== undefined) add(textTerm, ...Array<string>(5).fill(asciiLower(query.text)));
  return { terms, values };
}

const queueKinds: readonly Kind[] = ['bedrock', 'mock'];

function addKinds(add: (term: string, ...values: string[]) => void, kinds: readonly Kind[]): void {
  add('kind IN (SELECT value FROM json_each(?))', JSON.stringify(kinds));
  // The terms are literal, because SQLite uses a partial index only if the query contains the condition of the index.
  if (kinds.every((kind) => queueKinds.includes(kind))) add(`kind IN ('bedrock', 'mock')`);
  if (!kinds.includes('task')) add(`kind <> 'task'`);
}

function addStandings(add: (term: string, value: string) => void, table: Table, standings: readonly Standing[]): void {
  const column = table === 'job' ? 'state' : 'fate';
  add(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(standings));
}

const errorMessage = `json_extract(body, '$.error.message')`;

const tagTerm = `EXISTS (SELECT 1 FROM json_each(body, '$.tags') tag WHERE tag.key = ? AND tag.value = ?)`;

const textTerm = `(instr(lower(type), ?) > 0 OR instr(lower(def), ?) > 0
  OR instr(lower(json_extract(body, '$.key')), ?) > 0 OR instr(lower(${errorMessage}), ?) > 0
  OR EXISTS (SELECT 1 FROM json_each(body, '$.tags') tag WHERE instr(lower(tag.value), ?) > 0))`;
