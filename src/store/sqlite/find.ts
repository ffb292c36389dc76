/** Loads, finds and counts jobs in both tables. */
import type { SQLInputValue } from 'node:sqlite';
import type { Job } from '../../model/job.ts';
import type { Kind } from '../../model/state.ts';
import { asciiLower, pageLimitMax, type Page, type PageAsk, type Query, type Standing, type Tally } from '../query.ts';
import { jobOfEnded, jobOfOpen, type EndedRow, type OpenRow } from '../row.ts';
import type { Connection } from './connection.ts';
import { openRows } from './open-rows.ts';

export function load(connection: Connection, ids: readonly number[]): Job[] {
  const list = JSON.stringify(ids);
  return [
    ...openRows(connection, 'WHERE id IN (SELECT value FROM json_each(?))', list).map(jobOfOpen),
    ...connection.all<EndedRow>('SELECT * FROM ended WHERE id IN (SELECT value FROM json_each(?))', list).map(jobOfEnded),
  ];
}

export function find(connection: Connection, query: Query, { order = 'newest', after, limit = 100 }: PageAsk = {}): Page {
  const size = Math.min(limit, pageLimitMax);
  const isNewestFirst = order === 'newest';
  const select = <Row extends object>(table: Table): Row[] => {
    const { terms, values } = where(table, query);
    if (after !== undefined) {
      terms.push(`id ${isNewestFirst ? '<' : '>'} ?`);
      values.push(after);
    }
    const sql = `SELECT * FROM ${table} ${whereText(terms)} ORDER BY id ${isNewestFirst ? 'DESC' : 'ASC'} LIMIT ${size + 1}`;
    return connection.all<Row>(sql, ...values);
  };
  const found = [
    ...(meansOpen(query) ? select<OpenRow>('job').map(jobOfOpen) : []),
    ...(meansEnded(query) ? select<EndedRow>('ended').map(jobOfEnded) : []),
  ].sort((a, b) => (isNewestFirst ? b.id - a.id : a.id - b.id));
  const jobs = found.slice(0, size);
  return { jobs, next: found.length > size ? (jobs.at(-1)?.id ?? null) : null };
}

export function count(connection: Connection, query: Query): Tally[] {
  const tally = (table: Table, standing: string): Tally[] => {
    const { terms, values } = where(table, query);
    const sql = `SELECT kind, type, ${standing} standing, count(*) count FROM ${table} ${whereText(terms)} GROUP BY 1, 2, 3`;
    return connection.all<Tally>(sql, ...values).map((row) => ({ ...row }));
  };
  return [...(meansOpen(query) ? tally('job', 'state') : []), ...(meansEnded(query) ? tally('ended', 'fate') : [])];
}

export function holders(connection: Connection, keys: readonly string[], now: number): Map<string, number> {
  const sql = 'SELECT key, job FROM taken WHERE key IN (SELECT value FROM json_each(?)) AND (until IS NULL OR until > ?)';
  return new Map(connection.all<{ key: string; job: number }>(sql, JSON.stringify(keys), now).map(({ key, job }) => [key, job]));
}

type Table = 'job' | 'ended';

const openStandings: readonly Standing[] = ['pending', 'held', 'running'];
const endedStandings: readonly Standing[] = ['succeeded', 'failed', 'cancelled'];

const meansOpen = ({ standings }: Query): boolean => standings?.some((standing) => openStandings.includes(standing)) ?? true;

const meansEnded = ({ standings, dueBefore }: Query): boolean =>
  dueBefore === undefined && (standings?.some((standing) => endedStandings.includes(standing)) ?? true);

const whereText = (terms: readonly string[]): string => (terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`);

function where(table: Table, query: Query): { terms: string[]; values: SQLInputValue[] } {
  const terms: string[] = [];
  const values: SQLInputValue[] = [];
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
  // Said aloud, so that the partial indexes on the queue can be used.
  if (kinds.every((kind) => queueKinds.includes(kind))) add(`kind IN ('bedrock', 'mock')`);
}

function addStandings(add: (term: string, value: string) => void, table: Table, standings: readonly Standing[]): void {
  const column = table === 'job' ? 'state' : 'fate';
  add(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(standings));
  // Said aloud, so that the partial index on the rare fates can be used.
  if (table === 'ended' && !standings.includes('succeeded')) add(`fate <> ?`, 'succeeded');
}

const errorMessage = `json_extract(body, '$.error.message')`;

const tagTerm = `EXISTS (SELECT 1 FROM json_each(body, '$.tags') tag WHERE tag.key = ? AND tag.value = ?)`;

const textTerm = `(instr(lower(type), ?) > 0 OR instr(lower(def), ?) > 0 OR instr(lower(json_extract(body, '$.key')), ?) > 0
  OR instr(lower(${errorMessage}), ?) > 0
  OR EXISTS (SELECT 1 FROM json_each(body, '$.tags') tag WHERE instr(lower(tag.value), ?) > 0))`;
