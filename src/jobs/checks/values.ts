/** Checks of single values: each returns a valid value, or throws a refusal that says which values are valid. */
import type { Asker } from '../../apply.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { Refusal } from '../../refusal.ts';
import type { Tags } from '../../model/job.ts';
import { checkJsonText } from '../../model/json.ts';
import { isOwnType } from '../../model/own-type.ts';
import { firstTypeVersion, typeVersionMax } from '../../model/type-version.ts';

export const nameMax = 255;
export const keyMax = 512;
const whyMax = 4096;
const priorityMax = 1_000_000;
/** The last millisecond of the year 9999: the highest time of a job, and the highest duration in milliseconds. */
export const timeMax = 253_402_300_799_999;

/** Checks a name: one line of text without control characters, because people read it and patterns match it. */
export function checkName(what: string, name: unknown): string {
  const text = checkText(what, name, nameMax);
  // U+FFFE and U+FFFF are refused because SQLite's GLOB treats them as U+FFFD: patterns would match other names than in
  // the other stores.
  if (/[\p{Cc}\uFFFE\uFFFF]/u.test(text)) {
    const message = `the ${what} has control characters: use letters, digits and punctuation`;
    throw new Refusal('malformed.name', message, { what });
  }
  return text;
}

/**
 * Checks the name of a job type that a run, a task or a definition is created with. It can be written without quotes in
 * a shell, a URL and a list with commas, and is never taken for a pattern. Names of Bedrock jobs need only `checkName`.
 */
export const checkTypeName = (name: unknown): string => checkPlainName('a job type', name);

/** For runs that a request asks for by the name of their type. */
export function checkRunnableType(name: unknown): string {
  const checked = checkTypeName(name);
  if (!isOwnType(checked)) return checked;
  throw new Refusal('malformed.name', `cannot create a run of type ${checked}: types that begin with stint. are Stint's own`, {
    name: checked,
  });
}

export function checkPlainName(what: string, name: unknown): string {
  if (typeof name === 'string' && /^[\p{L}\p{N}][\p{L}\p{N}._:/-]{0,199}$/u.test(name)) return checkName(what, name);
  const shown = String(name).slice(0, 200);
  const rule = 'start with a letter or digit, then write letters, digits and . _ : / -, at most 200 characters';
  throw new Refusal('malformed.name', `cannot use ${JSON.stringify(shown)} as the name of ${what}: ${rule}`, {
    name: shown,
  });
}

/** Checks a text: not empty, at most `max` bytes, and only characters that every database stores unchanged. */
export function checkText(what: string, text: unknown, max: number): string {
  if (typeof text === 'string' && text !== '' && isKept(text, max)) return text;
  const message = `the ${what} must be a text of 1 to ${max} bytes without NUL or half a surrogate pair`;
  throw new Refusal('malformed.name', message, { what });
}

/**
 * Whether the text has at most `max` bytes and every database stores it unchanged. PostgreSQL cannot store NUL, and
 * UTF-8 cannot encode an unpaired surrogate.
 */
const isKept = (text: string, max: number): boolean =>
  text.length <= max && Buffer.byteLength(text) <= max && text.isWellFormed() && !text.includes('\0');

export function checkWhole(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value + 0;
  const message = `${name} must be a whole number from ${min} to ${max}`;
  throw new Refusal('malformed.number', message, { name, value: shown(value) });
}

export const checkPriority = (priority: unknown): number => checkWhole('priority', priority, -priorityMax, priorityMax);

export const checkTypeVersion = (version: unknown): number =>
  checkWhole('typeVersion', version, firstTypeVersion, typeVersionMax);

export const checkTime = (name: string, time: unknown): number => checkWhole(name, time, 0, timeMax);

export function checkId(id: unknown): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw new Refusal('malformed.id', 'an id is a whole number between 1 and 9007199254740991', { id: shown(id) });
}

/** Refuses a missing fence: without it, a write by a former holder of the job would not be detected. */
export const checkFence = (fence: unknown): number => checkWhole('fence', fence, 1, Number.MAX_SAFE_INTEGER);

export function checkFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new Refusal('malformed.option', `${name} must be true or false`, { name });
}

export function checkOneOf<T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T;
  throw new Refusal('malformed.option', `${name} must be one of ${allowed.join(', ')}`, { name, value: shown(value) });
}

export function checkObject<T extends object>(what: string, value: T): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal('malformed.option', `${what} must be an object`, { what });
}

export function checkFields<T extends object>(what: string, value: T, allowed: readonly string[]): T {
  const unknown = hasOnlyFields(checkObject(what, value), allowed) ? undefined : Object.keys(value).find((field) => !allowed.includes(field));
  if (unknown === undefined) return value;
  const name = unknown.slice(0, 40);
  const message =
    `${what} has no ${JSON.stringify(name)}: it can have ${allowed.join(', ')}${didYouMean(name, allowed)}`;
  throw new Refusal('malformed.option', message, { what, field: name });
}

/** Whether all fields are allowed, also those of the prototype. Makes no list of the fields: outcomes are checked by the thousand. */
function hasOnlyFields(value: object, allowed: readonly string[]): boolean {
  for (const field in value) if (!allowed.includes(field)) return false;
  return true;
}

export const givenFields = (what: string, value: object, allowed: readonly string[]): [string, never][] =>
  Object.entries(checkFields(what, value, allowed)).filter((entry): entry is [string, never] => entry[1] !== undefined);

export function checkList<T, R>(what: string, list: readonly T[], max: number, check: (item: T) => R): R[] {
  // A loop: `Array.from` takes seven times as long for a list of one, and `map` would skip the holes of a list.
  if (Array.isArray(list) && list.length <= max) {
    const checked: R[] = [];
    for (let index = 0; index < list.length; index++) checked.push(check(list[index] as T));
    return checked;
  }
  throw new Refusal('malformed.option', `${what} must be a list of at most ${max}`, { what });
}

export function checkAsker<A extends Asker>(asker: A): A {
  checkName('asker', checkFields('who asks', asker, ['by', 'why', 'code']).by);
  if (asker.why !== undefined) checkText('reason', asker.why, whyMax);
  return asker;
}

/** Describes a wrong value in a refusal: up to 40 characters of a text or number, and only the type of other values. */
const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 40) : typeof value;

const tagsMax = 32;
const unsafeNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export function checkJson(what: string, text: unknown): string {
  if (typeof text === 'string') return checkJsonText(text);
  throw new Refusal('malformed.json', `${what} must be JSON as a text, not a value of type ${typeof text}`, { what });
}

export function checkTags(tags: Tags): Tags {
  const entries = Object.entries(checkObject('tags', tags));
  if (entries.length > tagsMax) {
    throw new Refusal('malformed.option', `a job has at most ${tagsMax} tags`, { count: entries.length });
  }
  for (const [name, value] of entries) {
    if (unsafeNames.includes(name)) {
      throw new Refusal('malformed.name', `a tag cannot be named ${name}`, { what: 'tag name' });
    }
    checkName('tag name', name);
    if (value !== '') checkText(`tag ${name}`, value, nameMax);
  }
  return Object.fromEntries(entries);
}
