/**
 * The search: words with qualifiers, such as `state:failed type:mail* tag:team=a payload.customer.id:42 timeout`,
 * as the filter that the API takes. The text is what the URL keeps; the filter follows from it.
 */
import type { RunFilter } from '../../src/http/contract.ts';
import { standings } from './state/run-words.ts';

export interface Term {
  /** Empty for a free word. */
  readonly name: string;
  readonly value: string;
}

/** A filter, or what is wrong with the text. */
export type Read = { readonly filter: RunFilter; readonly mistake: null } | { readonly mistake: string };

export const qualifiers: Readonly<Record<string, string>> = {
  state: 'pending, held, running, succeeded, failed, cancelled, open, ended',
  type: 'a job type, or a pattern such as mail*',
  def: 'a definition',
  tag: 'name=value',
  error: 'a part of the error',
  created: '<1h younger than that, >1h older, or >2026-01-31',
  due: '<1h due before that time from now, or <2026-01-31',
  parent: 'the number of a run whose tasks are meant',
  kind: 'run, task, bedrock',
  payload: 'payload.path.to:value',
};

const words = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g;

export function termsOf(text: string): Term[] {
  return (text.match(words) ?? []).map((word) => {
    const [, name = '', value = word] = /^([a-z]+(?:\.[^:"]+)?):(.*)$/is.exec(word) ?? [];
    return { name, value: unquoted(value) };
  });
}

export const textOf = (terms: readonly Term[]): string =>
  terms.map(({ name, value }) => (name === '' ? quoted(value) : `${name}:${quoted(value)}`)).join(' ');

/** The text with one qualifier set to a value, or taken away by null. */
export function withTerm(text: string, name: string, value: string | null): string {
  const rest = termsOf(text).filter((term) => term.name !== name);
  return textOf(value === null ? rest : [...rest, { name, value }]);
}

export const valueOf = (text: string, name: string): string | null =>
  termsOf(text).find((term) => term.name === name)?.value ?? null;

export function readSearch(text: string, now: number): Read {
  const filter: Writable<RunFilter> = {};
  const free: string[] = [];
  for (const { name, value } of termsOf(text)) {
    if (name === '') free.push(value);
    else {
      const mistake = put(filter, name, value, now);
      if (mistake !== null) return { mistake };
    }
  }
  if (free.length > 0) filter.q = free.join(' ');
  return { filter, mistake: null };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Answers what is wrong with it, or null. */
function put(filter: Writable<RunFilter>, name: string, value: string, now: number): string | null {
  if (value === '') return `${name}: needs a value: ${qualifiers[name.split('.')[0]!] ?? 'something'}`;
  if (name.startsWith('payload.')) filter.payload = `${name.slice('payload.'.length)}:${value}`;
  else if (name === 'state') return putStates(filter, value);
  else if (name === 'type') filter.type = value.split(',');
  else if (name === 'def') filter.def = value;
  else if (name === 'error') filter.error = value;
  else if (name === 'tag') return putTag(filter, value);
  else if (name === 'kind') filter.kind = value.split(',') as NonNullable<RunFilter['kind']>;
  else if (name === 'parent') return putParent(filter, value);
  else if (name === 'created' || name === 'due') return putTime(filter, name, value, now);
  else return `there is no qualifier ${name}: use one of ${Object.keys(qualifiers).join(', ')}`;
  return null;
}

function putStates(filter: Writable<RunFilter>, value: string): string | null {
  const states = value.split(',') as NonNullable<RunFilter['state']>;
  const wrong = states.find((state) => ![...standings, 'open', 'ended'].includes(state));
  filter.state = states;
  return wrong === undefined ? null : `there is no state ${wrong}: use ${qualifiers['state']}`;
}

function putTag(filter: Writable<RunFilter>, value: string): string | null {
  const [, name, said] = /^([^=:]+)[=:](.*)$/s.exec(value) ?? [];
  filter.tag = [...(filter.tag ?? []), `${name}:${said}`];
  return name === undefined ? 'a tag is written tag:name=value' : null;
}

function putParent(filter: Writable<RunFilter>, value: string): string | null {
  filter.parent = Number(value);
  return /^\d{1,16}$/.test(value) ? null : 'parent: is the number of a run';
}

const unitMs: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

function putTime(filter: Writable<RunFilter>, name: 'created' | 'due', value: string, now: number): string | null {
  const [, sign = '<', said = ''] = /^([<>])?(.+)$/.exec(value) ?? [];
  const [, amount, unit] = /^(\d+)([smhdw])$/.exec(said) ?? [];
  const ms = amount === undefined ? null : Number(amount) * unitMs[unit!]!;
  const date = Date.parse(said);
  if (ms === null && Number.isNaN(date)) return `${name}: takes ${qualifiers[name]}`;
  if (name === 'due') filter.dueBefore = ms === null ? date : now + ms;
  // Younger than an hour is later than an hour ago.
  else if ((sign === '<') === (ms !== null)) filter.from = ms === null ? date : now - ms;
  else filter.before = ms === null ? date : now - ms;
  return null;
}

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1).replace(/"$/, '').replace(/\\(.)/g, '$1') : value;

const quoted = (value: string): string => (/[\s"]/.test(value) ? `"${value.replace(/(["\\])/g, '\\$1')}"` : value);
