/** The data of queued jobs: JSON text, with the mark that distinguishes a mock from a real job. */
import type { Command } from '../../model/command.ts';
import type { Job } from '../../model/job.ts';
import { checkExactText, exactText, isObject, mergePatch, parseExact, type Json } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { countKey, data as currentData } from '../../vocabulary/bedrock.ts';

export const noData = '{}';

const markKey = 'mockRequest';

/** A non-empty object, or exactly `{}`. Refuses `malformed.json`. */
export function checkObjectText(data: string): string {
  const text = checkExactText(data);
  const isEmpty = /^\s*\{\s*\}\s*$/.test(text);
  if (/^\s*\{/.test(text) && (text === noData || !isEmpty)) return text;
  throw new Refusal('malformed.json', 'the data of a new job must be a JSON object', { path: '$' });
}

/** Whether the data has the mark, with any value. */
export function isMarked(data: string): boolean {
  const value = parsedIfHas(data, markKey);
  return isObject(value) && Object.hasOwn(value, markKey) && value[markKey] !== null;
}

export const isMock = (job: Job): boolean => job.kind === 'mock';

/** The data with the mark for mocks, and without it for real jobs. */
export function marked(data: string, isToBeMock: boolean): string {
  const isMarkedNow = isMarked(data);
  if (!isToBeMock) return isMarkedNow ? without(data, markKey) : data;
  return isMarkedNow || !isObject(parseExact(data)) ? data : exactText({ ...members(data), [markKey]: true });
}

/** Removes the count that a hand-out added: workers send it back with their data, but the queue counts by itself. */
export const uncounted = (data: string): string =>
  isObject(parsedIfHas(data, countKey)) ? without(data, countKey) : data;

/** Before a job ends: an ended job keeps the members that its last hand-out added, such as the count. */
export function keepData(job: Job): readonly Command[] {
  const input = currentData(job);
  return input === job.input ? [] : [{ do: 'edit', edit: { input } }];
}

/** The data of a unique job that is created again. */
export const merged = (stored: string, given: string): string =>
  exactText(mergePatch(parseExact(stored), parseExact(given)));

/** Whether the worker asks that the job be deleted after this time although it repeats. */
export function asksForDeletion(data: string): boolean {
  const value = parsedIfHas(data, 'delete');
  return isObject(value) && (value['delete'] === true || value['delete'] === 'true');
}

/** Null without parsing if the key cannot be in the text; a key may be written with escapes. */
const parsedIfHas = (data: string, key: string): Json =>
  data.includes(key) || data.includes('\\u') ? parseExact(data) : null;

const members = (data: string): Record<string, Json> => ({ ...(parseExact(data) as Record<string, Json>) });

function without(data: string, key: string): string {
  const { [key]: gone, ...rest } = members(data);
  return gone === undefined ? data : exactText(rest);
}
