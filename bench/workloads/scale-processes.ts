/** Drains by more and more processes: bare loops over the store, each on connections of its own. */
import type { Case, Workload } from '../workload.ts';
import { countOf, drained, warmUp } from './drain.ts';

const limit = 100;

export const scaleProcesses: Workload = {
  name: 'scale processes',
  isLong: true,
  cases: ({ scale: { crew, jobsEach } }) =>
    crew.map((processes): Case => ({
      title: `drain, ${countOf(processes, 'process')}`,
      params: { batch: limit, processes },
      isBase: processes === 1,
      prepare: (stand) => warmUp(stand, processes),
      measure: (stand) => drained(stand, processes, limit, jobsEach * processes),
    })),
};
