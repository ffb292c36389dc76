/** Creates jobs with sixteen concurrent producers; each awaits its reply before the next create. */
import type { Target } from '../target.ts';
import { drafts } from '../payload.ts';
import type { Workload } from '../workload.ts';

const inFlight = 16;

export const createInFlight: Workload = {
  name: 'create in flight',
  cases: ({ createInFlight: jobs }) => [
    {
      title: `create, ${inFlight} in flight`,
      params: { batch: inFlight },
      measure: async (fixture) => {
        const watch = fixture.stopwatch();
        const create = fixture.scratch.address.side === 'ours' ? byProducers : inBatches;
        await watch.time(() => create(fixture.target, jobs));
        return watch.rate(jobs);
      },
    },
  ],
};

async function byProducers(target: Target, jobs: number): Promise<void> {
  const draft = drafts(1);
  let left = jobs;
  const produce = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await target.create(draft);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, produce));
}

/** The limit: hand-written SQL is fastest if each batch has all sixteen creates. */
async function inBatches(target: Target, jobs: number): Promise<void> {
  const batch = drafts(inFlight);
  for (let done = 0; done < jobs; done += inFlight) await target.create(batch);
}
