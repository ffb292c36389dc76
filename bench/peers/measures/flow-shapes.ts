/** Flows in each shape, from creation to end, in one process. */
import type { Child } from '../../child.ts';
import { flowShapes, type FlowShape } from '../flow.ts';
import type { Measure } from '../measure.ts';
import type { Peer } from '../peer.ts';
import type { PeerFixture } from '../peer-fixture.ts';
import type { FlowTimes, PeerRequest } from '../peer-process.ts';
import type { Reading } from '../reading.ts';

const warmUpShare = 0.1;

export const flowShapesMeasure: Measure = {
  name: 'flow shapes',
  appliesTo: ({ flows }) => flows !== undefined,
  run: async (fixture, { flowRuns }) => {
    const child = await fixture.startProcess();
    await child.request({ do: 'work' });
    const size = flowRuns[fixture.peer.pace];
    const readings: Reading[] = [];
    for (const shape of flowShapes) {
      if (!isPolling(fixture.peer)) await child.request({ do: 'flow', shape, runs: runsOf(shape, size * warmUpShare) });
      readings.push(...(await timed(fixture, child, shape, runsOf(shape, size, fixture.peer.flows?.chainRunsMax))));
    }
    return readings;
  },
};

/** Polling takes nearly all the time of such a peer: a warm-up would only double it. */
const isPolling = ({ flows }: Peer): boolean => flows?.chainRunsMax !== undefined;

const chains = 10;

function runsOf(shape: FlowShape, size: number, chainRunsMax = Infinity): number {
  const chainRuns = Math.min(Math.max(2, Math.ceil(size / chains)), chainRunsMax);
  switch (shape) {
    case 'fan-out':
    case 'fan-in': return size + 1;
    case 'layers': return size;
    case 'chain': return chainRuns;
    case 'ten chains': return chainRuns * chains;
  }
}

async function timed(fixture: PeerFixture, child: Child<PeerRequest>, shape: FlowShape, runs: number): Promise<Reading[]> {
  const before = fixture.scratch.serverCpuUs();
  const { createMs, totalMs, cpuUs } = await child.request<FlowTimes>({ do: 'flow', shape, runs });
  const after = fixture.scratch.serverCpuUs();
  const serverUs = before === null || after === null ? null : (after - before) / runs;
  return [
    { figure: `flow ${shape}`, unit: 'jobs/s', value: (runs / totalMs) * 1_000, cpu: { clientUs: cpuUs / runs, serverUs }, jobs: runs },
    { figure: `create flow ${shape}`, unit: 'ms', value: createMs },
    { figure: `time of flow ${shape}`, unit: 'ms', value: totalMs },
  ];
}
