// The claimer and named limits: it sleeps until a used up rate opens, in virtual time.
import { expect, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { declareLimits } from '../../src/jobs/limits.ts';
import type { Rate } from '../../src/model/limit.ts';
import { VirtualClock } from '../../src/testing/index.ts';

/** A start every 3.3 s. */
const rate: Rate = { count: 10, per: 33_000, burst: 1 };

test('jobs start exactly when the rate opens, and the store is asked no more often than that', async () => {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  const claims: number[] = [];
  const claim = store.claim.bind(store);
  store.claim = (request, decide) => {
    if (request.kinds.includes('run')) claims.push(clock.now());
    return claim(request, decide);
  };
  await declareLimits(store, [{ name: 'api', keyed: false, values: { rate, concurrency: null } }], 'test');
  const uses = [{ name: 'api', key: null, cost: 1 }];
  await new Jobs(store).createMany(Array.from({ length: 4 }, () => ({ type: 'call', limitUses: uses })), 'test');
  const starts: number[] = [];
  const call = jobType('call', { run: () => void starts.push(clock.now()) });
  const engine = new Engine({ store, clock, types: [call] });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  await clock.advance(10_000);
  const first = starts[0]!;
  expect(starts).toEqual([0, 3_300, 6_600, 9_900].map((afterMs) => first + afterMs));
  expect(claims.length).toBeLessThanOrEqual(3 * starts.length + 2);
  await engine.close();
});
