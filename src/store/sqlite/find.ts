/** Loads, finds and counts jobs in both tables. */
import type { SQLInputValue } from 'node:sqlite';
import type { Job } from '../../model/job.ts';
import type { Kind } from '../../model/state.ts';
import {
  asciiLower, endedStandings, openStandings, pageLimitMax, type Page, type PageAsk, type Query, type Standing, type Tally,
} from '../query.ts';
import { jobOfEnded, jobOfOpen, type EndedRow, type OpenRow } from '../row.ts';
import type { Connection } from './connection.ts';
import { walk, type Span } from '../walk.ts';
import { openRows } from './open-rows.ts';

export function load(connection: Connection, ids: readonly number[]): Job[] {
  const list = JSON.stringify(ids);
  return [
    ...openRows(connection, 'WHERE id IN (SELECT value FROM json_each(?))', list).map(jobOfOpen),
    ...connection
      .all<EndedRow>('SELECT * FROM ended WHERE id IN (SELECT value FROM json_each(?))', list)
      .map(jobOfEnded),
  ];
}

export async function find(connection: Connection, query: Query, page: PageAsk = {}): Promise<Page> {
  const { order = 'newest', after, limit = 100, patienceMs } = page;
  const size = Math.min(limit, pageLimitMax);
  const found: Job[] = [];
  const goOn = await walk(
    { order, after, lookMs, patienceMs },
    {
      stride: (span, rows) => stride(connection, query, order, span, rows),
      look: (span) => {
        found.push(...findBetween(connection, query, order, span, size + 1 - found.length));
        return found.length > size;
      },
    },
  );
  const jobs = found.slice(0, size);
  return { jobs, next: found.length > size ? jobs.at(-1)!.id : goOn };
}

/** By the index that leads to those that may be meant: how many it leads to is what a look costs. */
function stride(
  connection: Connection,
  query: Query,
  order: 'newest' | 'oldest',
  { low, high }: Span,
  rows: number,
): number | null {
  const isNewest = order === 'newest';
  const end = (table: Table): number | null => {
    const { terms, values } = leadOf(table, query);
    const where = whereText(['id >= ?', 'id <= ?', ...terms]);
    const sql = `SELECT id FROM ${table} ${where} ORDER BY id ${isNewest ? 'DESC' : 'ASC'} LIMIT 1 OFFSET ?`;
    return connection.get<{ id: number }>(sql, low, high, ...values, rows - 1)?.id ?? null;
  };
  const ends = [...(meansOpen(query) ? [end('job')] : []), ...(meansEnded(query) ? [end('ended')] : [])];
  const known = ends.filter((id) => id !== null);
  if (known.length === 0) return null;
  return isNewest ? Math.max(...known) : Math.min(...known);
}

/** The terms of one index that has the ids in order. */
function leadOf(
  table: Table,
  { parent, def, types, kinds, standings }: Query,
): { terms: string[]; values: SQLInputValue[] } {
  if (parent !== undefined && parent !== null) return { terms: ['parent = ?'], values: [parent] };
  if (def !== undefined) return { terms: ['def = ?'], values: [def] };
  if (kinds === undefined || kinds.includes('task') || table === 'job') return { terms: [], values: [] };
  const top = `kind <> 'task'`;
  if (types?.length === 1) return { terms: [top, 'type = ?'], values: [types[0]!] };
  if (standings?.length === 1 && standings[0] !== 'succeeded') {
    return { terms: [`fate <> 'succeeded'`, 'fate = ?'], values: [standings[0]!] };
  }
  return { terms: [top], values: [] };
}

