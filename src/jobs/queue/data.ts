/** The data of queued jobs: JSON objects kept as text, and the mark that tells a mock from a real job. */
import type { Job } from '../../model/job.ts';
import { jsonText, mergePatch, parseJson, type Json, type JsonObject } from '../../model/json.ts';

export const noData = '{}';

/** Whether the data carries the mark, whatever its value. */
export const isMarked = (data: string): boolean => {
  const parsed = parseJson(data);
  return isObject(parsed) && Object.hasOwn(parsed, 'mockRequest') && parsed['mockRequest'] !== null;
};

export const isMock = (job: Job): boolean => job.kind === 'mock';

/** The data with the mark that fits the job: mocks always have it, real jobs never. */
export function marked(data: string, shallBeMock: boolean): string {
  const parsed = parseJson(data);
  if (!isObject(parsed)) return data;
  const { mockRequest, ...rest } = parsed;
  if (shallBeMock) return jsonText({ ...rest, mockRequest: true });
  return mockRequest === undefined ? data : jsonText(rest);
}

/** What a unique job's data becomes when it is created again. */
export const merged = (stored: string, given: string): string => jsonText(mergePatch(parseJson(stored), parseJson(given)));

/** Whether the worker asks for the job to go after this time, though it repeats. */
export function asksForDeletion(data: string): boolean {
  const parsed = parseJson(data);
  return isObject(parsed) && (parsed['delete'] === true || parsed['delete'] === 'true');
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
