/** Creates jobs in bulk, a thousand per call. */
import { drafts } from '../payload.ts';
import type { Workload } from '../workload.ts';

const batch = 1_000;

export const createBulk: Workload = {
  name: 'create bulk',
  cases: ({ createBulk: jobs }) => [
    {
      title: 'create, bulk of 1,000',
      params: { batch },
      measure: async (fixture) => {
        const watch = fixture.stopwatch();
        const all = drafts(batch);
        await watch.time(async () => {
          for (let done = 0; done < jobs; done += batch) await fixture.target.create(all);
        });
        return watch.rate(jobs);
      },
    },
  ],
};
