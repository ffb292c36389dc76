/** Drains with 1, 2, 4 and 8 processes: each is a loop over its own store, without an engine. */
import type { Case, Workload } from '../workload.ts';
import { countOf, measureDrain, warmUp } from './drain.ts';

const limit = 100;

export const scaleProcesses: Workload = {
  name: 'scale processes',
  isLong: true,
  cases: ({ scale: { processes: counts, jobsPerProcess } }) =>
    counts.map((processes): Case => ({
      title: `drain, ${countOf(processes, 'process')}`,
      params: { batch: limit, processes },
      isBase: processes === 1,
      prepare: (fixture) => warmUp(fixture, processes),
      measure: (fixture) => measureDrain(fixture, processes, limit, jobsPerProcess * processes),
    })),
};
