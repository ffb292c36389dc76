/** The configuration of a definition in the terms of seed 4 (docs/seeds.md): its status, its last and its next run. */
import { endedStandings, openStandings } from '../../store/query.ts';
import type { Jobs } from '../../jobs.ts';
import type { Job } from '../../model/job.ts';
import { configurationOf, type Configuration } from '../../vocabulary/configuration.ts';

/** How many of the newest ended runs are read to find the one that ended last: overlapping runs end in any order. */
const endedMax = 100;

export async function configurationIn(jobs: Jobs, def: Job): Promise<Configuration> {
  const runs = { kinds: ['run'], def: def.def! } as const;
  const open = await jobs.find({ ...runs, standings: openStandings }, { limit: 1000 });
  const ended = await jobs.find({ ...runs, standings: endedStandings }, { limit: endedMax });
  return configurationOf(def, [...open.jobs, ...ended.jobs]);
}
