/** The data of Bedrock jobs: JSON text. The member `mockRequest` marks the data of a mock. */
import type { Command } from '../../model/command.ts';
import type { Job } from '../../model/job.ts';
import { checkExactText, exactText, isObject, mergePatch, parseExact, type Json } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { countKey, data as currentData } from '../../vocabulary/bedrock.ts';

export const noData = '{}';

const markKey = 'mockRequest';

/** Allows an object with members, or exactly `{}` without any space; refuses other data with `malformed.json`. */
export function checkObjectText(data: string): string {
  const text = checkExactText(data);
  const isEmpty = /^\s*\{\s*\}\s*$/.test(text);
  if (/^\s*\{/.test(text) && (text === noData || !isEmpty)) return text;
  throw new Refusal('malformed.json', 'the data of a new job must be a JSON object', { path: '$' });
}

/** Whether the data has the member `mockRequest`, with any value except null. */
export function isMarked(data: string): boolean {
  const value = parsedIfHas(data, markKey);
  return isObject(value) && Object.hasOwn(value, markKey) && value[markKey] !== null;
}

export const isMock = (job: Job): boolean => job.kind === 'mock';

/**
 * Adds the member `mockRequest` to the data of a mock, or removes it from the data of a real job. Data that is no
 * object stays unchanged.
 */
export function marked(data: string, isToBeMock: boolean): string {
  const isMarkedNow = isMarked(data);
  if (!isToBeMock) return isMarkedNow ? without(data, markKey) : data;
  return isMarkedNow || !isObject(parseExact(data)) ? data : exactText({ ...members(data), [markKey]: true });
}

/**
 * Removes the count of hand-outs, which a hand-out added to the data. Workers send the data back with this count, but
 * `handOuts` computes the count again.
 */
export const uncounted = (data: string): string =>
  isObject(parsedIfHas(data, countKey)) ? without(data, countKey) : data;

/**
 * Returns the edit that stores the members which the last hand-out added to the data, such as the count. These members
 * are computed while a job is open, so they must be stored before it ends.
 */
export function keepData(job: Job): readonly Command[] {
  const input = currentData(job);
  return input === job.input ? [] : [{ do: 'edit', edit: { input } }];
}

/** Returns the stored data of a unique job with the data of another create request merged into it. */
export const merged = (stored: string, given: string): string =>
  exactText(mergePatch(parseExact(stored), parseExact(given)));

/** Whether the worker's data has `"delete": true` (or `"true"`), which ends the job although it has a repeat rule. */
export function asksForDeletion(data: string): boolean {
  const value = parsedIfHas(data, 'delete');
  return isObject(value) && (value['delete'] === true || value['delete'] === 'true');
}

/**
 * Returns the parsed data; null, without the cost of parsing, if the data cannot contain the key. A text with `\u` is
 * parsed too, because the key may be written with escapes.
 */
const parsedIfHas = (data: string, key: string): Json =>
  data.includes(key) || data.includes('\\u') ? parseExact(data) : null;

const members = (data: string): Record<string, Json> => ({ ...(parseExact(data) as Record<string, Json>) });

function without(data: string, key: string): string {
  const { [key]: gone, ...rest } = members(data);
  return gone === undefined ? data : exactText(rest);
}
