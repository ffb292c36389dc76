/** Drains with 1, 2, 4 and 8 engines, each in its own process. */
import { stintEngineOn } from '../peers/peers/stint-engine.ts';
import { drain } from '../peers/drain.ts';
import { peerScratchOf } from '../peers/peer-databases.ts';
import { withPeerFixture } from '../peers/peer-fixture.ts';
import type { Case, Workload } from '../workload.ts';
import { countOf } from './drain.ts';

const warmUpShare = 0.15;

export const scaleInstances: Workload = {
  name: 'scale instances',
  isOursOnly: true,
  isLong: true,
  cases: ({ scale: { processes: counts, jobsPerProcess } }) =>
    counts.map((instances): Case => ({
      title: `drain, ${countOf(instances, 'engine')}`,
      params: { instances },
      isBase: instances === 1,
      measure: ({ scratch }) =>
        withPeerFixture(stintEngineOn(scratch.address.database), peerScratchOf(scratch), async (fixture) => {
          const { rate, cpu } = await drain(fixture, instances, jobsPerProcess * instances, warmUpShare);
          return { readings: [{ unit: 'jobs/s', value: rate }], cpu };
        }),
    })),
};
