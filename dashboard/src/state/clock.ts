/** The clock: the server's time, updated every second, for relative times. */
import { signal } from '@preact/signals';

/** The current time by the server's clock, estimated from the `Date` header of its responses. */
export const now = signal(Date.now());

let skewMs = 0;
const skewIgnoredMs = 2_000;

setInterval(() => (now.value = Date.now() + skewMs), 1_000);

/** Sets the clock by the `Date` header of a response. The header has no milliseconds, so half a second is added. */
export function syncClock(date: string | null): void {
  const serverTime = date === null ? Number.NaN : Date.parse(date) + 500;
  if (Number.isNaN(serverTime)) return;
  const skew = serverTime - Date.now();
  skewMs = Math.abs(skew) > skewIgnoredMs ? skew : 0;
}
