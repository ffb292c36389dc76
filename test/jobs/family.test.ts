// Runs and their tasks, parents and their children: planned in one commit, settled after the last, cancelled together.
import { describe, expect } from 'vitest';
import { apply, remove } from '../../src/apply.ts';
import { newJobs } from '../../src/jobs/new-jobs.ts';
import { endOrphans, settleParents } from '../../src/jobs/settle.ts';
import { planStaged } from '../../src/jobs/work.ts';
import type { Job, OnTaskFailure, RunningJob } from '../../src/model/job.ts';
import { stores, storesOfRun } from '../support/stores.ts';
import { broken, codeOf, minute, startOfTime, tester, testOn, type World } from './world.ts';

const tasksOnly = { kinds: ['task'], limit: 100 } as const;

async function finishAll(world: World, jobs: readonly RunningJob[]): Promise<void> {
  for (const job of jobs) await world.jobs.succeed(job, job.fence, tester);
}

const failing = (world: World, job: RunningJob): Promise<Job> => world.jobs.fail(job, job.fence, broken, tester, false);

describe.each(storesOfRun)('a run with tasks on $name', (kind) => {
  const test = testOn(kind);

  test('S13: the tasks are stored in one commit with the run that waits for them', async ({ world }) => {
    const prepared = await world.running({ type: 'family', phase: 'prepare' });
    const run = await world.plan(prepared, 3);
    expect(run).toMatchObject({ state: 'held', hold: 'children', phase: 'gather', attempt: 0 });
    const tasks = await world.tasksOf(run);
    expect(tasks.map(({ state, parent, key }) => [state, parent, key])).toEqual([
      ['pending', run.id, 'task 0'],
      ['pending', run.id, 'task 1'],
      ['pending', run.id, 'task 2'],
    ]);
    expect(await world.lastEvent(run)).toMatchObject({ kind: 'planned', tasks: 3 });
  });

  test('S13: who lost the lease while preparing stores not a single task', async ({ world }) => {
    const stale = await world.running({ type: 'family', phase: 'prepare' });
    await world.clock.advance(minute);
    await world.repair();
    expect(await codeOf(world.plan(stale, 3))).toBe('lost.lease');
    expect(await world.count()).toBe(1);
    const current = await world.claimOne(stale);
    expect(await codeOf(world.plan(stale, 3))).toBe('lost.lease');
    await world.plan(current, 2);
    expect(await world.count()).toBe(3);
  });

  test('S13: tasks staged in pieces are invisible until the commit that plans them', async ({ world }) => {
    const run = await world.running({ type: 'family', phase: 'prepare' });
    const drafts = Array.from({ length: 5 }, (_, index) => ({
      kind: 'task' as const,
      type: 'task',
      key: `no ${index}`,
    }));
    await world.store.stageChildren(
      run.id, run.fence, await newJobs(world.jobs, drafts.slice(0, 3), 'planner', run.id),
    );
    await world.store.stageChildren(run.id, run.fence, await newJobs(world.jobs, drafts.slice(3), 'planner', run.id));
    expect(await world.count()).toBe(1);
    expect(await world.claimIds()).toEqual([]);
    await planStaged(world.store, run, { fence: run.fence, count: 5, by: 'planner' });
    expect((await world.tasksOf(run)).map(({ key }) => key)).toEqual(drafts.map(({ key }) => key));
    expect(await world.claimIds(tasksOnly)).toHaveLength(5);
  });

  test('tasks staged for a run that was cancelled while it prepared are never born', async ({ world }) => {
    const run = await world.running({ type: 'family', phase: 'prepare' });
    await world.store.stageChildren(
      run.id,
      run.fence,
      await newJobs(world.jobs, [{ kind: 'task', type: 'task' }], 'planner', run.id),
    );
    await world.jobs.cancel(run.id, tester);
    const ended = await planStaged(world.store, run, { fence: run.fence, count: 1, by: 'planner' });
    expect(ended).toMatchObject({ fate: 'cancelled' });
    expect(await world.count()).toBe(1);
  });

  test('tasks planned for a run that was cancelled while it prepared are never born', async ({ world }) => {
    const run = await world.running({ type: 'family', phase: 'prepare' });
    await world.jobs.cancel(run.id, tester);
    expect(await world.plan(run, 3)).toMatchObject({ fate: 'cancelled' });
    expect(await world.count()).toBe(1);
  });

  test('a run with no tasks goes straight to gather', async ({ world }) => {
    const run = await world.plan(await world.running({ type: 'family', phase: 'prepare' }), 0);
    expect(run).toMatchObject({ state: 'pending', phase: 'gather', due: startOfTime });
    const gathering = await world.claimOne(run);
    expect(await world.jobs.succeed(gathering, gathering.fence, tester, '"none"')).toMatchObject({
      fate: 'succeeded',
      result: '"none"',
    });
  });

  test('S12: a run gathers when no task is open any more, and not before', async ({ world }) => {
    const { run } = await world.family(3);
    const [first, second, third] = await world.claim(tasksOnly);
    await world.jobs.succeed(first!, first!.fence, tester);
    await failing(world, second!);
    expect(await world.standing(run)).toBe('held by children');
    expect(await world.claimIds()).toEqual([]);
    await world.clock.advance(5);
    await world.jobs.succeed(third!, third!.fence, tester);
    expect(await world.get(run)).toMatchObject({ state: 'pending', phase: 'gather', due: startOfTime + 5 });
    const gathering = await world.claimOne(run);
    await world.jobs.succeed(gathering, gathering.fence, tester, '{"done":2}');
    expect(await world.get(run)).toMatchObject({ fate: 'succeeded', result: '{"done":2}' });
    expect(await world.events(run)).toEqual(['created', 'claimed', 'planned', 'settled', 'claimed', 'succeeded']);
  });

  test('S12: a task that will be tried again is open', async ({ world }) => {
    const { run } = await world.family(1, {}, { policy: { attemptsMax: 2, jitter: 0, baseMs: 1000 } });
    const [task] = await world.claim(tasksOnly);
    await world.jobs.fail(task!, task!.fence, broken, tester);
    expect(await world.standing(run)).toBe('held by children');
    await world.clock.advance(1000);
    const [again] = await world.claim(tasksOnly);
    await world.jobs.fail(again!, again!.fence, broken, tester);
    expect(await world.standing(run)).toBe('pending');
  });

  test('a gathering that fails is tried again without its tasks', async ({ world }) => {
    const { run } = await world.family(1, { policy: { attemptsMax: 2, jitter: 0, baseMs: 1000 } });
    await finishAll(world, await world.claim(tasksOnly));
    const gathering = await world.claimOne(run);
    expect(await world.jobs.fail(gathering, gathering.fence, broken, tester)).toMatchObject({
      state: 'pending',
      phase: 'gather',
    });
    await world.clock.advance(1000);
    const again = await world.claimOne(run);
    expect(await world.jobs.succeed(again, again.fence, tester)).toMatchObject({ fate: 'succeeded' });
    expect((await world.tasksOf(run)).map(({ version }) => version)).toEqual([3]);
  });

  test('a task ended by its lost worker wakes the run too', async ({ world }) => {
    const { run } = await world.family(1, {}, { policy: { crashesMax: 0 } });
    await world.claim(tasksOnly);
    await world.clock.advance(minute);
    expect(await world.repair()).toMatchObject([{ fate: 'failed' }]);
    expect(await world.standing(run)).toBe('pending');
  });

  test('an operator who ends the last task wakes the run', async ({ world }) => {
    const { run, tasks } = await world.family(2);
    await world.jobs.cancel(tasks[0]!.id, tester);
    expect(await world.standing(run)).toBe('held by children');
    await world.jobs.stop(tasks[1]!.id, tester);
    expect(await world.standing(run)).toBe('pending');
  });

  test('a crash between the end of the last task and the settling is made good by the next round', async ({
    world,
  }) => {
    const { run } = await world.family(1);
    const [task] = await world.claim(tasksOnly);
    const settleable = world.store.settleable.bind(world.store);
    world.store.settleable = () => Promise.reject(new Error('crash'));
    await expect(world.jobs.succeed(task!, task!.fence, tester)).rejects.toThrow('crash');
    world.store.settleable = settleable;
    expect(await world.standing(task!)).toBe('succeeded');
    expect(await world.standing(run)).toBe('held by children');
    expect(await settleParents(world.store, { by: 'settler' })).toBe(1);
    expect(await settleParents(world.store, { by: 'settler' })).toBe(0);
    expect(await world.standing(run)).toBe('pending');
  });
});

