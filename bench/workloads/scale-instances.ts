/** Drains by more and more engines, each in a process of its own, as users have them. */
import { stintEngineOn } from '../peers/entrants/stint-engine.ts';
import { drain } from '../peers/drain.ts';
import { peerGroundOf } from '../peers/grounds.ts';
import { withSite } from '../peers/site.ts';
import type { Case, Workload } from '../workload.ts';
import { countOf } from './drain.ts';

const warmUpShare = 0.15;

export const scaleInstances: Workload = {
  name: 'scale instances',
  isOursOnly: true,
  isLong: true,
  cases: ({ scale: { crew, jobsEach } }) =>
    crew.map((instances): Case => ({
      title: `drain, ${countOf(instances, 'engine')}`,
      params: { instances },
      isBase: instances === 1,
      measure: ({ ground }) =>
        withSite(stintEngineOn(ground.place.engine), peerGroundOf(ground), async (site) => {
          const { rate, cpu } = await drain(site, instances, jobsEach * instances, warmUpShare);
          return { readings: [{ unit: 'jobs/s', value: rate }], cpu };
        }),
    })),
};
