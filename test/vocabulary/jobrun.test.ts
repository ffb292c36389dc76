// JobRun and JobTask: attempts derived from events, and the statistics of a run.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attemptsOf, isFailed, isSucceeded, runState, runStats, taskState } from '../../src/vocabulary/jobrun.ts';
import type { TaskTally } from '../../src/vocabulary/jobrun.ts';
import { reachable } from '../support/reachable.ts';
import {
  bornAt, broken, cancel, claim, fail, lapse, made, on, plan, release, requeue, retry, settle, stop, succeed, type Made,
} from './made.ts';

const withTasks = { first: { phase: 'prepare' } } as const;

/** Attempts in short, with times counted from birth. */
const short = ({ events }: Made): unknown[] =>
  attemptsOf(events).map(({ start, end, worker, phase, error, endedBy }) => [
    start - bornAt, end === null ? null : end - bornAt, worker, phase, error?.code ?? null, endedBy,
  ]);

describe('attempts', () => {
  test('a job that was never claimed has none', () => expect(short(made({}))).toEqual([]));

  test('the newest comes first, each with its own start, end, worker and error', () => {
    const job = made({}, [0, claim('w1')], [5, fail(broken)], [10, claim('w2')], [25, succeed()]);
    expect(short(job)).toEqual([
      [10, 25, 'w2', 'run', null, 'succeeded'],
      [0, 5, 'w1', 'run', 'unknown', 'retried'],
    ]);
  });

  test('one that lasts has no end', () => {
    expect(short(made({}, [0, claim()]))).toEqual([[0, null, 'w1', 'run', null, null]]);
  });

  test('a lost lease is an attempt that crashed, and a released one has no error', () => {
    const lost = made({}, [0, claim('w1', bornAt + 10)], [20, lapse()]);
    const job = on(lost, [30, claim('w2')], [40, release()], [50, claim('w3')]);
    expect(short(job)).toEqual([
      [50, null, 'w3', 'run', null, null],
      [30, 40, 'w2', 'run', null, 'released'],
      [0, 20, 'w1', 'run', 'crashed', 'lapsed'],
    ]);
    expect(attemptsOf(job.events)[2]!.error!.message).toBe('w1 lost its lease in phase run');
  });

  test('a run has one for preparing its tasks and one for gathering their results', () => {
    const run = made(withTasks, [0, claim('w1')], [4, plan(3)], [50, settle()], [60, claim('w2')], [63, succeed()]);
    expect(short(run)).toEqual([
      [60, 63, 'w2', 'gather', null, 'succeeded'],
      [0, 4, 'w1', 'prepare', null, 'planned'],
    ]);
  });

  test('a job that was handed off stays one attempt of its first worker', () => {
    const handOff = ({ fence }: { fence: number }) => ({ do: 'handOff', fence, holder: 'token', until: null }) as const;
    const job = made({}, [0, claim('w1')], [5, handOff], [9, succeed()]);
    expect(short(job)).toEqual([[0, 9, 'w1', 'run', null, 'succeeded']]);
  });

  test('a run that fails without a worker has an attempt without a worker, with the error', () => {
    const run = made(withTasks, [0, claim()], [1, plan(2)], [5, cancel({ fate: 'failed' })], [9, settle()]);
    expect(short(run)[0]).toEqual([9, 9, null, 'gather', 'automation', 'failed']);
    expect(isFailed(run.job)).toBe(true);
  });

  test('those before a retry by hand stay', () => {
    const job = made({}, [0, claim()], [5, fail(broken, false)], [10, retry()], [20, claim('w2')]);
    expect(short(job)).toHaveLength(2);
  });

  test('always: as many as there were claims, in order, and only a running job has one that lasts', () => {
    fc.assert(
      fc.property(reachable(), ({ moments }) => {
        for (const { job, events } of moments) {
          const attempts = attemptsOf(events);
          expect(attempts.filter(({ worker }) => worker !== null)).toHaveLength(job.fence);
          const starts = attempts.map(({ start }) => start);
          expect(starts).toEqual(starts.toSorted((a, b) => b - a));
          const lasting = attempts.filter(({ end }) => end === null);
          expect(lasting).toEqual(job.state === 'running' ? [attempts[0]] : []);
        }
      }),
    );
  });

  test('always: failed is DONE and the newest attempt has an error, succeeded is DONE and it has none', () => {
    fc.assert(
      fc.property(reachable(), ({ moments }) => {
        for (const { job, events } of moments) {
          const isDone = taskState(job) === 'DONE';
          const error = attemptsOf(events)[0]?.error ?? null;
          expect([isFailed(job), isSucceeded(job)]).toEqual([isDone && error !== null, isDone && error === null]);
          if (isFailed(job)) expect(error).toEqual(job.error);
        }
      }),
    );
  });
});

describe('the states of a run', () => {
  test('once it has its tasks it is never PENDING again, however often gathering is tried', () => {
    fc.assert(
      fc.property(reachable({ kinds: ['run'] }), ({ moments }) => {
        for (const { job } of moments) if (job.phase === 'gather') expect(runState(job)).not.toBe('PENDING');
      }),
    );
  });

  test('once asked to cancel it stays CANCELLING until it ends or is opened again', () => {
    fc.assert(
      fc.property(reachable({ kinds: ['run', 'bedrock'] }), ({ moments }) => {
        for (const [index, { job }] of moments.entries()) {
          const before = moments[index - 1];
          const wasAsked = before !== undefined && runState(before.job) === 'CANCELLING';
          if (wasAsked) expect(['CANCELLING', 'DONE', 'CANCELLED']).toContain(runState(job));
        }
      }),
    );
  });
});

