/** The clock: the time by the server, second by second, for whatever is told as "ago". */
import { signal } from '@preact/signals';

/** Now, by the server's clock as far as its answers tell it. */
export const now = signal(Date.now());

let skewMs = 0;
const tolerableMs = 2_000;

setInterval(() => (now.value = Date.now() + skewMs), 1_000);

/** From the header `Date` of an answer, which tells whole seconds. */
export function tellServerTime(date: string | null): void {
  const told = date === null ? Number.NaN : Date.parse(date) + 500;
  if (Number.isNaN(told)) return;
  const skew = told - Date.now();
  skewMs = Math.abs(skew) > tolerableMs ? skew : 0;
}
