/** Translates the filter of an HTTP request into a query of the store. */
import { dueTimeOf, type DueNames } from '../engine/declare/due-time.ts';
import { endedStandings, openStandings, type Query, type Standing } from '../store/query.ts';
import { parseInstant } from '../time/instant.ts';
import { Refusal } from '../refusal.ts';
import type { RunFilter } from './contract.ts';
import { HttpRefusal } from './problems.ts';
import { isSecretName } from '../model/secrets.ts';
import type { Visibility } from './access/redact.ts';

export function queryOf(filter: RunFilter, visibility: Visibility): Query {
  const { state, type, def, kind, parent, tag, from, before, dueBefore, error, payload, q } = filter;
  return {
    kinds: kind ?? (parent === undefined ? ['run', 'bedrock'] : ['run', 'task', 'bedrock', 'mock']),
    ...(state === undefined ? {} : { standings: standingsOf(state) }),
    ...(type === undefined ? {} : typeOf(type)),
    ...(def === undefined ? {} : { def }),
    ...(parent === undefined ? {} : { parent }),
    ...(tag === undefined ? {} : { tags: tagsOf(tag, visibility) }),
    ...(from === undefined ? {} : { createdFrom: instantOf(from) }),
    ...(before === undefined ? {} : { createdBefore: instantOf(before) }),
    ...(dueBefore === undefined ? {} : { dueBefore: instantOf(dueBefore) }),
    ...(error === undefined ? {} : { error }),
    ...(payload === undefined ? {} : { input: payloadOf(payload, visibility) }),
    ...(q === undefined ? {} : { text: q }),
  };
}

/** Parses a time: milliseconds since 1970 as number or digits, or ISO 8601. */
export function instantOf(time: number | string): number {
  if (typeof time === 'number') return time;
  return /^\d{1,15}$/.test(time) ? Number(time) : parseInstant(time);
}

export function dueField(request: DueNames<number | string>): { readonly due?: number } {
  const time = dueTimeOf(request);
  return time === undefined ? {} : { due: instantOf(time) };
}

const standingsOf = (words: NonNullable<RunFilter['state']>): Standing[] => [
  ...new Set(words.flatMap((word) => (word === 'open' ? openStandings : word === 'ended' ? endedStandings : [word]))),
];

const typeOf = (types: readonly string[]): Pick<Query, 'types' | 'glob'> =>
  types.length === 1 && /[*?[]/.test(types[0]!) ? { glob: types[0]! } : { types };

export function tagsOf(pairs: readonly string[], visibility: Visibility): Record<string, string> {
  const tags = pairs.map((pair) => cut(pair, 'a tag'));
  if (visibility !== 'full' && tags.some(([name]) => isSecretName(name))) throw hidden('tags');
  return Object.fromEntries(tags);
}

/**
 * Parses `path:value`. The value is converted if it is a number, `true`, `false` or `null`; otherwise it is a text. A
 * value in double quotes is always a text.
 */
function payloadOf(text: string, visibility: Visibility): NonNullable<Query['input']> {
  const [where, value] = cut(text, 'a payload filter');
  const path = where.split('.');
  if (visibility === 'shape' || (visibility !== 'full' && path.some(isSecretName))) throw hidden('payloads');
  return { path, equals: scalarOf(value) };
}

/** The refusal of a search for a value that the caller sees redacted: the result would reveal the value. */
const hidden = (what: string): HttpRefusal =>
  new HttpRefusal('forbidden', `this token may not see this part of ${what}, and cannot search it`);

function scalarOf(text: string): string | number | boolean | null {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  if (/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
}

function cut(pair: string, what: string): [string, string] {
  const colon = pair.indexOf(':');
  if (colon > 0) return [pair.slice(0, colon), pair.slice(colon + 1)];
  throw new Refusal('malformed.option', `${what} has the form name:value`, { given: pair.slice(0, 40) });
}
