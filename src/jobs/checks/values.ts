/** Checks of single values: each returns its argument, or refuses it with what is valid. */
import type { Asker } from '../../apply.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { Refusal } from '../../refusal.ts';
import type { Tags } from '../../model/job.ts';
import { checkJsonText } from '../../model/json.ts';

export const nameMax = 255;
export const keyMax = 512;
const whyMax = 4096;
const priorityMax = 1_000_000;
/** The end of the year 9999, the last of the calendar. */
export const timeMax = 253_402_300_799_999;

/** A name that people read and patterns match: one line of text. */
export function checkName(what: string, name: unknown): string {
  const text = checkText(what, name, nameMax);
  // SQLite's GLOB treats U+FFFE and U+FFFF as U+FFFD.
  if (/[\p{Cc}\uFFFE\uFFFF]/u.test(text)) {
    const message = `the ${what} has control characters: use letters, digits and punctuation`;
    throw new Refusal('malformed.name', message, { what });
  }
  return text;
}

/** Any text that is not empty and that every database stores unchanged. */
export function checkText(what: string, text: unknown, max: number): string {
  if (typeof text === 'string' && text !== '' && isKept(text, max)) return text;
  const message = `the ${what} must be a text of 1 to ${max} bytes without NUL or half a surrogate pair`;
  throw new Refusal('malformed.name', message, { what });
}

/** PostgreSQL stores no NUL, and UTF-8 no unpaired surrogate. */
const isKept = (text: string, max: number): boolean =>
  text.length <= max && Buffer.byteLength(text) <= max && text.isWellFormed() && !text.includes('\0');

export function checkWhole(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value + 0;
  const message = `${name} must be a whole number from ${min} to ${max}`;
  throw new Refusal('malformed.number', message, { name, value: shown(value) });
}

export const checkPriority = (priority: unknown): number => checkWhole('priority', priority, -priorityMax, priorityMax);

export const checkTime = (name: string, time: unknown): number => checkWhole(name, time, 0, timeMax);

export function checkId(id: unknown): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw new Refusal('malformed.id', 'an id is a whole number between 1 and 9007199254740991', { id: shown(id) });
}

/** Required: without a fence, a write by a former holder would not be detected. */
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

/** An object without fields other than those named. */
export function checkFields<T extends object>(what: string, value: T, allowed: readonly string[]): T {
  const unknown = Object.keys(checkObject(what, value)).find((field) => !allowed.includes(field));
  if (unknown === undefined) return value;
  const name = unknown.slice(0, 40);
  const message = `${what} has no ${JSON.stringify(name)}: it can have ${allowed.join(', ')}${didYouMean(name, allowed)}`;
  throw new Refusal('malformed.option', message, { what, field: name });
}

/** The fields of such an object that are not undefined. */
export const givenFields = (what: string, value: object, allowed: readonly string[]): [string, never][] =>
  Object.entries(checkFields(what, value, allowed)).filter((entry): entry is [string, never] => entry[1] !== undefined);

export function checkList<T, R>(what: string, list: readonly T[], max: number, check: (item: T) => R): R[] {
  if (Array.isArray(list) && list.length <= max) return Array.from(list, check);
  throw new Refusal('malformed.option', `${what} must be a list of at most ${max}`, { what });
}

/** Actor and reason. */
export function checkAsker<A extends Asker>(asker: A): A {
  checkName('asker', checkFields('who asks', asker, ['by', 'why', 'code']).by);
  if (asker.why !== undefined) checkText('reason', asker.why, whyMax);
  return asker;
}

/** A short text that is safe to show; for an object, whose members may throw when read, only its type. */
const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 40) : typeof value;

const tagsMax = 32;
const unsafeNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Valid JSON text. */
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
