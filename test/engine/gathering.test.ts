// Gathering by itself: which jobs wait for others, and which are postponed.
import { expect, test } from 'vitest';
import { jobType, typed } from '../../src/index.ts';
import { JobBatch } from '../../src/engine/attempt/job-batch.ts';
import { Gathering } from '../../src/engine/loops/gathering.ts';
import type { RunningJob } from '../../src/model/job.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';

const type = jobType('grouped', {
  input: typed<{ tenant: string | null }>(),
  batch: { size: 8, wait: '1m', by: ({ tenant }) => tenant!.trim() },
  runBatch: ({ jobs }) => jobs.map((job) => job.done()),
});

let ids = 0;
const crashed = (tenant: string | null): RunningJob =>
  ({ id: (ids += 1), type: 'grouped', kind: 'run', phase: 'run', typeVersion: 1, crashes: 1, policy: {}, details: null, input: JSON.stringify({ tenant }) }) as unknown as RunningJob;

function gathering(): { readonly batches: JobBatch[]; readonly postponed: number[]; readonly add: (job: RunningJob) => void } {
  const [batches, postponed]: [JobBatch[], number[]] = [[], []];
  const it = new Gathering({
    clock: new VirtualClock(0),
    typeOf: () => type,
    start: (work) => {
      if (work instanceof JobBatch) batches.push(work);
    },
    postpone: async ({ id }) => void postponed.push(id),
    freeSlots: () => 4,
    now: () => 0,
  });
  return { batches, postponed, add: (job) => it.add([job]) };
}

test('a crashed job whose group cannot be computed leaves the batch of crashed jobs as it is', async () => {
  const { batches, postponed, add } = gathering();
  add(crashed('a'));
  add(crashed(null));
  expect(batches).toHaveLength(1);
  batches[0]!.withdraw();
  for (let turns = 0; turns < 3; turns += 1) await turn();
  const other = crashed('b');
  add(other);
  expect(postponed).toEqual([other.id]);
});
