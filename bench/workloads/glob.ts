/** Claims one job by a pattern of its name, behind many jobs of many other names. */
import { addBacklog, short } from '../backlog.ts';
import type { Names } from '../contender.ts';
import { drafts } from '../payload.ts';
import type { Stand } from '../stand.ts';
import type { Sample } from '../stopwatch.ts';
import type { Case, Workload } from '../workload.ts';

const byStart = 'mail.*';
const byEnd = '*.send';

export const glob: Workload = {
  name: 'glob',
  cases: ({ glob: { others, names, jobs } }) => {
    const behind = `${short(others)} others of ${short(names)} names`;
    // Without a start every name must be looked at, and plain SQL looks at every job: a few are enough.
    const few = Math.ceil(jobs / 50);
    return [
      { ...caseOf(byStart, 'empty store', jobs, { others: 0, names: 0 }), isBase: true },
      {
        ...caseOf(byStart, behind, jobs, { others, names }),
        prepare: (stand) => addBacklog(stand, 'others', others, names),
      },
      caseOf(byEnd, behind, few, { others, names }),
    ];
  },
};

const caseOf = (pattern: string, behind: string, jobs: number, params: Case['params']): Case => ({
  title: `claim 1 by ${pattern}, ${behind}`,
  params: { batch: 1, ...params },
  measure: (stand) => measure(stand, { glob: pattern }, jobs),
});

/** Only the claims are timed. */
async function measure(stand: Stand, names: Names, jobs: number): Promise<Sample> {
  const { contender } = stand;
  await contender.create(drafts(jobs));
  const watch = stand.stopwatch();
  for (let done = 0; done < jobs; done += 1) {
    const taken = await watch.time(() => contender.claim(names, 1));
    if (taken.length !== 1) throw new Error('a job was not found by its pattern');
    await contender.finish(taken);
  }
  return watch.rate(jobs);
}
