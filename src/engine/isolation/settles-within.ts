/** A wait with an end: whether something came to pass within a time. */
import type { Clock } from '../../time/clock.ts';

export async function within(clock: Clock, ms: number, awaited: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  const isInTime = await Promise.race([awaited.then(() => true), late]);
  over.abort();
  return isInTime;
}
