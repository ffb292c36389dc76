/** The time from the call that creates a job to the start of its handler, in the same process and in another. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Ages } from '../ages.ts';
import { stampedDraft } from '../payload.ts';
import type { Fixture } from '../fixture.ts';
import { latencies } from '../stopwatch.ts';
import { Worker } from '../worker.ts';
import type { Workload } from '../workload.ts';

/** Usually longer than one pick-up, so that jobs do not overlap. */
const gapMs = 10;

export const pickUpHere: Workload = {
  name: 'pick-up here',
  cases: ({ pickUps }) => [
    {
      title: 'pick-up, same process',
      params: { processes: 1 },
      measure: async (fixture) => {
        const ages = new Ages();
        const worker = new Worker(fixture.target, ages.start);
        await createSlowly(fixture, pickUps);
        const agesMs = await ages.take(pickUps);
        await worker.stop();
        return latencies(agesMs);
      },
    },
  ],
};

export const pickUpElsewhere: Workload = {
  name: 'pick-up elsewhere',
  wakesOtherProcesses: true,
  cases: ({ pickUps }) => [
    {
      title: 'pick-up, other process',
      params: { processes: 2 },
      measure: async (fixture) => {
        const agesMs = await fixture.workerPool.work();
        await createSlowly(fixture, pickUps);
        return latencies(await agesMs(pickUps));
      },
    },
  ],
};

async function createSlowly({ target }: Fixture, jobs: number): Promise<void> {
  for (let done = 0; done < jobs; done += 1) {
    await target.create([stampedDraft()]);
    await sleep(gapMs);
  }
}
