/** One run with many tasks, from creation to end, in one process that has warmed up as long as a drain does. */
import type { Measure } from '../measure.ts';
import { isOurEngine } from '../ours.ts';

export const fanOut: Measure = {
  name: 'fan-out',
  appliesTo: isOurEngine,
  run: async (fixture, { fanOutTasks: tasks, warmUpShare }) => {
    const child = await fixture.startProcess();
    await child.request({ do: 'work' });
    await child.request({ do: 'fanOut', runs: 1, tasks: Math.ceil(tasks * warmUpShare) });
    const start = performance.now();
    await child.request({ do: 'fanOut', runs: 1, tasks });
    return [{ figure: 'fan-out', unit: 'jobs/s', value: (tasks / (performance.now() - start)) * 1_000 }];
  },
};
