/** The verdict: which command the outcome of a handler asks for. */
import type { Command } from '../model/command.ts';
import type { JobError } from '../model/job.ts';
import { jsonText } from '../model/json.ts';
import { Refusal } from '../refusal.ts';
import type { Attempt } from './attempt.ts';
import { HandedOff } from './context.ts';
import { HandlerCrashed, MissingOutput } from './isolation.ts';
import { Cancelled, Fail, Interrupted, LeaseLost, RetryAfter, Snooze, TimedOut } from './outcome.ts';

/** What a value that a handler returned asks for. */
export function ofValue(value: unknown, { holding }: Attempt, now: number): Command {
  const { fence } = holding;
  if (value instanceof HandedOff) {
    const until = value.withinMs === null ? null : now + value.withinMs;
    return { do: 'handOff', fence, holder: `token ${value.token}`, until };
  }
  try {
    return { do: 'succeed', fence, result: jsonText(value) };
  } catch (error) {
    return { do: 'fail', fence, retryable: false, error: { code: 'missing output', message: messageOf(error) } };
  }
}

/** What something thrown asks for; null: nothing, since the job is no longer this attempt's. */
export function ofError(error: unknown, { holding }: Attempt, now: number, isRetryable: (error: unknown) => boolean): Command | null {
  const { fence } = holding;
  if (error instanceof LeaseLost) return null;
  if (error instanceof Interrupted) return { do: 'release', fence };
  if (error instanceof Snooze) return { do: 'release', fence, due: now + error.forMs };
  if (error instanceof RetryAfter) return { do: 'fail', fence, retryable: true, retryAt: now + error.afterMs, error: told(error) };
  return { do: 'fail', fence, retryable: mayRetry(error, isRetryable), error: told(error) };
}

function mayRetry(error: unknown, isRetryable: (error: unknown) => boolean): boolean {
  if (error instanceof Fail || error instanceof Cancelled || error instanceof Refusal || error instanceof MissingOutput) return false;
  if (error instanceof TimedOut) return true;
  try {
    return isRetryable(error);
  } catch {
    return false;
  }
}

const messageMax = 4_000;
const stackMax = 8_000;

/** What is kept of something thrown, whatever it is. */
export function told(error: unknown): JobError {
  const stack = error instanceof Error && typeof error.stack === 'string' ? { stack: clean(error.stack, stackMax) } : {};
  const data = dataOf(error);
  return { code: codeOf(error), message: messageOf(error), ...(data === undefined ? {} : { data }), ...stack };
}

function codeOf(error: unknown): JobError['code'] {
  if (error instanceof TimedOut) return 'timed out';
  if (error instanceof Cancelled) return 'automation';
  if (error instanceof Refusal) return 'could not start';
  return error instanceof HandlerCrashed || error instanceof MissingOutput ? error.code : 'unknown';
}

function messageOf(error: unknown): string {
  try {
    return clean(error instanceof Error ? error.message || error.name : `${typeof error}: ${String(error)}`, messageMax);
  } catch {
    return 'something was thrown that cannot be told';
  }
}

/** JSON data attached to the error, when it is that. */
function dataOf(error: unknown): unknown {
  const data: unknown = error instanceof Refusal ? error.detail : (error as { data?: unknown } | null)?.data;
  try {
    return data === undefined ? undefined : (JSON.parse(jsonText(data, { bytes: 65_536, depth: 32 })) as unknown);
  } catch {
    return undefined;
  }
}

const clean = (text: string, max: number): string => text.toWellFormed().replaceAll('\u0000', '').slice(0, max);
