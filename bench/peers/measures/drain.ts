/** Drains a backlog with one process, or with two. */
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
