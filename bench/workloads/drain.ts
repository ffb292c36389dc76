/** Claims and finishes in batches until nothing is left, by one process and by two. */
import { drafts } from '../payload.ts';
import type { Stand } from '../stand.ts';
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
        prepare: (stand) => warmUp(stand, processes),
        measure: (stand) => drained(stand, processes, limit, jobs),
      })),
    ),
};

export async function drained(stand: Stand, processes: number, limit: number, jobs: number): Promise<Sample> {
  await create(stand, jobs);
  const watch = stand.stopwatch();
  const drained = await watch.time(() => stand.crew.drain(processes, limit));
  if (drained.jobs !== jobs) throw new Error(`${drained.jobs} jobs were drained where there were ${jobs}`);
  watch.addClientCpu(drained.cpuUs);
  return watch.rate(jobs);
}

export async function warmUp(stand: Stand, processes: number): Promise<void> {
  await create(stand, createBatch * processes);
  await stand.crew.drain(processes, 50);
}

export const countOf = (count: number, thing: string): string =>
  `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : thing.endsWith('s') ? 'es' : 's'}`;

async function create({ contender }: Stand, jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= createBatch) await contender.create(drafts(Math.min(left, createBatch)));
}
