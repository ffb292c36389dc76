/** Creates jobs one after the other, sixteen in flight, and a thousand at a time, for as long as is said. */
import type { Created, Way } from '../hand.ts';
import type { Measure } from '../measure.ts';

const ways: readonly Way[] = ['single', 'in flight', 'bulk'];

export const creates: readonly Measure[] = ways.map((way) => ({
  name: `create ${way}`,
  suits: ({ lacksBulk = false }) => way !== 'bulk' || !lacksBulk,
  run: async (site, { createSeconds: seconds }) => {
    const hand = await site.hire();
    const before = site.ground.serverCpuUs();
    const { jobs, ms, cpuUs } = await hand.ask<Created>({ do: 'create', way, seconds });
    const serverUs = before === null ? null : (site.ground.serverCpuUs()! - before) / jobs;
    const cpu = { clientUs: cpuUs / jobs, serverUs };
    return [{ figure: `create ${way}`, unit: 'jobs/s', value: (jobs / ms) * 1_000, cpu }];
  },
}));