describe.each(storesOfRun)('what failed tasks mean on $name', (kind) => {
  const test = testOn(kind);

  /** Fails so many of ten tasks, all of them running, and answers how the run stands. */
  async function failSome(
    world: World,
    onTaskFailure: OnTaskFailure | undefined,
    failures: number,
  ): Promise<{ run: Job; tasks: readonly RunningJob[] }> {
    const { run } = await world.family(10, onTaskFailure === undefined ? {} : { policy: { onTaskFailure } });
    const tasks = await world.claim(tasksOnly);
    for (const task of tasks.slice(0, failures)) await failing(world, task);
    return { run: await world.get(run), tasks };
  }

  test.for([undefined, 'collect'] as const)('%s continues whatever fails', async (policy, { world }) => {
    const { run, tasks } = await failSome(world, policy, 9);
    expect(run.cancel).toBeNull();
    await finishAll(world, tasks.slice(9));
    expect(await world.standing(run)).toBe('pending');
  });

  test('failFast cancels at the first failure: waiting tasks end, running ones are notified, the run fails last', async ({
    world,
  }) => {
    const { run, tasks } = await world.family(4, { policy: { onTaskFailure: 'failFast' } });
    const [first, second] = await world.claim({ ...tasksOnly, limit: 2 });
    await failing(world, first!);
    expect(await world.get(run)).toMatchObject({ state: 'held', cancel: { code: 'automation', fate: 'failed' } });
    expect(await world.standing(tasks[2]!)).toBe('cancelled');
    expect(await world.standing(tasks[3]!)).toBe('cancelled');
    expect(await world.get(second!)).toMatchObject({ state: 'running', cancel: { code: 'parent' } });
    await world.jobs.succeed(second!, second!.fence, tester);
    expect(await world.get(run)).toMatchObject({
      fate: 'failed',
      error: { code: 'automation', message: 'more tasks failed than the run tolerates' },
    });
    expect(await world.events(run)).toEqual(['created', 'claimed', 'planned', 'cancelAsked', 'failed']);
  });

  test('a number of failures is tolerated, and one more is not', async ({ world }) => {
    const { run, tasks } = await failSome(world, { tolerate: 2 }, 2);
    expect(run.cancel).toBeNull();
    await failing(world, tasks[2]!);
    expect((await world.get(run)).cancel).toMatchObject({ fate: 'failed' });
  });

  test('a share of failures is tolerated, and more is not', async ({ world }) => {
    const { run, tasks } = await failSome(world, { toleratePercent: 30 }, 3);
    expect(run.cancel).toBeNull();
    await failing(world, tasks[3]!);
    expect((await world.get(run)).cancel).toMatchObject({ fate: 'failed' });
  });

  test('the tasks of a run that tolerates many failures are not counted at each of them', async ({ world }) => {
    const { run } = await world.family(20, { policy: { onTaskFailure: { tolerate: 1_000 } } });
    const tasks = await world.claim(tasksOnly);
    const count = world.store.count.bind(world.store);
    let counts = 0;
    world.store.count = (...asked) => {
      counts += 1;
      return count(...asked);
    };
    for (const task of tasks.slice(1)) await failing(world, task);
    expect(counts).toBe(1);
    await failing(world, tasks[0]!);
    expect(await world.get(run)).toMatchObject({ state: 'pending', cancel: null });
  });

  test.for(['another task ends', 'the next round settles'])(
    'a crash between a failure and the cancel of its run does not let the run succeed: %s', async (what, { world }) => {
      const { run } = await world.family(2, { policy: { onTaskFailure: 'failFast' } });
      const [first, second] = await world.claim(tasksOnly);
      const finishFirst = async (): Promise<void> => {
        const load = world.store.load.bind(world.store);
        world.store.load = (ids) => (ids.includes(run.id) ? Promise.reject(new Error('crash')) : load(ids));
        await expect(failing(world, first!)).rejects.toThrow('crash');
        world.store.load = load;
      };
      if (what === 'the next round settles') await world.jobs.succeed(second!, second!.fence, tester);
      await finishFirst();
      expect(await world.get(run)).toMatchObject({ state: 'held', cancel: null });
      if (what === 'another task ends') await world.jobs.succeed(second!, second!.fence, tester);
      else await settleParents(world.store, { by: 'settler' });
      expect(await world.get(run)).toMatchObject({ fate: 'failed', error: { code: 'automation' } });
    },
  );

  test('a try that failed and will be repeated is no failure yet', async ({ world }) => {
    const { run } = await world.family(1, { policy: { onTaskFailure: 'failFast' } });
    const [task] = await world.claim(tasksOnly);
    await world.jobs.fail(task!, task!.fence, broken, tester);
    expect((await world.get(run)).cancel).toBeNull();
  });

  test('a run with too many failures at once is cancelled once', async ({ world }) => {
    const { run } = await world.family(6, { policy: { onTaskFailure: 'failFast' } });
    const tasks = await world.claim(tasksOnly);
    await Promise.all(tasks.map((task) => failing(world, task)));
    expect(await world.standing(run)).toBe('failed');
    expect((await world.events(run)).filter((kind) => kind === 'cancelAsked')).toHaveLength(1);
  });
});

