/** Creates jobs one after the other, as a single producer does. */
import { drafts } from '../payload.ts';
import type { Workload } from '../workload.ts';

export const createSingle: Workload = {
  name: 'create single',
  cases: ({ createSingle: jobs }) => [
    {
      title: 'create, one after the other',
      params: { batch: 1 },
      measure: async (fixture) => {
        const watch = fixture.stopwatch();
        const draft = drafts(1);
        await watch.time(async () => {
          for (let done = 0; done < jobs; done += 1) await fixture.target.create(draft);
        });
        return watch.rate(jobs);
      },
    },
  ],
};
