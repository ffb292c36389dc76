/** Validates queries before they reach a store, so that all stores refuse the same queries. */
import { parseGlob } from '../../model/glob.ts';
import { foreignCursor } from '../../store/feed-cursor.ts';
import { kinds } from '../../model/state.ts';
import { Refusal } from '../../refusal.ts';
import { pageLimitMax, standings, type PageRequest, type Query } from '../../store/query.ts';
import {
  checkFields, checkId, checkList, checkName, checkOneOf, checkText, checkTime, checkWhole, nameMax, givenFields,
  checkTags,
} from './values.ts';

const listMax = 1000;
const partMax = 1000;
const pathMax = 64;
export const eventsMax = 10_000;

const checks: { readonly [F in keyof Query]-?: (value: never) => unknown } = {
  kinds: (value) => checkList('kinds', value, listMax, (kind) => checkOneOf('kind', kind, kinds)),
  types: (value) => checkList('types', value, listMax, (type) => checkName('type', type)),
  glob: (value) => checkGlob(value),
  def: (value) => checkName('def', value),
  parent: (value) => value === null || checkId(value),
  standings: (value) =>
    checkList('standings', value, listMax, (standing) => checkOneOf('standing', standing, standings)),
  tags: checkTags,
  createdFrom: (value) => checkTime('createdFrom', value),
  createdBefore: (value) => checkTime('createdBefore', value),
  dueBefore: (value) => checkTime('dueBefore', value),
  error: (value) => checkText('part of an error', value, partMax),
  input: checkInput,
  text: (value) => checkText('text to look for', value, partMax),
};

export function checkQuery(query: Query): Query {
  const asked = givenFields('a query', query, Object.keys(checks));
  for (const [field, value] of asked) checks[field as keyof Query](value);
  return Object.fromEntries(asked);
}

export function checkPage(page: PageRequest = {}): PageRequest {
  const { order, after, limit, patienceMs } = checkFields('a page', page, ['order', 'after', 'limit', 'patienceMs']);
  return {
    ...(order === undefined ? {} : { order: checkOneOf('order', order, ['newest', 'oldest']) }),
    ...(after === undefined ? {} : { after: checkId(after) }),
    ...(limit === undefined ? {} : { limit: checkLimit(limit, pageLimitMax) }),
    ...(patienceMs === undefined ? {} : { patienceMs: checkWhole('patienceMs', patienceMs, 0, 3_600_000) }),
  };
}

export const checkLimit = (limit: unknown, max: number): number => checkWhole('limit', limit, 1, max);

/** Checks the type, size and characters of a cursor; only the store that made a cursor can parse it. */
export function checkCursor(cursor: unknown): string | null {
  if (cursor === null || (typeof cursor === 'string' && /^[!-~]{1,200}$/.test(cursor))) return cursor;
  throw foreignCursor();
}

export function checkGlob(pattern: unknown): string {
  if (typeof pattern === 'string') return parseGlob(pattern).text;
  throw new Refusal('malformed.pattern', 'cannot read the pattern: it is no text');
}

function checkInput(input: NonNullable<Query['input']>): void {
  const { path, equals } = checkFields('input', input, ['path', 'equals']);
  checkList('input.path', path, pathMax, (name) => checkText('name in input.path', name, nameMax));
  if (equals === null || typeof equals === 'boolean' || Number.isFinite(equals)) return;
  if (typeof equals !== 'string') {
    throw new Refusal('malformed.option', 'input.equals must be a text, a number, true, false or null');
  }
  if (equals !== '') checkText('input.equals', equals, partMax);
}
