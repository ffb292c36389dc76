/** Creates jobs by sixteen producers at once, each of which waits for its answer. */
import type { Contender } from '../contender.ts';
import { drafts } from '../payload.ts';
import type { Workload } from '../workload.ts';

const inFlight = 16;

export const createInFlight: Workload = {
  name: 'create in flight',
  cases: ({ createInFlight: jobs }) => [
    {
      title: `create, ${inFlight} in flight`,
      params: { batch: inFlight },
      measure: async (stand) => {
        const watch = stand.stopwatch();
        const create = stand.ground.place.side === 'ours' ? byProducers : inBatches;
        await watch.time(() => create(stand.contender, jobs));
        return watch.rate(jobs);
      },
    },
  ],
};

async function byProducers(contender: Contender, jobs: number): Promise<void> {
  const draft = drafts(1);
  let left = jobs;
  const produce = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await contender.create(draft);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, produce));
}

/** No hand-written SQL can do better than to find all sixteen waiting each time. */
async function inBatches(contender: Contender, jobs: number): Promise<void> {
  const batch = drafts(inFlight);
  for (let done = 0; done < jobs; done += inFlight) await contender.create(batch);
}
