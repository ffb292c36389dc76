/** Claims and finishes in batches until no job is left, with one process and with two. */
import { drafts } from '../payload.ts';
import type { Fixture } from '../fixture.ts';
import type { Sample } from '../stopwatch.ts';
import type { Case, Workload } from '../workload.ts';

const processCounts = [1, 2];
const createBatch = 1_000;

export const drain: Workload = {
  name: 'drain',
  cases: ({ drain: sizes }) =>
    processCounts.flatMap((processes) =>
      sizes.map(({ limit, jobs }): Case => ({
        title: `drain, ${limit.toLocaleString('en')} at a time, ${countOf(processes, 'process')}`,
        params: { batch: limit, processes },
        prepare: (fixture) => warmUp(fixture, processes),
        measure: (fixture) => measureDrain(fixture, processes, limit, jobs),
      })),
    ),
};

export async function measureDrain(fixture: Fixture, processes: number, limit: number, jobs: number): Promise<Sample> {
  await create(fixture, jobs);
  const watch = fixture.stopwatch();
  const drained = await watch.time(() => fixture.workerPool.drain(processes, limit));
  if (drained.jobs !== jobs) throw new Error(`${drained.jobs} jobs were drained instead of ${jobs}`);
  watch.addClientCpu(drained.cpuUs);
  return watch.rate(jobs);
}

export async function warmUp(fixture: Fixture, processes: number): Promise<void> {
  await create(fixture, createBatch * processes);
  await fixture.workerPool.drain(processes, 50);
}

export const countOf = (count: number, thing: string): string =>
  `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : thing.endsWith('s') ? 'es' : 's'}`;

async function create({ target }: Fixture, jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= createBatch) await target.create(drafts(Math.min(left, createBatch)));
}
