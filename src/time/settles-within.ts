/**
 * Waits for a promise with a time limit. Returns true if the promise is fulfilled within `ms`, and false if the time
 * passes first. Rejects if the promise rejects within `ms`.
 */
import type { Clock } from './clock.ts';

export async function settlesWithin(clock: Clock, ms: number, awaited: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  try {
    return await Promise.race([awaited.then(() => true), late]);
  } finally {
    over.abort();
  }
}