describe.each(storesOfRun)('a parent that creates children while it works on $name', (kind) => {
  const test = testOn(kind);
  const child = { type: 'child', kind: 'bedrock' } as const;
  const childrenOnly = { names: { exact: ['child'] }, limit: 100 };

  test('its success lets the children go and makes it wait for them, in one commit', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock' });
    const children = await world.jobs.createChildren(parent.id, [child, child], 'worker', parent.fence);
    expect(await world.jobs.succeed(parent, parent.fence, tester)).toMatchObject({ state: 'held', hold: 'children' });
    for (const one of children) expect(await world.standing(one)).toBe('pending');
    expect(await world.events(parent)).toEqual(['created', 'claimed', 'adopted', 'planned']);
    expect(await world.events(children[0]!)).toEqual(['created', 'freed']);
  });

  test('it is handed out again when the last child has ended, and can then succeed', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock' });
    await world.jobs.createChildren(parent.id, [child, child], 'worker', parent.fence);
    await world.jobs.succeed(parent.id, parent.fence, tester);
    const [first, second] = await world.claim(childrenOnly);
    await world.jobs.succeed(first!, first!.fence, tester);
    expect(await world.standing(parent)).toBe('held by children');
    await failing(world, second!);
    const again = await world.claimOne(parent);
    expect(again).toMatchObject({ fence: 2, phase: 'run' });
    expect(await world.jobs.succeed(again, again.fence, tester, '1')).toMatchObject({ fate: 'succeeded', result: '1' });
  });

  test('it can have more children the second time', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock' });
    await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    await world.jobs.succeed(parent, parent.fence, tester);
    await finishAll(world, await world.claim(childrenOnly));
    const again = await world.claimOne(parent);
    await world.jobs.createChildren(parent.id, [child], 'worker', again.fence);
    expect(await world.jobs.succeed(again, again.fence, tester)).toMatchObject({ state: 'held', hold: 'children' });
    await finishAll(world, await world.claim(childrenOnly));
    expect(await world.standing(parent)).toBe('pending');
  });

  test('a repeat rule waits until the children have ended', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock', policy: { repeat: 'FINISHED, +1 HOUR' } });
    await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    expect(await world.jobs.succeed(parent, parent.fence, tester)).toMatchObject({ state: 'held' });
    await finishAll(world, await world.claim(childrenOnly));
    const again = await world.claimOne(parent);
    expect(await world.jobs.succeed(again, again.fence, tester)).toMatchObject({
      state: 'pending',
      due: startOfTime + 60 * minute,
    });
  });

  test('children that were all cancelled meanwhile give it one more turn, in which it sees so', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock' });
    const [only] = await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    await world.jobs.cancel(only!.id, tester);
    expect(await world.jobs.succeed(parent, parent.fence, tester)).toMatchObject({ state: 'pending' });
    const again = await world.claimOne(parent);
    expect(await world.jobs.succeed(again, again.fence, tester)).toMatchObject({ fate: 'succeeded' });
  });

  test('that is released or retried keeps its children waiting', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock' });
    const [only] = await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    await world.jobs.release(parent, parent.fence, tester);
    const second = await world.claimOne(parent);
    await world.jobs.fail(second, second.fence, broken, tester);
    expect(await world.standing(only!)).toBe('held by parent');
    await world.clock.advance(minute);
    const third = await world.claimOne(parent);
    await world.jobs.succeed(third, third.fence, tester);
    expect(await world.standing(only!)).toBe('pending');
  });

  test('S15: when it fails for good its children end with it', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock' });
    const [only] = await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    await failing(world, await world.get(parent) as RunningJob);
    expect(await world.get(only!)).toMatchObject({ fate: 'cancelled', cancel: { code: 'parent' } });
  });

  test('S15: when it turns out to be poison its children end with it', async ({ world }) => {
    const parent = await world.running({ kind: 'bedrock', policy: { crashesMax: 0 } });
    const [only] = await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    await world.clock.advance(minute);
    expect(await world.repair()).toMatchObject([{ fate: 'failed' }]);
    expect(await world.standing(only!)).toBe('cancelled');
  });

  test('S15: brought back by an operator while it waits, it still cannot succeed before its children', async ({
    world,
  }) => {
    const { run, tasks } = await world.family(1);
    await world.jobs.requeue(run.id, startOfTime, tester);
    const early = await world.claimOne(run);
    expect(await world.jobs.succeed(early, early.fence, tester)).toMatchObject({ state: 'held', hold: 'children' });
    await world.jobs.stop(tasks[0]!.id, tester);
    const gathering = await world.claimOne(run);
    expect(await world.jobs.succeed(gathering, gathering.fence, tester)).toMatchObject({ fate: 'succeeded' });
  });

  test('S4: a stale holder lets no children go', async ({ world }) => {
    const stale = await world.running({ kind: 'bedrock' });
    const [only] = await world.jobs.createChildren(stale.id, [child], 'worker', stale.fence);
    await world.clock.advance(minute);
    await world.repair();
    await world.claimOne(stale);
    expect(await codeOf(world.jobs.succeed(stale, stale.fence, tester))).toBe('lost.lease');
    expect(await world.standing(only!)).toBe('held by parent');
  });
});

