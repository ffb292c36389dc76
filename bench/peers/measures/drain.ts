/** Drains a backlog with one process, or with two; and with one in batches. */
import { drain } from '../drain.ts';
import type { Measure } from '../measure.ts';
import type { Reading } from '../reading.ts';

export const drainBy = (processes: 1 | 2): Measure => ({
  name: `drain ${processes}`,
  appliesTo: ({ isEmbedded = false }) => processes === 1 || !isEmbedded,
  run: async (fixture, { drain: jobs, warmUpShare }) => {
    const { rate, cpu, peakRssMB } = await drain(fixture, processes, jobs[fixture.peer.pace], warmUpShare);
    const reading: Reading = { figure: `drain ${processes}`, unit: 'jobs/s', value: rate, cpu };
    if (processes > 1) return [reading];
    return [
      reading,
      { figure: 'drain CPU', unit: 'µs', value: cpu.clientUs + (cpu.serverUs ?? 0) },
      { figure: 'drain memory', unit: 'MB', value: peakRssMB },
    ];
  },
});

/** Handlers of batches beside a worker that claims and completes in batches. */
export const batchDrain: Measure = {
  name: 'batch drain',
  appliesTo: ({ isBatched = false }) => isBatched,
  run: async (fixture, { drain: jobs, warmUpShare }) => {
    const { rate, cpu } = await drain(fixture, 1, jobs[fixture.peer.pace], warmUpShare);
    return [{ figure: 'batch drain', unit: 'jobs/s', value: rate, cpu }];
  },
};
