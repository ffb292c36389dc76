/** True if the promise settles within `ms`. */
import type { Clock } from '../../time/clock.ts';

export async function settlesWithin(clock: Clock, ms: number, awaited: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(ms, over.signal).then(() => false);
  const isInTime = await Promise.race([awaited.then(() => true), late]);
  over.abort();
  return isInTime;
}
