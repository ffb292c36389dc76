/** Reads the parameters of a request from its headers, as Bedrock does. The keys of `Headers` are in lower case. */
import { namesBytesMax } from '../jobs/bedrock/check.ts';
import { isRefusal } from '../refusal.ts';
import type { TypeNames } from '../store/store.ts';
import { parseTimestamp } from '../time/instant.ts';
import { StatusError } from './status.ts';

export type Headers = ReadonlyMap<string, string>;

const int64Max = 9_223_372_036_854_775_807n;

/** Returns the value of a header; undefined: the header is missing or empty. */
export const textOf = (headers: Headers, name: string): string | undefined => headers.get(name) || undefined;

/** Like `atoi` of C: skips leading whitespace, reads sign and digits, and ignores the rest. Without digits: 0. */
export function atoi(text: string): number {
  const [, digits] = /^[ \t\n\v\f\r]*([+-]?\d{1,18})/.exec(text) ?? [];
  return digits === undefined ? 0 : Number(digits) + 0;
}

export const isOn = (headers: Headers, name: string): boolean => {
  const text = headers.get(name) ?? '';
  return text.toLowerCase() === 'true' || atoi(text) !== 0;
};

/**
 * Returns the jobID. Throws a 402 unless it is a 64-bit integer in decimal, without leading zeros. Returns 0, which is
 * no job's id, for integers that cannot be an id.
 */
export function jobIdOf(headers: Headers): number {
  const text = textOf(headers, 'jobid');
  if (text === undefined) throw new StatusError('402 Missing jobID');
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text) || !isInt64(BigInt(text))) throw new StatusError('402 Malformed jobID');
  return idOf(Number(text));
}

/** Returns the id of the parent; undefined: the text is missing or 0, so there is no parent. */
export function parentIdOf(text: string | undefined): number | undefined {
  const id = text === undefined ? 0 : atoi(text);
  return id === 0 ? undefined : idOf(id);
}

export const jobIdsOf = (text: string): number[] =>
  text.split(',').map((part) => idOf(atoi(part))).filter((id) => id > 0);

export const priorityOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : atoi(text);

/**
 * Reads `firstRun` or `nextRun`; undefined: missing or empty. Returns NaN for an unreadable time instead of throwing.
 * The queue refuses NaN after other checks, so that a request with several errors gets the same status as from Bedrock.
 */
export function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return parseTimestamp(text);
  } catch (error) {
    if (isRefusal(error)) return NaN;
    throw error;
  }
}

/** Reads the names of the jobs to hand out: one name is a pattern; several names, separated by commas, are exact. */
export function namesOf(headers: Headers): TypeNames {
  const text = textOf(headers, 'name');
  if (text === undefined) throw new StatusError('402 Missing name');
  if (Buffer.byteLength(text) > namesBytesMax) throw new StatusError('402 Malformed name');
  const exact = listOf(text);
  return exact.length > 1 ? { exact } : { glob: text };
}

export const listOf = (text: string): string[] =>
  text.split(',').map((item) => item.replace(/^ +/, '')).filter((item) => item !== '');

export const isMocked = (headers: Headers): boolean => headers.has('mockrequest');

const isInt64 = (value: bigint): boolean => value <= int64Max && value >= -int64Max - 1n;

const idOf = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);
