/** Claims with a growing backlog: jobs of other names, then also jobs that are due later, then also ended jobs. */
import { addBacklog, noBacklog, titleOf, type Backlog, type BacklogKind } from '../backlog.ts';
import { drafts, ownName } from '../payload.ts';
import type { Fixture } from '../fixture.ts';
import type { Sample } from '../stopwatch.ts';
import type { Case, Workload } from '../workload.ts';

export const limit = 100;

export const backlog: Workload = {
  name: 'backlog',
  cases: ({ backlog: { others, later, ended }, backlogJobs: jobs }) => {
    let before = noBacklog;
    const step = (kind: BacklogKind, count: number): Case => {
      const added = count - before[kind];
      before = { ...before, [kind]: count };
      return caseOf(before, jobs, (fixture) => addBacklog(fixture, kind, added));
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
  measure: (fixture) => measureClaims(fixture, jobs),
});

/** Times only the claims. */
export async function measureClaims(fixture: Fixture, jobs: number): Promise<Sample> {
  const { target } = fixture;
  const batch = drafts(limit);
  for (let made = 0; made < jobs; made += limit) await target.create(batch);
  const watch = fixture.stopwatch();
  for (let done = 0; done < jobs; done += limit) {
    const claimed = await watch.time(() => target.claim(ownName, limit));
    if (claimed.length !== limit) throw new Error(`${claimed.length} jobs were claimed instead of ${limit}`);
    await target.finish(claimed);
  }
  return watch.rate(jobs);
}
