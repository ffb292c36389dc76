/** How long after the call that creates a job its handler starts, in the same process and in another. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Ages } from '../ages.ts';
import { stampedDraft } from '../payload.ts';
import type { Stand } from '../stand.ts';
import { latencies } from '../stopwatch.ts';
import { Worker } from '../worker.ts';
import type { Workload } from '../workload.ts';

/** Long enough for one pick-up to be over before the next, as a rule. */
const gapMs = 10;

export const pickUpHere: Workload = {
  name: 'pick-up here',
  cases: ({ pickUps }) => [
    {
      title: 'pick-up, same process',
      params: { processes: 1 },
      measure: async (stand) => {
        const ages = new Ages();
        const worker = new Worker(stand.contender, ages.start);
        await createSlowly(stand, pickUps);
        const agesMs = await ages.take(pickUps);
        await worker.stop();
        return latencies(agesMs);
      },
    },
  ],
};

export const pickUpElsewhere: Workload = {
  name: 'pick-up elsewhere',
  isHeard: true,
  cases: ({ pickUps }) => [
    {
      title: 'pick-up, other process',
      params: { processes: 2 },
      measure: async (stand) => {
        const agesMs = await stand.crew.work();
        await createSlowly(stand, pickUps);
        return latencies(await agesMs(pickUps));
      },
    },
  ],
};

async function createSlowly({ contender }: Stand, jobs: number): Promise<void> {
  for (let done = 0; done < jobs; done += 1) {
    await contender.create([stampedDraft()]);
    await sleep(gapMs);
  }
}
