/** Creates jobs for some seconds: one after the other, sixteen in flight, and a thousand per call. */
import type { Created, CreateMode } from '../peer-process.ts';
import type { Measure } from '../measure.ts';

const modes: readonly CreateMode[] = ['single', 'in flight', 'bulk'];

export const creates: readonly Measure[] = modes.map((mode) => ({
  name: `create ${mode}`,
  appliesTo: ({ lacksBulk = false }) => mode !== 'bulk' || !lacksBulk,
  run: async (fixture, { createSeconds: seconds }) => {
    const child = await fixture.startProcess();
    const before = fixture.scratch.serverCpuUs();
    const { jobs, ms, cpuUs } = await child.request<Created>({ do: 'create', mode, seconds });
    const serverUs = before === null ? null : (fixture.scratch.serverCpuUs()! - before) / jobs;
    const cpu = { clientUs: cpuUs / jobs, serverUs };
    return [{ figure: `create ${mode}`, unit: 'jobs/s', value: (jobs / ms) * 1_000, cpu }];
  },
}));