describe.each(storesOfRun)('cancelling a family on $name', (kind) => {
  const test = testOn(kind);

  test('S16: waiting tasks end with their run, running ones are notified, and the run ends with the last of them', async ({
    world,
  }) => {
    const { run, tasks } = await world.family(3);
    const [running] = await world.claim({ ...tasksOnly, limit: 1 });
    await world.jobs.pause(tasks[1]!.id, tester);
    expect(await world.jobs.cancel(run.id, { by: 'ada', why: 'no need' })).toMatchObject({
      state: 'held',
      cancel: { by: 'ada', why: 'no need', code: 'user', at: startOfTime },
    });
    expect(await world.standing(tasks[1]!)).toBe('cancelled');
    expect(await world.standing(tasks[2]!)).toBe('cancelled');
    expect(await world.claimIds()).toEqual([]);
    expect((await world.get(running!)).cancel).toMatchObject({ code: 'parent' });
    await world.jobs.release(running!, running!.fence, tester);
    expect(await world.get(run)).toMatchObject({ fate: 'cancelled', cancel: { by: 'ada', why: 'no need' } });
    expect(await world.standing(running!)).toBe('cancelled');
  });

  test('a run of which no task runs is cancelled at once', async ({ world }) => {
    const { run, tasks } = await world.family(3);
    expect(await world.jobs.cancel(run.id, tester)).toMatchObject({ state: 'ended', fate: 'cancelled' });
    for (const task of tasks)
      expect(await world.get(task)).toMatchObject({ fate: 'cancelled', cancel: { code: 'parent' } });
  });

  test('S16: a task that joins a run being cancelled ends instead of being handed out', async ({ world }) => {
    const { run } = await world.family(1);
    const [running] = await world.claim(tasksOnly);
    await world.jobs.cancel(run.id, tester);
    const [late] = await world.jobs.createChildren(run.id, [{ kind: 'task', type: 'task' }], 'worker');
    expect(late).toMatchObject({ state: 'pending' });
    expect(await world.claimIds()).toEqual([]);
    expect(await world.get(late!)).toMatchObject({
      fate: 'cancelled',
      cancel: { code: 'parent' },
      attempt: 0,
      fence: 0,
    });
    await world.jobs.release(running!, running!.fence, tester);
    expect(await world.standing(run)).toBe('cancelled');
  });

  test('S16: a run whose last open task ends instead of being handed out ends with it', async ({ world }) => {
    const { run } = await world.family(1);
    const [running] = await world.claim(tasksOnly);
    await world.jobs.cancel(run.id, tester);
    await world.jobs.createChildren(run.id, [{ kind: 'task', type: 'task' }], 'worker');
    await world.jobs.release(running!, running!.fence, tester);
    expect(await world.standing(run)).toBe('held by children');
    expect(await world.claimIds()).toEqual([]);
    expect(await world.standing(run)).toBe('cancelled');
  });

  test('S15: a crash in the middle of a stop leaves no live task under an ended run', async ({ world }) => {
    const { run, tasks } = await world.family(2);
    const commit = world.store.commit.bind(world.store);
    let commits = 0;
    world.store.commit = (batch) => (++commits === 2 ? Promise.reject(new Error('crash')) : commit(batch));
    await expect(world.jobs.stop(run.id, tester)).rejects.toThrow('crash');
    world.store.commit = commit;
    expect(await world.standing(run)).toBe('held by children');
    for (const task of tasks) expect(await world.standing(task)).toBe('cancelled');
    expect(await settleParents(world.store, { by: 'settler' })).toBe(1);
  });

  test('S16: a task released by its worker after the cancel is not claimed again', async ({ world }) => {
    const { run } = await world.family(1);
    const [task] = await world.claim(tasksOnly);
    await world.jobs.cancel(run.id, tester);
    await world.clock.advance(minute);
    await world.repair();
    expect(await world.claimIds()).toEqual([]);
    expect(await world.standing(task!)).toBe('cancelled');
    expect(await world.standing(run)).toBe('cancelled');
  });

  test('S17: a task that succeeds after the cancel is recorded as late and stays cancelled', async ({ world }) => {
    const { run } = await world.family(1);
    const [task] = await world.claim(tasksOnly);
    await world.jobs.cancel(run.id, tester);
    const ended = await world.jobs.succeed(task!, task!.fence, tester, '"late"');
    expect(ended).toMatchObject({ fate: 'cancelled', result: null });
    expect(await world.lastEvent(task!)).toMatchObject({ kind: 'cancelled', late: 'succeeded', code: 'parent' });
    expect(await world.standing(run)).toBe('cancelled');
  });

  test('S17: a task that succeeded before the cancel stays succeeded', async ({ world }) => {
    const { run, tasks } = await world.family(2);
    const [task] = await world.claim({ ...tasksOnly, limit: 1 });
    await world.jobs.succeed(task!, task!.fence, tester, '1');
    await world.jobs.cancel(run.id, tester);
    expect(await world.get(tasks[0]!)).toMatchObject({ fate: 'succeeded', result: '1' });
    expect(await world.standing(run)).toBe('cancelled');
  });

  test('a run stopped by force takes its tasks along; their workers can write nothing', async ({ world }) => {
    const { run, tasks } = await world.family(3);
    const [running] = await world.claim({ ...tasksOnly, limit: 1 });
    expect(await world.jobs.stop(run.id, { by: 'ada', code: 'admin' })).toMatchObject({
      fate: 'cancelled',
      cancel: { code: 'admin' },
    });
    for (const task of tasks)
      expect(await world.get(task)).toMatchObject({ fate: 'cancelled', cancel: { code: 'parent' } });
    expect(await codeOf(world.jobs.succeed(running!, running!.fence, tester))).toBe('lost.lease');
  });

  test.for(['cancel', 'stop'] as const)(
    'S15: %s of a running parent reaches the children that wait for it',
    async (act, { world }) => {
      const parent = await world.running();
      const children = await world.jobs.createChildren(
        parent.id,
        [{ type: 'child' }, { type: 'child' }],
        'worker',
        parent.fence,
      );
      await world.jobs[act](parent.id, tester);
      for (const child of children) expect(await world.standing(child)).toBe('cancelled');
      if (act === 'cancel') await world.jobs.succeed(parent, parent.fence, tester);
      expect(await world.standing(parent)).toBe('cancelled');
    },
  );
});

