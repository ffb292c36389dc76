/** Claims in front of a growing backlog: jobs of other names, then jobs due later as well, then ended ones as well. */
import { addBacklog, noBacklog, titleOf, type Backlog, type Matter } from '../backlog.ts';
import { drafts, ownName } from '../payload.ts';
import type { Stand } from '../stand.ts';
import type { Sample } from '../stopwatch.ts';
import type { Case, Workload } from '../workload.ts';

export const limit = 100;

export const backlog: Workload = {
  name: 'backlog',
  cases: ({ backlog: { others, later, ended }, backlogJobs: jobs }) => {
    let before = noBacklog;
    const step = (matter: Matter, count: number): Case => {
      const added = count - before[matter];
      before = { ...before, [matter]: count };
      return caseOf(before, jobs, (stand) => addBacklog(stand, matter, added));
    };
    return [
      { ...caseOf(noBacklog, jobs), isBase: true },
      ...others.map((count) => step('others', count)),
      ...later.map((count) => step('later', count)),
      ...ended.map((count) => step('ended', count)),
    ];
  },
};

const caseOf = (all: Backlog, jobs: number, prepare?: Case['prepare']): Case => ({
  title: `claim ${limit}, ${titleOf(all)}`,
  params: { batch: limit, ...all },
  ...(prepare ? { prepare } : {}),
  measure: (stand) => claimed(stand, jobs),
});

/** Only the claims are timed. */
export async function claimed(stand: Stand, jobs: number): Promise<Sample> {
  const { contender } = stand;
  const batch = drafts(limit);
  for (let made = 0; made < jobs; made += limit) await contender.create(batch);
  const watch = stand.stopwatch();
  for (let done = 0; done < jobs; done += limit) {
    const taken = await watch.time(() => contender.claim(ownName, limit));
    if (taken.length !== limit) throw new Error(`${taken.length} jobs were claimed where there were ${limit}`);
    await contender.finish(taken);
  }
  return watch.rate(jobs);
}
