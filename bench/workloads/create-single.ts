/** Creates jobs one after the other: what a lone producer sees. */
import { drafts } from '../payload.ts';
import type { Workload } from '../workload.ts';

export const createSingle: Workload = {
  name: 'create single',
  cases: ({ createSingle: jobs }) => [
    {
      title: 'create, one after the other',
      params: { batch: 1 },
      measure: async (stand) => {
        const watch = stand.stopwatch();
        const draft = drafts(1);
        await watch.time(async () => {
          for (let done = 0; done < jobs; done += 1) await stand.contender.create(draft);
        });
        return watch.rate(jobs);
      },
    },
  ],
};
