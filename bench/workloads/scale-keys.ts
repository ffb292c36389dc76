/** Drains of an engine whose runs are limited per key, from one run per key, beside a drain without keys. */
import { Engine, jobType } from '../../src/index.ts';
import type { Fixture } from '../fixture.ts';
import type { Sample } from '../stopwatch.ts';
import type { TargetAddress } from '../target.ts';
import type { Case, Workload } from '../workload.ts';
import { countOf } from './drain.ts';

const slots = 50;
const createBatch = 1_000;

interface Keyed {
  readonly key: string;
}

export const scaleKeys: Workload = {
  name: 'scale keys',
  isOursOnly: true,
  isLong: true,
  cases: ({ scale: { keys } }) =>
    [0, ...keys].map((count): Case => ({
      title: count === 0 ? 'drain without keys' : `drain, one run for each of ${countOf(count, 'key')}`,
      params: { keys: count },
      isBase: count === 0,
      measure: (fixture) => measureKeys(fixture, count, Math.max(...keys)),
    })),
};

export async function measureKeys(fixture: Fixture, keys: number, jobs: number): Promise<Sample> {
  const drained = Promise.withResolvers<void>();
  let left = jobs;
  const limit = { key: (input: unknown) => (input as Keyed).key, concurrency: 1 };
  const work = jobType('work', {
    ...(keys === 0 ? {} : { limit }),
    run: () => {
      left -= 1;
      if (left === 0) drained.resolve();
    },
  });
  await using engine = new Engine({ store: storeUrl(fixture.scratch.address), types: [work], slots });
  const input = (index: number): Keyed => ({ key: `key ${keys === 0 ? 0 : index % keys}` });
  for (let from = 0; from < jobs; from += createBatch) {
    const count = Math.min(createBatch, jobs - from);
    await engine.createJobRuns(work, Array.from({ length: count }, (_, index) => ({ input: input(from + index) })));
  }
  const watch = fixture.stopwatch();
  await watch.time(async () => {
    await engine.resume();
    await drained.promise;
  });
  return watch.rate(jobs);
}

export const storeUrl = ({ database, location }: TargetAddress): string =>
  database === 'sqlite' ? `sqlite:${location}` : location;
