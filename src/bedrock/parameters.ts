/** The parameters of a request: reads its headers as Bedrock does. Header names are in lower case here. */
import { namesBytesMax } from '../jobs/bedrock/check.ts';
import { isRefusal } from '../refusal.ts';
import type { TypeNames } from '../store/store.ts';
import { parseTimestamp } from '../time/instant.ts';
import { StatusError } from './status.ts';

export type Headers = ReadonlyMap<string, string>;

const int64Max = 9_223_372_036_854_775_807n;

/** The value if it is not empty. */
export const textOf = (headers: Headers, name: string): string | undefined => headers.get(name) || undefined;

/** `atoi` of C: skips leading whitespace, reads sign and digits, ignores the rest, and returns 0 without a number. */
export function atoi(text: string): number {
  const [, digits] = /^[ \t\n\v\f\r]*([+-]?\d{1,18})/.exec(text) ?? [];
  return digits === undefined ? 0 : Number(digits) + 0;
}

/** `true`, or a number that is not 0. */
export const isOn = (headers: Headers, name: string): boolean => {
  const text = headers.get(name) ?? '';
  return text.toLowerCase() === 'true' || atoi(text) !== 0;
};

/** Requires canonical decimal form. Returns 0, which no job has, for numbers outside the range of ids. */
export function jobIdOf(headers: Headers): number {
  const text = textOf(headers, 'jobid');
  if (text === undefined) throw new StatusError('402 Missing jobID');
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text) || !isInt64(BigInt(text))) throw new StatusError('402 Malformed jobID');
  return idOf(Number(text));
}

/** 0 means that there is no parent. */
export function parentIdOf(text: string | undefined): number | undefined {
  const id = text === undefined ? 0 : atoi(text);
  return id === 0 ? undefined : idOf(id);
}

/** Ids separated by commas; skips invalid ones. */
export const jobIdsOf = (text: string): number[] =>
  text.split(',').map((part) => idOf(atoi(part))).filter((id) => id > 0);

export const priorityOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : atoi(text);

/** `firstRun` or `nextRun`. An unreadable time becomes NaN, which the queue refuses in the order of its checks. */
export function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return parseTimestamp(text);
  } catch (error) {
    if (isRefusal(error)) return NaN;
    throw error;
  }
}

/** One name is a pattern; several names are exact. */
export function namesOf(headers: Headers): TypeNames {
  const text = textOf(headers, 'name');
  if (text === undefined) throw new StatusError('402 Missing name');
  if (Buffer.byteLength(text) > namesBytesMax) throw new StatusError('402 Malformed name');
  const exact = listOf(text);
  return exact.length > 1 ? { exact } : { glob: text };
}

/** Trims leading spaces and drops empty items. */
export const listOf = (text: string): string[] =>
  text.split(',').map((item) => item.replace(/^ +/, '')).filter((item) => item !== '');

/** The presence of the header counts, not its value. */
export const isMocked = (headers: Headers): boolean => headers.has('mockrequest');

const isInt64 = (value: bigint): boolean => value <= int64Max && value >= -int64Max - 1n;

const idOf = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);
