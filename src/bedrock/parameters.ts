/** The parameters: what the headers of a request say, as Bedrock reads them. Their names are in lower case here. */
import { namesBytesMax } from '../jobs/bedrock/check.ts';
import { isRefusal } from '../refusal.ts';
import type { TypeNames } from '../store/store.ts';
import { parseTimestamp } from '../time/instant.ts';
import { StatusError } from './status.ts';

export type Headers = ReadonlyMap<string, string>;

const int64Max = 9_223_372_036_854_775_807n;

/** What is said and not empty. */
export const textOf = (headers: Headers, name: string): string | undefined => headers.get(name) || undefined;

/** As C does: blanks, a sign and digits count, what follows does not, and what is no number is 0. */
export function atoi(text: string): number {
  const [, digits] = /^[ \t\n\v\f\r]*([+-]?\d{1,18})/.exec(text) ?? [];
  return digits === undefined ? 0 : Number(digits) + 0;
}

/** `true`, or a number that is not 0. */
export const isOn = (headers: Headers, name: string): boolean => {
  const text = headers.get(name) ?? '';
  return text.toLowerCase() === 'true' || atoi(text) !== 0;
};

/** A number in its canonical form; 0, which no job has, for those that no job can have. */
export function jobIdOf(headers: Headers): number {
  const text = textOf(headers, 'jobid');
  if (text === undefined) throw new StatusError('402 Missing jobID');
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text) || !isInt64(BigInt(text))) throw new StatusError('402 Malformed jobID');
  return idOf(Number(text));
}

/** Not 0, which says that there is none. */
export function parentIdOf(text: string | undefined): number | undefined {
  const id = text === undefined ? 0 : atoi(text);
  return id === 0 ? undefined : idOf(id);
}

/** Several, separated by commas; what is no id of a job is passed over. */
export const jobIdsOf = (text: string): number[] =>
  text.split(',').map((part) => idOf(atoi(part))).filter((id) => id > 0);

export const priorityOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : atoi(text);

/** `firstRun` or `nextRun`. One that cannot be read is NaN, which the door refuses when its turn has come. */
export function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return parseTimestamp(text);
  } catch (error) {
    if (isRefusal(error)) return NaN;
    throw error;
  }
}

/** What a worker asks for: one pattern, or several exact names. */
export function namesOf(headers: Headers): TypeNames {
  const text = textOf(headers, 'name');
  if (text === undefined) throw new StatusError('402 Missing name');
  if (Buffer.byteLength(text) > namesBytesMax) throw new StatusError('402 Malformed name');
  const exact = listOf(text);
  return exact.length > 1 ? { exact } : { glob: text };
}

/** Without their leading spaces; empty ones are dropped. */
export const listOf = (text: string): string[] =>
  text.split(',').map((item) => item.replace(/^ +/, '')).filter((item) => item !== '');

/** Mocks have the header; what it says does not matter. */
export const isMocked = (headers: Headers): boolean => headers.has('mockrequest');

const isInt64 = (value: bigint): boolean => value <= int64Max && value >= -int64Max - 1n;

const idOf = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);
