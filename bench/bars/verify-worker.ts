/** The process of the measure `verify`: verifies a store as `stint verify` does, and reports what it took. */
import { openStore } from '../../src/index.ts';
import { verify } from '../../src/verify.ts';

export interface Verified {
  readonly seconds: number;
  readonly peakMB: number;
  readonly violations: number;
  readonly jobs: number;
  readonly events: number;
}

const store = openStore(process.argv[2]!);
process.send!('begun');
const begun = performance.now();
const verifying = verify(store);
for (let violations = 0; ; violations += 1) {
  const { done, value } = await verifying.next();
  if (!done) continue;
  const seconds = (performance.now() - begun) / 1000;
  process.send!({ ...value, seconds, violations, peakMB: process.resourceUsage().maxRSS / 1024 } satisfies Verified);
  break;
}
await store.close();
process.disconnect();
