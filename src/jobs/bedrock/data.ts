/** The data of queued jobs: JSON kept as text, with the mark that tells a mock from a real job. */
import type { Job } from '../../model/job.ts';
import { checkJsonText, exactText, isObject, mergePatch, parseExact, parseJson, type Json } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';

export const noData = '{}';

/** Under it workers are told how often a job was handed out in vain. It is counted by the queue, not kept here. */
export const countKey = 'retryAfterCount';
const markKey = 'mockRequest';

/** An object that says something, or literally `{}`. Refuses `malformed.json`. */
export function checkObjectText(data: string): string {
  const text = checkJsonText(data);
  const isEmpty = /^\s*\{\s*\}\s*$/.test(text);
  if (/^\s*\{/.test(text) && (text === noData || !isEmpty)) return text;
  throw new Refusal('malformed.json', 'the data of a new job must be a JSON object', { path: '$' });
}

/** Whether the data carries the mark, whatever its value. */
export function isMarked(data: string): boolean {
  const value = parsedIfHas(data, markKey);
  return isObject(value) && Object.hasOwn(value, markKey) && value[markKey] !== null;
}

export const isMock = (job: Job): boolean => job.kind === 'mock';

/** The data with the mark that fits the job: mocks always have it, real jobs never. */
export function marked(data: string, isToBeMock: boolean): string {
  const isMarkedNow = isMarked(data);
  if (!isToBeMock) return isMarkedNow ? without(data, markKey) : data;
  return isMarkedNow || !isObject(parseJson(data)) ? data : exactText({ ...members(data), [markKey]: true });
}

/** What workers were told of the count comes back with their data, and is not kept. */
export const uncounted = (data: string): string =>
  isObject(parsedIfHas(data, countKey)) ? without(data, countKey) : data;

/** What a unique job's data becomes when it is created again. */
export const merged = (stored: string, given: string): string =>
  exactText(mergePatch(parseExact(stored), parseExact(given)));

/** Whether the worker asks for the job to go after this time, though it repeats. */
export function asksForDeletion(data: string): boolean {
  const value = parsedIfHas(data, 'delete');
  return isObject(value) && (value['delete'] === true || value['delete'] === 'true');
}

/** Null without a closer look when the key cannot be in it; a key may be written with escapes. */
const parsedIfHas = (data: string, key: string): Json =>
  data.includes(key) || data.includes('\\u') ? parseJson(data) : null;

const members = (data: string): Record<string, Json> => ({ ...(parseExact(data) as Record<string, Json>) });

function without(data: string, key: string): string {
  const { [key]: gone, ...rest } = members(data);
  return gone === undefined ? data : exactText(rest);
}
