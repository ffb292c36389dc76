// Task counts: an expensive count is cached for a while, a cheap one or one of an ended run never.
import { expect, test } from 'vitest';
import { TaskCountCache } from '../../src/engine/inspect/task-counts.ts';
import type { Jobs } from '../../src/jobs.ts';
import type { Job } from '../../src/model/job.ts';
import { VirtualClock } from '../../src/time/clock.ts';

const open = { id: 1, state: 'held' } as Job;
const ended = { id: 1, state: 'ended' } as Job;

/** Counts take so long, and answer how many there have been. */
function counting(clock: VirtualClock, tookMs: number): { jobs: Jobs; counts: () => number } {
  let counts = 0;
  const count = async (): Promise<object[]> => {
    counts += 1;
    await clock.advance(tookMs);
    return [{ kind: 'task', type: 't', standing: 'succeeded', count: counts }];
  };
  return { jobs: { count } as unknown as Jobs, counts: () => counts };
}

test('an expensive count is cached for ten times as long as it took', async () => {
  const clock = new VirtualClock(0);
  const tallies = new TaskCountCache(clock);
  const { jobs, counts } = counting(clock, 100);
  expect((await tallies.count(jobs, open)).succeeded).toBe(1);
  await clock.advance(999);
  expect((await tallies.count(jobs, open)).succeeded).toBe(1);
  await clock.advance(1);
  expect((await tallies.count(jobs, open)).succeeded).toBe(2);
  expect(counts()).toBe(2);
});

test('a cheap count is made anew each time', async () => {
  const clock = new VirtualClock(0);
  const tallies = new TaskCountCache(clock);
  const { jobs } = counting(clock, 20);
  expect((await tallies.count(jobs, open)).succeeded).toBe(1);
  expect((await tallies.count(jobs, open)).succeeded).toBe(2);
});

test('the tasks of an ended run are counted exactly, however expensive the count was', async () => {
  const clock = new VirtualClock(0);
  const tallies = new TaskCountCache(clock);
  const { jobs } = counting(clock, 100);
  await tallies.count(jobs, open);
  expect((await tallies.count(jobs, ended)).succeeded).toBe(2);
});
