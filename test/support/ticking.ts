// A clock that stands still, except while a test waits: by the time of PostgreSQL, a run may be due only some milliseconds
// after its creation, and a worker whose clock stands still would never claim it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { VirtualClock } from '../../src/time/clock.ts';

/** Far less than the time between two polls of a worker, so that a wait does not end because of a poll. */
const goesOnMs = 100;

/** Returns what the promise resolves to; meanwhile the clock goes on, by `goesOnMs` at most. */
export async function whileTicking<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isOpen = true;
  const close = (): void => { isOpen = false; };
  promise.then(close, close);
  for (let ms = 0; ms < goesOnMs && isOpen; ms += 1) {
    await clock.advance(1);
    await sleep(1);
  }
  return promise;
}
