/**
 * The search language: words and qualifiers, such as `state:failed type:mail* tag:team=a payload.customer.id:42`. The
 * URL contains the text; the filter of the API is derived from it.
 */
import type { RunFilter } from '../../src/http/contract.ts';
import { standings } from './state/run-status.ts';

export interface SearchTerm {
  /** The qualifier, such as `state`; empty: the term is a word without one. */
  readonly name: string;
  readonly value: string;
}

/** The filter that the text describes, or why the text is invalid. */
export type SearchResult =
  | { readonly filter: RunFilter; readonly error: null }
  | { readonly error: string };

export const qualifiers: Readonly<Record<string, string>> = {
  state: 'pending, held, running, succeeded, failed, cancelled, open, ended',
  type: 'a job type, or a pattern such as mail*',
  def: 'a definition',
  tag: 'name=value',
  error: 'part of the error message',
  created: '<1h in the last hour, >1h earlier, or >2026-01-31',
  due: '<1h due within an hour (or overdue), or <2026-01-31',
  parent: 'the number of a run, to list its tasks',
  kind: 'run, task, bedrock',
  payload: 'payload.path.to:value',
};

const wordPattern = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g;

export function termsOf(text: string): SearchTerm[] {
  return (text.match(wordPattern) ?? []).map((word) => {
    const [, name = '', value = word] = /^([a-z]+(?:\.[^:"]+)?):(.*)$/is.exec(word) ?? [];
    return { name, value: unquoted(value) };
  });
}

export const textOf = (terms: readonly SearchTerm[]): string =>
  terms.map(({ name, value }) => (name === '' ? quoted(value) : `${name}:${quoted(value)}`)).join(' ');

/** Returns the text with one qualifier set to a value; null removes the qualifier. */
export function withTerm(text: string, name: string, value: string | null): string {
  const rest = termsOf(text).filter((term) => term.name !== name);
  return textOf(value === null ? rest : [...rest, { name, value }]);
}

export const valueOf = (text: string, name: string): string | null =>
  termsOf(text).find((term) => term.name === name)?.value ?? null;

/** Returns the id of the run that a text such as `123`, `run 123` or `#123` names; null: the text is another search. */
export function runIdOf(text: string): number | null {
  const [, digits] = /^\s*(?:run\s+|#)?([1-9]\d{0,15})\s*$/i.exec(text) ?? [];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : null;
}

export function readSearch(text: string, now: number): SearchResult {
  const filter: Writable<RunFilter> = {};
  const words: string[] = [];
  for (const { name, value } of termsOf(text)) {
    if (name === '') words.push(value);
    else {
      const error = addTerm(filter, name, value, now);
      if (error !== null) return { error };
    }
  }
  if (words.length > 0) filter.q = words.join(' ');
  return { filter, error: null };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Field = keyof RunFilter;

/** Adds a term to the filter; returns why the term is invalid, or null if it is valid. */
function addTerm(filter: Writable<RunFilter>, name: string, value: string, now: number): string | null {
  if (value === '') return `${name}: needs a value: ${qualifiers[name.split('.')[0]!] ?? 'any text'}`;
  if (name.startsWith('payload.')) return set(filter, name, 'payload', `${name.slice('payload.'.length)}:${value}`);
  switch (name) {
    case 'state':
      return addStates(filter, value);
    case 'type':
      return set(filter, name, 'type', value.split(','));
    case 'def':
    case 'error':
      return set(filter, name, name, value);
    case 'kind':
      return set(filter, name, 'kind', value.split(',') as NonNullable<RunFilter['kind']>);
    case 'tag':
      return addTag(filter, value);
    case 'parent':
      return /^\d{1,16}$/.test(value) ? set(filter, name, 'parent', Number(value)) : 'parent: takes a run number';
    case 'created':
    case 'due':
      return addTime(filter, name, value, now);
    default:
      return `unknown qualifier "${name}"; use ${Object.keys(qualifiers).join(', ')}`;
  }
}

/**
 * Sets a field of the filter; returns an error if it is set already. The API takes one value per field, so the first
 * would be lost.
 */
function set<F extends Field>(
  filter: Writable<RunFilter>, name: string, field: F, value: NonNullable<RunFilter[F]>,
): string | null {
  if (filter[field] !== undefined) return `${name.split('.')[0]}: is used more than once; keep one of them`;
  filter[field] = value;
  return null;
}

function addStates(filter: Writable<RunFilter>, value: string): string | null {
  const states = value.split(',') as NonNullable<RunFilter['state']>;
  const unknown = states.find((state) => ![...standings, 'open', 'ended'].includes(state));
  return unknown === undefined
    ? set(filter, 'state', 'state', states)
    : `unknown state "${unknown}"; use ${qualifiers['state']}`;
}

function addTag(filter: Writable<RunFilter>, value: string): string | null {
  const [, name, tagValue] = /^([^=:]+)[=:](.*)$/s.exec(value) ?? [];
  if (name === undefined) return 'write a tag as tag:name=value';
  filter.tag = [...(filter.tag ?? []), `${name}:${tagValue}`];
  return null;
}

const unitMs: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

function addTime(filter: Writable<RunFilter>, name: 'created' | 'due', value: string, now: number): string | null {
  const [, sign = '<', time = ''] = /^([<>])?(.+)$/.exec(value) ?? [];
  const [, amount, unit] = /^(\d+)([smhdw])$/.exec(time) ?? [];
  const ms = amount === undefined ? null : Number(amount) * unitMs[unit!]!;
  const date = Date.parse(time);
  if (ms === null && Number.isNaN(date)) return `${name}: takes ${qualifiers[name]}`;
  if (name === 'due') {
    // The API has the filter `dueBefore`, but none for runs that are due after a time.
    if (sign === '>') return `due: supports only <: ${qualifiers['due']}`;
    return set(filter, name, 'dueBefore', ms === null ? date : now + ms);
  }
  // A duration is an age: `<1h` finds runs that were created within the last hour. A date is not: `<` finds runs that
  // were created before it.
  const isFrom = (sign === '<') === (ms !== null);
  return set(filter, name, isFrom ? 'from' : 'before', ms === null ? date : now - ms);
}

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1).replace(/"$/, '').replace(/\\(.)/g, '$1') : value;

const quoted = (value: string): string => (/[\s"]/.test(value) ? `"${value.replace(/(["\\])/g, '\\$1')}"` : value);
