/** The command that stores the outcome of a handler. */
import type { Command } from '../../model/command.ts';
import { jsonText } from '../../model/json.ts';
import type { Store } from '../../store/store.ts';
import type { Attempt } from './attempt.ts';
import { HandedOff } from '../handler/context.ts';
import { holderOfToken } from '../handler/token.ts';
import { MissingOutput } from '../isolation/isolation.ts';
import { AnswerTimedOut, Cancelled, Fail, RateLimited, RetryAfter, Snooze, TimedOut } from '../handler/errors.ts';
import { isA, isMalformedInput, messageOf, storedError } from './stored-error.ts';

/** Returns the command for a value that a handler returned. A value that JSON cannot hold fails the job. */
export function commandForResult(value: unknown, { holding, sleep }: Attempt, store: Pick<Store, 'now'>): Command {
  const { fence } = holding;
  if (sleep !== null) return { do: 'sleep', fence, ...sleep };
  if (isA(HandedOff, value)) {
    const until = value.withinMs === null ? null : store.now() + value.withinMs;
    return { do: 'handOff', fence, holder: holderOfToken(value.token), until };
  }
  try {
    return { do: 'succeed', fence, result: jsonText(value) };
  } catch (error) {
    return { do: 'fail', fence, retryable: false, error: { code: 'missing output', message: messageOf(error) } };
  }
}

/** Returns the command for a value that a handler threw; null: the job is completed, or no longer held here. */
export function commandForError(
  error: unknown,
  attempt: Attempt,
  now: number,
  isRetryable: (error: unknown) => boolean,
): Command | null {
  const { fence } = attempt.holding;
  if (attempt.isLost || attempt.isCompleted) return null;
  if (attempt.isReleased) return { do: 'release', fence };
  if (attempt.sleep !== null) return { do: 'sleep', fence, ...attempt.sleep };
  if (isA(RateLimited, error)) return { do: 'release', fence, due: now + error.afterMs };
  if (isA(Snooze, error)) return { do: 'release', fence, due: now + error.forMs };
  if (isA(RetryAfter, error)) {
    return { do: 'fail', fence, retryable: true, retryAt: now + error.afterMs, error: storedError(error) };
  }
  return { do: 'fail', fence, retryable: mayRetry(error, isRetryable), error: storedError(error) };
}

function mayRetry(error: unknown, isRetryable: (error: unknown) => boolean): boolean {
  if (isA(Fail, error) || isA(Cancelled, error) || isA(AnswerTimedOut, error) || isMalformedInput(error) || isA(MissingOutput, error)) return false;
  if (isA(TimedOut, error)) return true;
  try {
    return Boolean(isRetryable(error));
  } catch {
    return false;
  }
}
