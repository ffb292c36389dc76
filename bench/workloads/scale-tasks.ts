/** Runs with a growing number of tasks, from creation to end, sixteen at a time. The total of tasks is constant. */
import { stintEngineOn } from '../peers/peers/stint-engine.ts';
import { peerScratchOf } from '../peers/peer-databases.ts';
import { withPeerFixture } from '../peers/peer-fixture.ts';
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
      measure: ({ scratch }) =>
        withPeerFixture(stintEngineOn(scratch.address.database), peerScratchOf(scratch), async (fixture) => {
          const runs = Math.max(1, Math.round(jobs / tasks));
          const child = await fixture.startProcess();
          await child.request({ do: 'work' });
          await child.request({ do: 'fanOut', runs: 1, tasks: Math.ceil(jobs / 20) });
          const start = performance.now();
          await child.request({ do: 'fanOut', runs, tasks });
          return { readings: [{ unit: 'jobs/s', value: ((runs * tasks) / (performance.now() - start)) * 1_000 }] };
        }),
    })),
};
