/** The clock: the server's time, updated every second, for relative times. */
import { signal } from '@preact/signals';

/** The time by the server's clock, estimated from the `Date` header of its answers. */
export const now = signal(Date.now());

let skewMs = 0;
const skewIgnoredMs = 2_000;

setInterval(() => (now.value = Date.now() + skewMs), 1_000);

/** Takes the `Date` header of an answer. It has whole seconds, so half a second is added. */
export function syncClock(date: string | null): void {
  const serverTime = date === null ? Number.NaN : Date.parse(date) + 500;
  if (Number.isNaN(serverTime)) return;
  const skew = serverTime - Date.now();
  skewMs = Math.abs(skew) > skewIgnoredMs ? skew : 0;
}
