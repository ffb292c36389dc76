/** Converts any thrown value to the error that is stored with a job: JSON of limited size. Never throws. */
import type { ErrorCause, JobError } from '../../model/job.ts';
import { jsonText } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { Cancelled, TimedOut } from '../handler/errors.ts';
import { HandlerCrashed, MissingOutput } from '../isolation/isolation.ts';

const messageMax = 4_000;
const causeMessageMax = 1_000;
const stackMax = 8_000;
const nameMax = 200;
const causesMax = 20;
const dataLimits = { bytes: 65_536, depth: 32 };

/** Returns the error to store. Leaves out every part of the thrown value that throws when it is read. */
export function storedError(error: unknown): JobError {
  const stack = read(() => stackOf(error));
  const data = read(() => dataOf(error));
  const causes = causesOf(error);
  return {
    code: codeOf(error),
    message: messageOf(error),
    ...namesOf(error),
    ...(causes.length === 0 ? {} : { causes }),
    ...(data === undefined ? {} : { data }),
    ...(stack === undefined ? {} : { stack }),
  };
}

/** Like `instanceof`, but returns false if `instanceof` throws: a handler can throw a proxy that throws on access. */
export function isA<T>(kind: new (...values: never[]) => T, value: unknown): value is T {
  try {
    return value instanceof kind;
  } catch {
    return false;
  }
}

/** Whether an error is a refusal of malformed data. A job with this error is not retried: it would fail again. */
export const isMalformedInput = (error: unknown): boolean => isA(Refusal, error) && error.code.startsWith('malformed.');

export const messageOf = (error: unknown, max = messageMax): string =>
  read(() => clean(textOf(error), max)) ?? 'the handler threw a value that cannot be read';

function codeOf(error: unknown): JobError['code'] {
  if (isA(TimedOut, error)) return 'timed out';
  if (isA(Cancelled, error)) return 'automation';
  if (isMalformedInput(error)) return 'could not start';
  return hasOurCode(error) ? error.code : 'unknown';
}

const hasOurCode = (error: unknown): error is HandlerCrashed | MissingOutput =>
  isA(HandlerCrashed, error) || isA(MissingOutput, error);

function textOf(error: unknown): string {
  if (isA(Error, error)) return error.message || error.name;
  if (typeof error !== 'object' || error === null) return `${typeof error}: ${String(error)}`;
  const { message } = error as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : `object: ${jsonText(error, dataLimits)}`;
}

/** Returns the class name of an error, and the `code` that the application or a library gave it. */
function namesOf(error: unknown): Pick<JobError, 'name' | 'id'> {
  const name = read(() => nameOf(error));
  const id = hasOurCode(error) ? undefined : read(() => ownCodeOf(error));
  return { ...(name === undefined ? {} : { name }), ...(id === undefined ? {} : { id }) };
}

function nameOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { name } = error as { name?: unknown };
  const isSpecific = typeof name === 'string' && name !== '' && name !== 'Error';
  const className = isSpecific ? name : isA(Error, error) ? error.constructor.name : 'Error';
  return className === 'Error' || className === '' ? undefined : clean(className, nameMax);
}

function ownCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? clean(String(code), nameMax) : undefined;
}

/** Returns the causes and inner errors, depth first, at most `causesMax`. Visits each once, so that a cycle ends. */
function causesOf(error: unknown): readonly ErrorCause[] {
  const causes: ErrorCause[] = [];
  const seen = new Set<unknown>([error]);
  const visit = (inner: unknown): void => {
    if (causes.length === causesMax || seen.has(inner)) return;
    seen.add(inner);
    causes.push({ message: messageOf(inner, causeMessageMax), ...namesOf(inner) });
    innerOf(inner).forEach(visit);
  };
  innerOf(error).forEach(visit);
  return causes;
}

const innerOf = (error: unknown): readonly unknown[] =>
  read(() => {
    if (!isA(Error, error)) return [];
    const { cause, errors } = error as { cause?: unknown; errors?: unknown };
    const inner: readonly unknown[] = isA(AggregateError, error) && Array.isArray(errors)
      ? errors.slice(0, causesMax)
      : [];
    return [...(cause === undefined ? [] : [cause]), ...inner];
  }) ?? [];

const stackOf = (error: unknown): string | undefined =>
  isA(Error, error) && typeof error.stack === 'string' ? clean(error.stack, stackMax) : undefined;

/**
 * Returns the data to store with an error, as a JSON value: the `detail` of a refusal, or the `data` of any other
 * thrown value. If a thrown object is no error and has no `data`, the object itself is the data. Undefined: there is no
 * data. Throws if JSON cannot hold the data.
 */
function dataOf(error: unknown): unknown {
  const data: unknown = isA(Refusal, error) ? error.detail : attachedTo(error);
  return data === undefined ? undefined : (JSON.parse(jsonText(data, dataLimits)) as unknown);
}

function attachedTo(error: unknown): unknown {
  const data = (error as { data?: unknown } | null)?.data;
  return data !== undefined || isA(Error, error) || typeof error !== 'object' || error === null ? data : error;
}

function read<T>(readValue: () => T): T | undefined {
  try {
    return readValue();
  } catch {
    return undefined;
  }
}

const clean = (text: string, max: number): string => text.toWellFormed().replaceAll('\u0000', '').slice(0, max);
