/**
 * Waiting for a promise with a time limit: true if it is fulfilled within `ms`, otherwise false; rejects if it rejects.
 */
import type { Clock } from './clock.ts';

export async function settlesWithin(clock: Clock, ms: number, awaited: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  const isInTime = await Promise.race([awaited.then(() => true), late]);
  over.abort();
  return isInTime;
}
