/**
 * Writes the WHERE clause of a query. Filters on columns are exact. Filters on JSON may let through too many rows,
 * which `matchesQuery` removes later.
 */
import type { Kind } from '../../../model/state.ts';
import { literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { asciiLower, type Query, type Standing } from '../../query.ts';
import { textArray } from '../sql/row-parameters.ts';
import type { JobSource } from './index-choice.ts';
import { storedSql } from './open-rows.ts';

export function whereSql(table: JobSource, query: Query, values: unknown[], beyond: readonly string[] = []): string {
  const terms: string[] = [...beyond];
  const { input, body } = table === 'claim' ? { input: 'input', body: 'body' } : storedSql;
  const add = (term: (parameter: string) => string, value: unknown): void => {
    terms.push(term(`$${values.push(value)}`));
  };
  if (query.kinds) add((parameter) => `kind = any(${parameter}::text[])`, textArray(query.kinds));
  if (query.kinds) terms.push(...literalPredicates(table, query.kinds));
  if (query.types) add((parameter) => `type = any(${parameter}::text[])`, textArray(query.types));
  if (query.glob !== undefined) addGlob(add, query.glob);
  if (query.def !== undefined) add((parameter) => `def = ${parameter}`, query.def);
  if (query.parent === null) terms.push('parent is null');
  else if (query.parent !== undefined) add((parameter) => `parent = ${parameter}`, query.parent);
  if (query.standings) addStandings(add, terms, table, query.standings);
  if (query.createdFrom !== undefined) add((parameter) => `created >= ${parameter}`, query.createdFrom);
  if (query.createdBefore !== undefined) add((parameter) => `created < ${parameter}`, query.createdBefore);
  if (query.dueBefore !== undefined) add((parameter) => `due < ${parameter}`, query.dueBefore);
  for (const tag of Object.entries(query.tags ?? {})) add(contains(body), tag.map((text) => asJson(text)).join(':'));
  if (query.error !== undefined) add(contains(`lower(${body})`), unescapedPart(query.error));
  if (query.input !== undefined) addInput(add, input, query.input);
  if (query.text !== undefined) {
    add(contains(`lower(concat(type, E'\\n', def, E'\\n', ${body}))`), unescapedPart(query.text));
  }
  return terms.length === 0 ? '' : `where ${terms.join(' and ')}`;
}

const queueKinds: readonly Kind[] = ['bedrock', 'mock'];

/**
 * Returns those conditions of partial indexes that are true for all jobs of these kinds. The conditions are literals,
 * because the planner does not see the values of a parameter.
 */
function literalPredicates(table: JobSource, kinds: readonly Kind[]): string[] {
  if (table === 'claim') return [];
  if (table === 'job') return kinds.every((kind) => queueKinds.includes(kind)) ? [`kind in ('bedrock', 'mock')`] : [];
  return kinds.includes('task') ? [] : [`kind <> 'task'`];
}

/** Returns the text as a JSON string, the form in which the body contains it. */
const asJson = (text: string): string => JSON.stringify(text);

type AddTerm = (term: (parameter: string) => string, value: unknown) => void;

const contains =
  (text: string) =>
  (parameter: string): string =>
    `strpos(${text}, ${parameter}) > 0`;

function addGlob(add: AddTerm, pattern: string): void {
  const glob = parseGlob(pattern);
  add((parameter) => `type ~ ${parameter}`, toPostgresRegex(glob));
  const prefix = literalPrefix(glob);
  if (prefix === '') return;
  add((parameter) => `type >= ${parameter}`, prefix);
  add((parameter) => `type < ${parameter}`, `${prefix}\u{10ffff}`);
}

function addStandings(add: AddTerm, terms: string[], table: JobSource, standings: readonly Standing[]): void {
  if (table === 'claim') return; // all are running, and `sourcesOf` has checked that running jobs are wanted
  const column = table === 'job' ? 'state' : 'fate';
  add((parameter) => `${column} = any(${parameter}::text[])`, textArray(standings));
  // The planner uses a partial index only if the query contains the condition of the index as a literal.
  if (table === 'ended' && !standings.includes('succeeded')) terms.push(`fate <> 'succeeded'`);
  if (table === 'job' && !standings.includes('pending') && !standings.includes('held')) terms.push(`state = 'running'`);
}

/**
 * Returns, in lower case, the longest part of a text that JSON does not escape. Every body that contains the text also
 * contains this part, if case is ignored.
 */
function unescapedPart(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const parts = asciiLower(text).split(/["\\\u0000-\u001f\ud800-\udfff]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/**
 * Filters by a scalar at a path of the input. Lets through very long inputs, inputs that `jsonb` cannot represent, and
 * numbers that differ only beyond the precision of a double; `matchesQuery` decides about these later.
 */
function addInput(add: AddTerm, input: string, { path, equals }: NonNullable<Query['input']>): void {
  if (path.includes('length')) return; // arrays have a `length` in JavaScript, not in jsonb: `matchesQuery` decides
  const at = `(${input}::jsonb #> ${arrayLiteral(path)})`;
  const isReadable = String.raw`length(${input}) < 100000 and ${input} !~ '\\u(0000|[dD][89a-fA-F])|[eE][-+]?\d{4}'`;
  const guarded = (test: string): string => `case when ${isReadable} then coalesce(${test}, false) else true end`;
  if (typeof equals !== 'number') add((parameter) => guarded(`${at} = ${parameter}::jsonb`), JSON.stringify(equals));
  else if (Number.isFinite(equals)) {
    add(
      (parameter) =>
        guarded(`jsonb_typeof(${at}) = 'number'
      and abs((${at} #>> '{}')::numeric - ${parameter}::numeric) <= abs(${parameter}::numeric) * 1e-15`),
      equals,
    );
  }
}

const arrayLiteral = (path: readonly string[]): string => `'${textArray(path).replaceAll(`'`, `''`)}'::text[]`;
