/** The command that stores the outcome of a handler. */
import type { Command } from '../../model/command.ts';
import type { JobError } from '../../model/job.ts';
import { jsonText } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import type { Attempt } from './attempt.ts';
import { HandedOff } from '../handler/context.ts';
import { holderOfToken } from '../handler/token.ts';
import { HandlerCrashed, MissingOutput } from '../isolation/isolation.ts';
import { Cancelled, Fail, RetryAfter, Snooze, TimedOut } from '../handler/errors.ts';

/** The command for a value that a handler returned. */
export function commandForResult(value: unknown, { holding }: Attempt, now: number): Command {
  const { fence } = holding;
  if (isA(HandedOff, value)) {
    const until = value.withinMs === null ? null : now + value.withinMs;
    return { do: 'handOff', fence, holder: holderOfToken(value.token), until };
  }
  try {
    return { do: 'succeed', fence, result: jsonText(value) };
  } catch (error) {
    return { do: 'fail', fence, retryable: false, error: { code: 'missing output', message: messageOf(error) } };
  }
}

/** The command for a thrown value; null if the job is lost. */
export function commandForError(
  error: unknown,
  attempt: Attempt,
  now: number,
  isRetryable: (error: unknown) => boolean,
): Command | null {
  const { fence } = attempt.holding;
  if (attempt.isLost) return null;
  if (attempt.isReleased) return { do: 'release', fence };
  if (isA(Snooze, error)) return { do: 'release', fence, due: now + error.forMs };
  if (isA(RetryAfter, error)) {
    return { do: 'fail', fence, retryable: true, retryAt: now + error.afterMs, error: storedError(error) };
  }
  return { do: 'fail', fence, retryable: mayRetry(error, isRetryable), error: storedError(error) };
}

function mayRetry(error: unknown, isRetryable: (error: unknown) => boolean): boolean {
  if (isA(Fail, error) || isA(Cancelled, error) || isMalformed(error) || isA(MissingOutput, error)) return false;
  if (isA(TimedOut, error)) return true;
  try {
    return Boolean(isRetryable(error));
  } catch {
    return false;
  }
}

/** `instanceof` for a value that a handler threw: it may be a proxy that throws on every access. */
export function isA<T>(kind: new (...values: never[]) => T, value: unknown): value is T {
  try {
    return value instanceof kind;
  } catch {
    return false;
  }
}

/** Malformed input fails again on every retry; other refusals may not. */
const isMalformed = (error: unknown): boolean => isA(Refusal, error) && error.code.startsWith('malformed.');

const messageMax = 4_000;
const stackMax = 8_000;

/** The stored form of a thrown value of any kind, even if reading it throws. */
export function storedError(error: unknown): JobError {
  const stack = read(() => stackOf(error));
  const data = read(() => dataOf(error));
  return {
    code: codeOf(error),
    message: messageOf(error),
    ...(data === undefined ? {} : { data }),
    ...(stack === undefined ? {} : { stack }),
  };
}

function codeOf(error: unknown): JobError['code'] {
  if (isA(TimedOut, error)) return 'timed out';
  if (isA(Cancelled, error)) return 'automation';
  if (isMalformed(error)) return 'could not start';
  return isA(HandlerCrashed, error) || isA(MissingOutput, error) ? error.code : 'unknown';
}

const messageOf = (error: unknown): string => read(() => textOf(error)) ?? 'the handler threw a value that cannot be read';

const textOf = (error: unknown): string =>
  clean(isA(Error, error) ? error.message || error.name : `${typeof error}: ${String(error)}`, messageMax);

const stackOf = (error: unknown): string | undefined =>
  isA(Error, error) && typeof error.stack === 'string' ? clean(error.stack, stackMax) : undefined;

/** The error's `data`, if it is JSON. */
function dataOf(error: unknown): unknown {
  const data: unknown = isA(Refusal, error) ? error.detail : (error as { data?: unknown } | null)?.data;
  return data === undefined ? undefined : (JSON.parse(jsonText(data, { bytes: 65_536, depth: 32 })) as unknown);
}

/** Undefined if reading throws. */
function read<T>(readValue: () => T): T | undefined {
  try {
    return readValue();
  } catch {
    return undefined;
  }
}

const clean = (text: string, max: number): string => text.toWellFormed().replaceAll('\u0000', '').slice(0, max);
