/** Runs of more and more tasks, through an engine, sixteen at a time, from creation to end; always about as many tasks. */
import { stintEngineOn } from '../peers/entrants/stint-engine.ts';
import { peerGroundOf } from '../peers/grounds.ts';
import { withSite } from '../peers/site.ts';
import type { Case, Workload } from '../workload.ts';
import { countOf } from './drain.ts';

export const scaleTasks: Workload = {
  name: 'scale tasks',
  isOursOnly: true,
  isLong: true,
  cases: ({ scale: { tasksPerRun, jobs } }) =>
    tasksPerRun.map((tasks, index): Case => ({
      title: `runs of ${countOf(tasks, 'task')}`,
      params: { tasks },
      isBase: index === 0,
      measure: ({ ground }) =>
        withSite(stintEngineOn(ground.place.engine), peerGroundOf(ground), async (site) => {
          const runs = Math.max(1, Math.round(jobs / tasks));
          const hand = await site.hire();
          await hand.ask({ do: 'work' });
          await hand.ask({ do: 'fanOut', runs: 1, tasks: Math.ceil(jobs / 20) });
          const start = performance.now();
          await hand.ask({ do: 'fanOut', runs, tasks });
          return { readings: [{ unit: 'jobs/s', value: ((runs * tasks) / (performance.now() - start)) * 1_000 }] };
        }),
    })),
};