/** Both tables in one turn of the event loop: a job on its way from one to the other is seen once. */
function findBetween(
  connection: Connection,
  query: Query,
  order: 'newest' | 'oldest',
  span: Span,
  limit: number,
): Job[] {
  const direction = order === 'newest' ? 'DESC' : 'ASC';
  const select = <Row extends object>(table: Table): Row[] => {
    const { terms, values } = where(table, query, span);
    return connection.all<Row>(
      `SELECT * FROM ${table} ${whereText(terms)} ORDER BY id ${direction} LIMIT ${limit}`,
      ...values,
    );
  };
  const found = [
    ...(meansOpen(query) ? select<OpenRow>('job').map(jobOfOpen) : []),
    ...(meansEnded(query) ? select<EndedRow>('ended').map(jobOfEnded) : []),
  ];
  return found.sort((a, b) => (order === 'newest' ? b.id - a.id : a.id - b.id)).slice(0, limit);
}

export async function count(connection: Connection, query: Query): Promise<Tally[]> {
  const sums = new Map<string, Tally>();
  await walk(
    { order: 'oldest', lookMs },
    {
      stride: (span, rows) => stride(connection, query, 'oldest', span, rows),
      look: (span) => {
        for (const tally of countBetween(connection, query, span)) {
          const name = JSON.stringify([tally.kind, tally.type, tally.standing]);
          sums.set(name, { ...tally, count: tally.count + (sums.get(name)?.count ?? 0) });
        }
        return false;
      },
    },
  );
  return [...sums.values()];
}

function countBetween(connection: Connection, query: Query, span: Span): Tally[] {
  const tally = (table: Table, standing: string): Tally[] => {
    const { terms, values } = where(table, query, span);
    const sql = `SELECT kind, type, ${standing} standing, count(*) count FROM ${table} ${whereText(terms)}
      GROUP BY 1, 2, 3`;
    return connection.all<Tally>(sql, ...values);
  };
  return [...(meansOpen(query) ? tally('job', 'state') : []), ...(meansEnded(query) ? tally('ended', 'fate') : [])];
}

/** SQLite works in the event loop: whoever else waits for it shall not notice. */
const lookMs = 4;

export function holders(connection: Connection, keys: readonly string[], now: number): Map<string, number> {
  const sql =
    'SELECT key, job FROM taken WHERE key IN (SELECT value FROM json_each(?)) AND (until IS NULL OR until > ?)';
  return new Map(
    connection.all<{ key: string; job: number }>(sql, JSON.stringify(keys), now).map(({ key, job }) => [key, job]),
  );
}

type Table = 'job' | 'ended';


const meansOpen = ({ standings }: Query): boolean =>
  standings?.some((standing) => openStandings.includes(standing)) ?? true;

const meansEnded = ({ standings, dueBefore }: Query): boolean =>
  dueBefore === undefined && (standings?.some((standing) => endedStandings.includes(standing)) ?? true);

const whereText = (terms: readonly string[]): string => `WHERE ${terms.join(' AND ')}`;

function where(table: Table, query: Query, { low, high }: Span): { terms: string[]; values: SQLInputValue[] } {
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
  // Said aloud, so that the partial indexes on the queue, and on all but tasks, can be used.
  if (kinds.every((kind) => queueKinds.includes(kind))) add(`kind IN ('bedrock', 'mock')`);
  if (!kinds.includes('task')) add(`kind <> 'task'`);
}

function addStandings(add: (term: string, value: string) => void, table: Table, standings: readonly Standing[]): void {
  const column = table === 'job' ? 'state' : 'fate';
  add(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(standings));
  // Said aloud, so that the partial index on the rare fates can be used.
  if (table === 'ended' && !standings.includes('succeeded')) add(`fate <> ?`, 'succeeded');
}

const errorMessage = `json_extract(body, '$.error.message')`;

const tagTerm = `EXISTS (SELECT 1 FROM json_each(body, '$.tags') tag WHERE tag.key = ? AND tag.value = ?)`;

const textTerm = `(instr(lower(type), ?) > 0 OR instr(lower(def), ?) > 0
  OR instr(lower(json_extract(body, '$.key')), ?) > 0 OR instr(lower(${errorMessage}), ?) > 0
  OR EXISTS (SELECT 1 FROM json_each(body, '$.tags') tag WHERE instr(lower(tag.value), ?) > 0))`;
