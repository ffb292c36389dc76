/** The drain of runs that use a named limit with room for all of them, beside the drain of runs without limits. */
import { Engine, jobType, limit } from '../../src/index.ts';
import type { Database } from '../database.ts';
import { Fixture } from '../fixture.ts';
import { median } from '../median.ts';
import { storeUrl } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import type { BarSizes } from './sizes.ts';

const slots = 50;
const createBatch = 1_000;

export async function limited(database: Database, { limited: count, rounds }: BarSizes): Promise<readonly Bar[]> {
  await drainRate(database, true, count); // Warms the JIT compiler.
  const plain: number[] = [];
  const limitedRates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    plain.push(await drainRate(database, false, count));
    limitedRates.push(await drainRate(database, true, count));
  }
  return [{
    database: database.name, unit: '×', bar: { least: 0.9 },
    value: median(limitedRates.map((one, index) => one / plain[index]!)),
    title: `drain of ${count.toLocaleString('en')} runs with a named limit, to runs without`,
    from: `${median(limitedRates).toFixed(0)} and ${median(plain).toFixed(0)} jobs/s`,
  }];
}

/** Returns how many runs per second an engine executes that wait when it starts. */
async function drainRate(database: Database, isLimited: boolean, count: number): Promise<number> {
  const fixture = await Fixture.open(await database.createScratch('ours', false), 0);
  try {
    const drained = Promise.withResolvers<void>();
    let left = count;
    const api = limit('api', { rate: '1000000/1s', burst: 1_000_000, concurrency: count });
    const work = jobType('work', {
      ...(isLimited ? { limits: [api] } : {}),
      run: () => {
        left -= 1;
        if (left === 0) drained.resolve();
      },
    });
    await using engine = new Engine({ store: storeUrl(fixture.scratch.address), types: [work], slots });
    for (let from = 0; from < count; from += createBatch) {
      await engine.createJobRuns(work, Array.from({ length: Math.min(createBatch, count - from) }, () => ({ input: {} })));
    }
    const watch = fixture.stopwatch();
    await watch.time(async () => {
      await engine.resume();
      await drained.promise;
    });
    return watch.rate(count).readings[0]!.value;
  } finally {
    await fixture.close();
  }
}
