/** The configuration of a job as seed 4 tells it: its status, when it ran last and how, and when it runs next. */
import { endedStandings, openStandings } from '../../store/query.ts';
import type { Jobs } from '../../jobs.ts';
import type { Job } from '../../model/job.ts';
import { configurationOf, type Configuration } from '../../vocabulary/configuration.ts';

/** Runs that overlap may end in another order than they were made: the last to end is among so many of the newest. */
const endedLookedAt = 100;

export async function configurationIn(jobs: Jobs, def: Job): Promise<Configuration> {
  const runs = { kinds: ['run'], def: def.def! } as const;
  const open = await jobs.find({ ...runs, standings: openStandings }, { limit: 1000 });
  const ended = await jobs.find({ ...runs, standings: endedStandings }, { limit: endedLookedAt });
  return configurationOf(def, [...open.jobs, ...ended.jobs]);
}
