/** Claims of Bedrock jobs by a pattern, in a queue whose jobs have a growing number of names. */
import { remove } from '../../src/apply.ts';
import { Queue } from '../../src/jobs/bedrock/queue.ts';
import { openStore } from '../../src/index.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import type { Fixture } from '../fixture.ts';
import type { Sample } from '../stopwatch.ts';
import type { Case, Workload } from '../workload.ts';
import { countOf } from './drain.ts';
import { storeUrl } from './scale-keys.ts';

const laterMs = 3_600_000;

export const scaleNames: Workload = {
  name: 'scale names',
  isOursOnly: true,
  isLong: true,
  cases: ({ scale: { names, jobs } }) =>
    names.map((count, index): Case => ({
      title: `claim 1 by d/*, ${countOf(count, 'name')}`,
      params: { names: count },
      isBase: index === 0,
      measure: (fixture) => measureNames(fixture, count, Math.min(jobs, names[0]!)),
    })),
};

/** Half of the jobs are due. Those that were not handed out are deleted afterwards. */
async function measureNames(fixture: Fixture, names: number, claims: number): Promise<Sample> {
  const store = openStore(storeUrl(fixture.scratch.address));
  const jobs = new Jobs(store);
  const queue = new Queue(jobs);
  const draft = (index: number): Draft => ({
    kind: 'bedrock', type: `d/${index}`, due: store.now() + (index % 2 === 0 ? -index : laterMs),
  });
  const created = await jobs.createMany(Array.from({ length: 2 * names }, (_, index) => draft(index)), 'bench');
  const watch = fixture.stopwatch();
  for (let done = 0; done < claims; done += 1) {
    const request = { names: { glob: 'd/*' }, limit: 1, holder: 'bench', withMocks: false };
    const { handed } = await watch.time(() => queue.handOut(request));
    if (handed.length !== 1) throw new Error('a job was not found by its pattern');
  }
  await remove(store, created.map(({ job }) => job!));
  await store.close();
  return watch.rate(claims);
}
