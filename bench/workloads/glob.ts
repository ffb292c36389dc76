/** Claims one job by a pattern of its name, in a store with many jobs of other names. */
import { addBacklog, short } from '../backlog.ts';
import type { NameFilter } from '../target.ts';
import { drafts } from '../payload.ts';
import type { Fixture } from '../fixture.ts';
import type { Sample } from '../stopwatch.ts';
import type { Case, Workload } from '../workload.ts';

const byPrefix = 'mail.*';
const bySuffix = '*.send';

export const glob: Workload = {
  name: 'glob',
  cases: ({ glob: { others, names, jobs } }) => {
    const backlog = `${short(others)} others of ${short(names)} names`;
    // A pattern without a prefix compares every name, and in the raw limit every job: few claims are enough.
    const few = Math.ceil(jobs / 50);
    return [
      { ...caseOf(byPrefix, 'empty store', jobs, { others: 0, names: 0 }), isBase: true },
      {
        ...caseOf(byPrefix, backlog, jobs, { others, names }),
        prepare: (fixture) => addBacklog(fixture, 'others', others, names),
      },
      caseOf(bySuffix, backlog, few, { others, names }),
    ];
  },
};

const caseOf = (pattern: string, backlog: string, jobs: number, params: Case['params']): Case => ({
  title: `claim 1 by ${pattern}, ${backlog}`,
  params: { batch: 1, ...params },
  measure: (fixture) => measure(fixture, { glob: pattern }, jobs),
});

/** Times only the claims. */
async function measure(fixture: Fixture, names: NameFilter, jobs: number): Promise<Sample> {
  const { target } = fixture;
  await target.create(drafts(jobs));
  const watch = fixture.stopwatch();
  for (let done = 0; done < jobs; done += 1) {
    const claimed = await watch.time(() => target.claim(names, 1));
    if (claimed.length !== 1) throw new Error('a job was not found by its pattern');
    await target.finish(claimed);
  }
  return watch.rate(jobs);
}
