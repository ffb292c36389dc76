/** Creates jobs for some seconds, after a warm-up: one after the other, sixteen in flight, and a thousand per call. */
import type { Created, CreateMode } from '../peer-process.ts';
import type { Measure } from '../measure.ts';

const modes: readonly CreateMode[] = ['single', 'in flight', 'bulk'];

export const creates: readonly Measure[] = modes.map((mode) => ({
  name: `create ${mode}`,
  appliesTo: ({ lacksBulk = false }) => mode !== 'bulk' || !lacksBulk,
  run: async (fixture, { createSeconds, createWarmUpSeconds }) => {
    const child = await fixture.startProcess();
    const create = (seconds: number) => child.request<Created>({ do: 'create', mode, seconds });
    await create(createWarmUpSeconds);
    const before = fixture.scratch.serverCpuUs();
    const { jobs, ms, cpuUs } = await create(createSeconds);
    const serverUs = before === null ? null : (fixture.scratch.serverCpuUs()! - before) / jobs;
    const cpu = { clientUs: cpuUs / jobs, serverUs };
    return [{ figure: `create ${mode}`, unit: 'jobs/s', value: (jobs / ms) * 1_000, cpu }];
  },
}));
