/** Flows in four shapes, from creation to end, in one process. */
import type { Measure } from '../measure.ts';
import { isOurEngine } from '../ours.ts';
import type { FlowShape } from '../peer.ts';
import type { Reading } from '../reading.ts';

const shapes: readonly FlowShape[] = ['fan-out', 'fan-in', 'layers', 'chain'];

export const flowShapes: Measure = {
  name: 'flow shapes',
  appliesTo: isOurEngine,
  run: async (fixture, { flowRuns }) => {
    const child = await fixture.startProcess();
    await child.request({ do: 'work' });
    const readings: Reading[] = [];
    for (const shape of shapes) {
      const runs = shape === 'chain' ? Math.ceil(flowRuns / 10) : flowRuns;
      await child.request({ do: 'flow', shape, runs: Math.ceil(runs / 10) });
      const start = performance.now();
      await child.request({ do: 'flow', shape, runs });
      readings.push({ figure: `flow ${shape}`, unit: 'jobs/s', value: (runs / (performance.now() - start)) * 1_000 });
    }
    return readings;
  },
};
