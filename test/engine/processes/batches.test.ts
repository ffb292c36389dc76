// A job of a batch kills the process of each instance that handles it: it is found, and the others succeed.
import { expect, test } from 'vitest';
import { isOpen } from '../../../src/model/job.ts';
import { batched } from './children/batched.ts';
import { flawsOf, histories } from './histories.ts';
import { bySize } from '../../support/size.ts';
import { storeKinds, World } from './world.ts';

/** It waits for four leases to lapse, so it is in the proof only. */
test.runIf(bySize({ small: false, ci: true })).each(storeKinds)('on $name, the job of a batch that kills its process ends alone', async (kind) => {
  await using world = await World.create(kind);
  const inputs = Array.from({ length: 24 }, (_, n) => ({ input: { isPoison: n === 11 } }));
  const runs = await world.engine.createJobRuns(batched, inputs);
  for (let instance = 1; ; instance += 1) {
    const member = await world.start('batched', `instance ${instance}`);
    const isDone = await world.until('the runs to end, or the instance', async () => {
      const { jobs } = await world.engine.find({ types: ['batched'] }, { limit: 100 });
      return jobs.every((job) => !isOpen(job)) ? 'done' : member.hasExited ? 'exited' : null;
    });
    if (isDone === 'done') break;
  }
  const jobs = await Promise.all(runs.map(({ id }) => world.engine.get(id)));
  const failed = jobs.filter((job) => job.state === 'ended' && job.fate === 'failed');
  expect(failed.map(({ id }) => id)).toEqual([runs[11]!.id]);
  expect(failed[0]!.error?.code).toBe('crashed');
  expect(jobs.filter((job) => job.state === 'ended' && job.fate === 'succeeded')).toHaveLength(23);
  const fatal = world.entries({ what: 'batch' }).map((entry) => entry['jobs'] as number[])
    .filter((batch) => batch.includes(runs[11]!.id));
  expect(fatal.length).toBe(4);
  expect(fatal.at(-1)).toEqual([runs[11]!.id]);
  expect(flawsOf(await histories(world.engine))).toEqual([]);
});
