/** One run of very many tasks, from its creation to its end, by one process that does everything. */
import type { Measure } from '../measure.ts';
import { isOurEngine } from '../ours.ts';

export const fanOut: Measure = {
  name: 'fan-out',
  suits: isOurEngine,
  run: async (site, { fanOutTasks: tasks }) => {
    const hand = await site.hire();
    await hand.ask({ do: 'work' });
    await hand.ask({ do: 'fanOut', runs: 1, tasks: Math.ceil(tasks / 50) });
    const start = performance.now();
    await hand.ask({ do: 'fanOut', runs: 1, tasks });
    return [{ figure: 'fan-out', unit: 'jobs/s', value: (tasks / (performance.now() - start)) * 1_000 }];
  },
};