const tallies = (counts: Partial<Record<TaskTally['standing'], number>>): TaskTally[] =>
  Object.entries(counts).map(([standing, count]) => ({ standing: standing as TaskTally['standing'], count }));

const statsOf = (counts: Partial<Record<TaskTally['standing'], number>>, { job, events }: Made = made({})) =>
  runStats(job, tallies(counts), events);

describe('the figures of a run', () => {
  test('tasks are counted by state, in the words of tasks', () => {
    expect(statsOf({ pending: 1, held: 2, running: 4, succeeded: 8, failed: 16, cancelled: 32 })).toMatchObject({
      tasksByState: { PENDING: 3, RUNNING: 4, DONE: 24, CANCELLED: 32 },
      tasksTotal: 63,
      tasksSucceeded: 8,
      tasksFailed: 16,
    });
  });

  test.each([
    [0, {}],
    [0, { pending: 5, running: 3 }],
    [1, { pending: 999, succeeded: 1 }],
    [33, { running: 2, succeeded: 1 }],
    [50, { running: 2, cancelled: 1, failed: 1 }],
    [99, { running: 1, succeeded: 999 }],
    [100, { succeeded: 1, failed: 1, cancelled: 1 }],
  ])('done is %i %% with %j', (percent, counts) => expect(statsOf(counts).percentDone).toBe(percent));

  test.each([
    [null, {}],
    [null, { succeeded: 9, running: 1 }],
    [null, { succeeded: 9, cancelled: 1 }],
    [0, { failed: 4 }],
    [1, { failed: 999, succeeded: 1 }],
    [75, { failed: 1, succeeded: 3 }],
    [99, { failed: 1, succeeded: 999 }],
    [100, { succeeded: 4 }],
  ])('success is %s %% with %j', (percent, counts) => expect(statsOf(counts).percentSuccess).toBe(percent));

  const someCounts = fc.record({
    pending: fc.nat(2),
    running: fc.nat(2),
    succeeded: fc.nat(9_999),
    failed: fc.nat(9_999),
    cancelled: fc.nat(2),
  });

  test('always: 0 and 100 percent are exact', () => {
    fc.assert(
      fc.property(someCounts, (counts) => {
        const { percentDone, percentSuccess, tasksTotal, tasksByState } = statsOf(counts);
        const ended = tasksByState.DONE + tasksByState.CANCELLED;
        expect([percentDone === 0, percentDone === 100]).toEqual([ended === 0, ended === tasksTotal && tasksTotal > 0]);
        if (percentSuccess === null) expect(tasksTotal === 0 || tasksByState.DONE < tasksTotal).toBe(true);
        else {
          const { succeeded, failed } = counts;
          expect([percentSuccess === 0, percentSuccess === 100]).toEqual([succeeded === 0, failed === 0]);
        }
      }),
    );
  });
});

describe('how long a run took', () => {
  const durationsOf = ({ job, events }: Made): unknown[] => {
    const { totalMs, prepareMs, finalizeMs } = runStats(job, [], events);
    return [totalMs, prepareMs, finalizeMs];
  };
  const ended = made(withTasks, [10, claim()], [40, plan(3)], [500, settle()], [600, claim()], [650, succeed()]);

  test('in all, and for preparing and finalizing', () => expect(durationsOf(ended)).toEqual([640, 30, 50]));

  test('a duration is null before it is known', () => {
    expect(durationsOf(made(withTasks))).toEqual([null, null, null]);
    const waiting = made(withTasks, [10, claim()], [40, plan(3)]);
    expect(durationsOf(waiting)).toEqual([null, 30, null]);
    expect(durationsOf(on(waiting, [500, settle()], [600, claim()]))).toEqual([null, 30, null]);
    expect(durationsOf(on(waiting, [500, settle()], [600, claim()], [650, fail(broken)]))).toEqual([null, 30, null]);
    expect(durationsOf(made(withTasks, [10, claim()], [40, fail(broken)]))).toEqual([null, null, null]);
  });

  test('a run that never started has no durations', () => {
    expect(durationsOf(made(withTasks, [10, stop()]))).toEqual([null, null, null]);
  });

  test('of several tries, preparing and finalizing are those that did it', () => {
    const run = made(
      withTasks, [0, claim()], [7, fail(broken)], [10, claim()], [40, plan(1)], [50, settle()],
      [60, claim()], [65, fail(broken)], [70, claim()], [90, succeed()],
    );
    expect(durationsOf(run)).toEqual([90, 30, 20]);
  });

  test('opened again for its tasks, it counts from then on, and keeps how long preparing took', () => {
    const again = on(ended, [1_000, retry(1)], [1_800, settle()], [1_900, claim()], [2_000, succeed()]);
    expect(durationsOf(again)).toEqual([1_000, 30, 100]);
  });

  test('a run that ended while it waited was not finalized', () => {
    const gaveUp = made(withTasks, [0, claim()], [5, plan(2)], [9, cancel({ fate: 'failed' })], [20, settle()]);
    expect(durationsOf(gaveUp)).toEqual([20, 5, null]);
  });

  test('a job without tasks has only a total, of its newest life', () => {
    const repeated = made({ policy: { repeat: 'FINISHED, +1 HOUR' } }, [0, claim()], [9, succeed()]);
    const stopped = on(repeated, [20, requeue(0)], [30, claim()], [35, stop()]);
    expect(durationsOf(stopped)).toEqual([5, null, null]);
  });
});