describe.each(stores)('the last children at the same moment on $name', (kind) => {
  const test = testOn(kind);

  test('S15: two last tasks that end together wake the run exactly once', async ({ world }) => {
    const other = await world.again();
    for (let round = 0; round < 10; round += 1) {
      const { run } = await world.family(2);
      const [first, second] = await world.claim(tasksOnly);
      await Promise.all([
        world.jobs.succeed(first!, first!.fence, tester),
        other.succeed(second!, second!.fence, tester),
      ]);
      expect(await world.events(run)).toEqual(['created', 'claimed', 'planned', 'settled']);
      await world.jobs.stop(run.id, tester);
    }
  });

  test('S15: many tasks in one call wake each of their runs exactly once', async ({ world }) => {
    const families = [await world.family(3), await world.family(2), await world.family(1)];
    const tasks = await world.claim(tasksOnly);
    await world.jobs.conclude(tasks.map((job) => ({ job, command: { do: 'succeed', fence: job.fence } })), tester);
    for (const { run } of families)
      expect(await world.events(run)).toEqual(['created', 'claimed', 'planned', 'settled']);
  });

  test('S15: a child that is added while its parent is about to continue keeps it waiting', async ({ world }) => {
    const { run } = await world.family(1);
    const [task] = await world.claim(tasksOnly);
    // The child is added between the read that found no open child and the write.
    const settleable = world.store.settleable.bind(world.store);
    world.store.settleable = async (limit, parents) => {
      const found = await settleable(limit, parents);
      world.store.settleable = settleable;
      if (found.length > 0) await world.jobs.createChildren(run.id, [{ type: 'late', kind: 'task' }], 'sibling');
      return found;
    };
    await world.jobs.succeed(task!, task!.fence, tester);
    expect(await world.standing(run)).toBe('held by children');
    await finishAll(world, await world.claim(tasksOnly));
    expect(await world.events(run)).toEqual(['created', 'claimed', 'planned', 'adopted', 'settled']);
  });

  test('S15: a task reopened while its run is about to continue keeps it waiting', async ({ world }) => {
    const { run, tasks } = await world.family(2);
    const [first, second] = await world.claim(tasksOnly);
    await failing(world, first!);
    const settleable = world.store.settleable.bind(world.store);
    world.store.settleable = async (limit, parents) => {
      const found = await settleable(limit, parents);
      world.store.settleable = settleable;
      if (found.length > 0) await world.jobs.retry(tasks[0]!.id, tester);
      return found;
    };
    await world.jobs.succeed(second!, second!.fence, tester);
    expect(await world.standing(run)).toBe('held by children');
    await finishAll(world, await world.claim(tasksOnly));
    expect(await world.standing(run)).toBe('pending');
  });
});

describe.each(storesOfRun)('what a parent left open on $name', (kind) => {
  const test = testOn(kind);

  test('S15: is ended if the instance that ended the parent crashed before it could end them', async ({ world }) => {
    const { run, tasks } = await world.family(3);
    await apply(world.store, run, { do: 'stop', code: 'admin' }, tester);
    expect(await endOrphans(world.store, tester)).toBe(1);
    for (const task of tasks) expect(await world.standing(task)).toBe('cancelled');
    expect(await endOrphans(world.store, tester)).toBe(0);
  });

  test('S35: goes with a parent that is gone', async ({ world }) => {
    const { run, tasks } = await world.family(3);
    const ended = await apply(world.store, run, { do: 'stop', code: 'admin' }, tester);
    await remove(world.store, [ended.after!]);
    expect(await endOrphans(world.store, tester)).toBe(1);
    for (const { id } of tasks) expect(await world.jobs.get(id)).toBeNull();
  });
});
