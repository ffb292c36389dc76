// Operating on jobs: cancel, stop, pause, resume, retry, requeue, edit, delete, in each state and more than once.
import { describe, expect, test as plainTest } from 'vitest';
import { deleteJob } from '../../src/jobs/operate.ts';
import type { Job } from '../../src/model/job.ts';
import { stores, storesOfRun } from '../support/stores.ts';
import { broken, codeOf, minute, refusalOf, replacing, startOfTime, tester, testOn, World } from './world.ts';

/** A job in each place where it can be. */
const places = {
  pending: (world: World) => world.create(),
  'pending later': (world: World) => world.create({ due: startOfTime + minute }),
  'held by pause': async (world: World) => world.jobs.pause((await world.create()).id, tester),
  'held by parent': async (world: World) => {
    const parent = await world.running();
    return (await world.jobs.createChildren(parent.id, [{ type: 'child' }], 'worker'))[0]!;
  },
  'held by children': async (world: World) => {
    const { run } = await world.family(1);
    await world.claim();
    return run;
  },
  running: (world: World) => world.running(),
  succeeded: (world: World) => world.ended(),
  failed: async (world: World) => {
    const job = await world.running();
    return world.jobs.fail(job, job.fence, broken, tester, false);
  },
  cancelled: async (world: World) => world.jobs.stop((await world.create()).id, tester),
} as const;

type Place = keyof typeof places;
const placeNames = Object.keys(places) as Place[];

/** What stands after an act in each place; a code where it is refused. */
type Outcomes = { readonly [P in Place]: string };

async function outcome(world: World, place: Place, act: (job: Job) => Promise<unknown>): Promise<string> {
  const job = await places[place](world);
  try {
    await act(job);
  } catch {
    expect(await world.get(job), 'a refusal changes nothing').toEqual(job);
    return codeOf(act(job));
  }
  return world.standing(job);
}

describe.each(storesOfRun)('what an operator can do where on $name', (kind) => {
  const test = testOn(kind);

  const table: { title: string; act: (world: World) => (job: Job) => Promise<unknown>; outcomes: Outcomes }[] = [
    {
      title: 'cancel ends what waits and asks what runs',
      act: (world) => (job) => world.jobs.cancel(job.id, tester),
      outcomes: {
        pending: 'cancelled',
        'pending later': 'cancelled',
        'held by pause': 'cancelled',
        'held by parent': 'cancelled',
        'held by children': 'held by children',
        running: 'running',
        succeeded: 'wrong.state',
        failed: 'wrong.state',
        cancelled: 'wrong.state',
      },
    },
    {
      title: 'stop ends whatever is open',
      act: (world) => (job) => world.jobs.stop(job.id, tester),
      outcomes: {
        pending: 'cancelled',
        'pending later': 'cancelled',
        'held by pause': 'cancelled',
        'held by parent': 'cancelled',
        'held by children': 'cancelled',
        running: 'cancelled',
        succeeded: 'wrong.state',
        failed: 'wrong.state',
        cancelled: 'wrong.state',
      },
    },
    {
      title: 'pause holds what waits',
      act: (world) => (job) => world.jobs.pause(job.id, tester),
      outcomes: {
        pending: 'held by pause',
        'pending later': 'held by pause',
        'held by pause': 'wrong.state',
        'held by parent': 'wrong.state',
        'held by children': 'wrong.state',
        running: 'wrong.state',
        succeeded: 'wrong.state',
        failed: 'wrong.state',
        cancelled: 'wrong.state',
      },
    },
    {
      title: 'resume lets go only what was paused',
      act: (world) => (job) => world.jobs.resume(job.id, tester),
      outcomes: {
        pending: 'wrong.state',
        'pending later': 'wrong.state',
        'held by pause': 'pending',
        'held by parent': 'wrong.state',
        'held by children': 'wrong.state',
        running: 'wrong.state',
        succeeded: 'wrong.state',
        failed: 'wrong.state',
        cancelled: 'wrong.state',
      },
    },
    {
      title: 'retry opens only what has ended',
      act: (world) => (job) => world.jobs.retry(job.id, tester),
      outcomes: {
        pending: 'wrong.state',
        'pending later': 'wrong.state',
        'held by pause': 'wrong.state',
        'held by parent': 'wrong.state',
        'held by children': 'wrong.state',
        running: 'wrong.state',
        succeeded: 'pending',
        failed: 'pending',
        cancelled: 'pending',
      },
    },
    {
      title: 'edit changes a job and leaves it where it is',
      act: (world) => (job) => world.jobs.edit(job.id, { priority: 3 }, tester),
      outcomes: {
        pending: 'pending',
        'pending later': 'pending',
        'held by pause': 'held by pause',
        'held by parent': 'held by parent',
        'held by children': 'held by children',
        running: 'running',
        succeeded: 'succeeded',
        failed: 'failed',
        cancelled: 'cancelled',
      },
    },
    {
      title: 'requeue brings a job back from where it is',
      act: (world) => (job) => world.jobs.requeue(job.id, startOfTime + 5, tester),
      outcomes: {
        pending: 'pending',
        'pending later': 'pending',
        'held by pause': 'pending',
        'held by parent': 'pending',
        'held by children': 'pending',
        running: 'pending',
        succeeded: 'pending',
        failed: 'pending',
        cancelled: 'pending',
      },
    },
  ];

  describe.each(table)('$title', ({ act, outcomes }) => {
    test.for(placeNames)('%s', async (place, { world }) => {
      expect(await outcome(world, place, act(world))).toBe(outcomes[place]);
    });
  });

  test.for(placeNames)('delete removes only what has ended: %s', async (place, { world }) => {
    const job = await places[place](world);
    if (job.state !== 'ended') {
      expect(await refusalOf(world.jobs.delete(job.id))).toMatchObject({
        code: 'wrong.state',
        detail: { id: job.id, state: job.state },
      });
      expect(await world.get(job)).toEqual(job);
      return;
    }
    await world.jobs.delete(job.id);
    expect(await world.jobs.get(job.id)).toBeNull();
    expect(await world.jobs.history(job.id)).toEqual([]);
  });

  test('a job that does not exist is refused by every act', async ({ world }) => {
    const { jobs } = world;
    const acts = [
      () => jobs.cancel(4711, tester),
      () => jobs.stop(4711, tester),
      () => jobs.pause(4711, tester),
      () => jobs.resume(4711, tester),
      () => jobs.retry(4711, tester),
      () => jobs.requeue(4711, 0, tester),
      () => jobs.edit(4711, { priority: 1 }, tester),
      () => jobs.delete(4711),
      () => jobs.succeed(4711, 1, tester),
    ];
    for (const act of acts) expect(await refusalOf(act())).toMatchObject({ code: 'unknown.job', detail: { id: 4711 } });
    expect(await jobs.get(4711)).toBeNull();
    expect(await jobs.history(4711)).toEqual([]);
  });
});

describe.each(storesOfRun)('cancelling on $name', (kind) => {
  const test = testOn(kind);

  test('actor, time, reason and code of a cancel are stored', async ({ world }) => {
    const job = await world.running();
    await world.clock.advance(5);
    const asked = await world.jobs.cancel(job.id, { by: 'ada', why: 'wrong customer', code: 'admin' });
    expect(asked.cancel).toEqual({
      by: 'ada',
      at: startOfTime + 5,
      why: 'wrong customer',
      code: 'admin',
      fate: 'cancelled',
      stopAt: null,
    });
    expect(await world.get(job)).toEqual(asked);
  });

  test('a cancelled job that never ran keeps who ended it', async ({ world }) => {
    const { id } = await world.create();
    const ended = await world.jobs.cancel(id, { by: 'ada', why: 'not needed' });
    expect(ended).toMatchObject({
      fate: 'cancelled',
      cancel: { by: 'ada', why: 'not needed', code: 'user' },
      endedAt: startOfTime,
    });
  });

  test('a running job ends as cancelled when its holder lets go, whatever it says', async ({ world }) => {
    const endings = {
      succeed: (job: Job) => world.jobs.succeed(job, job.fence, tester, '1'),
      fail: (job: Job) => world.jobs.fail(job, job.fence, broken, tester),
      release: (job: Job) => world.jobs.release(job, job.fence, tester),
    };
    for (const [name, end] of Object.entries(endings)) {
      const job = await world.running({ type: name });
      await world.jobs.cancel(job.id, tester);
      expect(await end(job)).toMatchObject({ fate: 'cancelled', result: null });
      const late = { succeed: 'succeeded', fail: 'failed', release: undefined }[name];
      expect(await world.lastEvent(job)).toMatchObject({ kind: 'cancelled', ...(late ? { late } : {}) });
    }
  });

  test('to ask again changes nothing', async ({ world }) => {
    const job = await world.running();
    const asked = await world.jobs.cancel(job.id, { by: 'ada' });
    await world.clock.advance(5);
    for (let time = 0; time < 3; time += 1)
      expect(await world.jobs.cancel(job.id, { by: 'bob', why: 'again' })).toEqual(asked);
    expect(await world.events(job)).toEqual(['created', 'claimed', 'cancelAsked']);
  });

  test('many who ask at the same moment leave one note', async ({ world }) => {
    const other = await world.again();
    const job = await world.running();
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? world.jobs : other).cancel(job.id, { by: `user ${at}` })),
    );
    expect(await world.events(job)).toEqual(['created', 'claimed', 'cancelAsked']);
  });

  test('with grace the note says when patience ends', async ({ world }) => {
    const job = await world.running();
    expect((await world.jobs.cancel(job.id, tester, 5000)).cancel).toMatchObject({ stopAt: startOfTime + 5000 });
    expect((await world.jobs.cancel(job.id, tester, 9000)).cancel, 'patience cannot grow').toMatchObject({
      stopAt: startOfTime + 5000,
    });
    expect((await world.jobs.cancel(job.id, tester, 1000)).cancel, 'but shrink').toMatchObject({
      stopAt: startOfTime + 1000,
    });
    expect((await world.jobs.cancel(job.id, tester)).cancel, 'and stays').toMatchObject({ stopAt: startOfTime + 1000 });
    expect((await world.jobs.cancel(job.id, tester, 0)).cancel).toMatchObject({ stopAt: startOfTime });
  });

  test('a job that was asked to cancel continues under its lease until its holder ends it or its grace is over', async ({
    world,
  }) => {
    const job = await world.running();
    await world.jobs.cancel(job.id, tester, 5000);
    expect(await world.jobs.extend([{ id: job.id, fence: job.fence }], 2 * minute)).toEqual([true]);
    const ended = await world.jobs.stop(job.id, { by: 'patience', code: 'server' });
    expect(ended).toMatchObject({ fate: 'cancelled', cancel: { by: 'tester', stopAt: startOfTime + 5000 } });
    expect(await codeOf(world.jobs.succeed(job, job.fence, tester))).toBe('lost.lease');
  });

  test('a holder learns of the cancel with its next heartbeat', async ({ world }) => {
    const job = await world.running({}, { holder: 'ada' });
    const other = await world.running({ type: 'other' }, { holder: 'ada' });
    await world.jobs.cancel(job.id, tester);
    const about = { host: 'h', pid: 1, version: '1', types: [], slots: 1, busy: 0, draining: false };
    const holds = [job, other].map(({ id, fence }) => ({ id, fence }));
    expect(await world.store.beat({ id: 'ada', leaseMs: minute, about, holds })).toMatchObject({
      lost: [],
      cancelled: [job.id],
    });
  });
});

describe.each(storesOfRun)('pausing on $name', (kind) => {
  const test = testOn(kind);

  test('a paused job is not handed out, and resumed it is due as before', async ({ world }) => {
    const { id } = await world.create({ due: startOfTime + 5 });
    await world.jobs.pause(id, { by: 'ada', why: 'maintenance' });
    await world.clock.advance(minute);
    expect(await world.claimIds()).toEqual([]);
    expect(await world.jobs.resume(id, tester)).toMatchObject({ state: 'pending', due: startOfTime + 5 });
    expect(await world.claimIds()).toEqual([id]);
    expect(await world.jobs.history(id, 2, 1)).toEqual([
      { n: 2, at: startOfTime, by: 'ada', why: 'maintenance', kind: 'paused' },
    ]);
  });
});

describe.each(storesOfRun)('retrying on $name', (kind) => {
  const test = testOn(kind);

  test('a job opened again starts a new generation with all its tries', async ({ world }) => {
    const job = await world.running({ policy: { attemptsMax: 1 }, due: 5 });
    await world.jobs.fail(job, job.fence, broken, tester);
    await world.clock.advance(5);
    const reopened = await world.jobs.retry(job.id, tester);
    expect(reopened).toMatchObject({
      state: 'pending',
      generation: 2,
      attempt: 0,
      crashes: 0,
      error: null,
      cancel: null,
      result: null,
      due: startOfTime + 5,
    });
    expect(await world.get(job)).toEqual(reopened);
    const again = await world.claimOne(job);
    expect(await world.jobs.fail(again, again.fence, broken, tester)).toMatchObject({
      fate: 'failed',
      generation: 2,
      attempt: 1,
    });
    expect(await world.events(job)).toEqual(['created', 'claimed', 'failed', 'reopened', 'claimed', 'failed']);
  });

  test('a job that succeeded loses its old result when it is opened again', async ({ world }) => {
    const job = await world.running();
    await world.jobs.succeed(job, job.fence, tester, '1');
    expect(await world.jobs.retry(job.id, tester)).toMatchObject({ result: null });
    const again = await world.claimOne(job);
    expect(await world.jobs.succeed(again, again.fence, tester)).toMatchObject({ fate: 'succeeded', result: null });
    expect(await world.get(job)).toMatchObject({ result: null });
  });

  /** A run of four tasks, of which two succeeded, one failed and one was cancelled, gathered. */
  async function mixedRun(world: World): Promise<{ run: Job; tasks: Job[] }> {
    const { run, tasks } = await world.family(4);
    const claimed = await world.claim({ kinds: ['task'], limit: 3 });
    await world.jobs.succeed(claimed[0]!, claimed[0]!.fence, tester);
    await world.jobs.succeed(claimed[1]!, claimed[1]!.fence, tester);
    await world.jobs.fail(claimed[2]!, claimed[2]!.fence, broken, tester, false);
    await world.jobs.cancel(tasks[3]!.id, tester);
    const gathering = await world.claimOne(run);
    await world.jobs.succeed(gathering, gathering.fence, tester, '"first"');
    return { run, tasks };
  }

  test('a run is opened again with all of its tasks, and waits for them', async ({ world }) => {
    const { run, tasks } = await mixedRun(world);
    expect(await world.jobs.retry(run.id, tester)).toMatchObject({
      state: 'held',
      hold: 'children',
      phase: 'gather',
      generation: 2,
    });
    for (const task of tasks) expect(await world.get(task)).toMatchObject({ state: 'pending', generation: 2 });
    const claimed = await world.claim({ kinds: ['task'], limit: 10 });
    for (const task of claimed) await world.jobs.succeed(task, task.fence, tester);
    const gathering = await world.claimOne(run);
    expect(await world.jobs.succeed(gathering, gathering.fence, tester, '"second"')).toMatchObject({
      result: '"second"',
    });
  });

  test('a run is opened again with only the tasks that did not succeed', async ({ world }) => {
    const { run, tasks } = await mixedRun(world);
    await world.jobs.retry(run.id, tester, { only: 'failed' });
    const standings = [];
    for (const task of tasks) standings.push(await world.standing(task));
    expect(standings).toEqual(['succeeded', 'succeeded', 'pending', 'pending']);
    const claimed = await world.claim({ kinds: ['task'], limit: 10 });
    for (const task of claimed) await world.jobs.succeed(task, task.fence, tester);
    expect(await world.standing(run)).toBe('pending');
  });

  test('a run of which no task failed gathers again', async ({ world }) => {
    const { run } = await world.family(1);
    const [task] = await world.claim({ kinds: ['task'] });
    await world.jobs.succeed(task!, task!.fence, tester);
    const gathering = await world.claimOne(run);
    await world.jobs.fail(gathering, gathering.fence, broken, tester, false);
    expect(await world.jobs.retry(run.id, tester, { only: 'failed' })).toMatchObject({ state: 'pending', phase: 'gather' });
    expect(await world.standing(task!)).toBe('succeeded');
  });

  test('a run that failed while it prepared prepares again', async ({ world }) => {
    const run = await world.running({ type: 'family', phase: 'prepare' });
    await world.jobs.fail(run, run.fence, broken, tester, false);
    expect(await world.jobs.retry(run.id, tester)).toMatchObject({ state: 'pending', phase: 'prepare' });
  });

  test('one task can be opened again while its run waits', async ({ world }) => {
    const { run, tasks } = await world.family(2);
    await world.jobs.cancel(tasks[0]!.id, tester);
    expect(await world.jobs.retry(tasks[0]!.id, tester)).toMatchObject({ state: 'pending', generation: 2 });
    const claimed = await world.claim({ kinds: ['task'], limit: 10 });
    for (const task of claimed) await world.jobs.succeed(task, task.fence, tester);
    expect(await world.standing(run)).toBe('pending');
  });

  test('S15: one task alone cannot be opened again when its run no longer waits', async ({ world }) => {
    const { run, tasks } = await mixedRun(world);
    const refusal = await refusalOf(world.jobs.retry(tasks[2]!.id, tester));
    expect(refusal).toMatchObject({ code: 'wrong.state', detail: { id: tasks[2]!.id, parent: run.id } });
    expect(refusal.message).toContain(`retry job ${run.id} instead`);
    expect(await world.standing(tasks[2]!)).toBe('failed');
  });

  test('two who retry at the same moment open one generation', async ({ world }) => {
    const other = await world.again();
    const job = await world.ended({ unique: { key: 'k' } });
    const answers = await Promise.allSettled([
      world.jobs.retry(job.id, tester),
      other.retry(job.id, tester),
      world.jobs.retry(job.id, tester),
    ]);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'wrong.state' });
    expect(await world.get(job)).toMatchObject({ generation: 2, state: 'pending' });
  });
});

describe.each(storesOfRun)('retrying at a limit on $name', (kind) => {
  const test = testOn(kind);

  test('S32: a run that waits for its tasks again counts toward its gate only when it passes the gate', async ({ world }) => {
    const gate = { typeMax: 1 };
    const { run, tasks: [task] } = await world.family(1, { gate });
    await world.jobs.stop(run.id, tester);
    await world.family(1, { gate });
    await world.jobs.retry(run.id, tester);
    expect([...(await world.store.admittedPerGate(['family'])).values()]).toEqual([1]);

    const again = await world.claimOne(task!);
    await world.jobs.succeed(again, again.fence, tester);
    expect(await world.standing(run)).toBe('pending');
    expect(await world.claimIds({ names: { exact: ['family'] } })).toEqual([]);
  });
});

describe.each(storesOfRun)('requeueing on $name', (kind) => {
  const test = testOn(kind);

  test('a running job taken back counts no try, and its holder can write nothing', async ({ world }) => {
    const job = await world.running();
    expect(await world.jobs.requeue(job.id, startOfTime + 5, tester)).toMatchObject({
      state: 'pending',
      attempt: 0,
      due: startOfTime + 5,
    });
    expect(await codeOf(world.jobs.succeed(job, job.fence, tester))).toBe('lost.lease');
    await world.clock.advance(5);
    expect(await world.claimOne(job)).toMatchObject({ fence: 2, attempt: 1 });
  });

  test('two who requeue a job with a key at the same moment both bring it back', async ({ world }) => {
    const job = await world.ended({ unique: { key: 'k' } });
    await Promise.all([world.jobs.requeue(job.id, 5, tester), world.jobs.requeue(job.id, 6, tester)]);
    expect(await world.events(job)).toEqual(['created', 'claimed', 'succeeded', 'reopened', 'edited']);
    expect(await world.get(job)).toMatchObject({ state: 'pending', generation: 2 });
  });

  test('a waiting job is due when asked', async ({ world }) => {
    const job = await world.create({ due: startOfTime + minute });
    await world.jobs.requeue(job.id, startOfTime, tester);
    expect(await world.claimIds()).toEqual([job.id]);
  });
});

describe.each(storesOfRun)('editing on $name', (kind) => {
  const test = testOn(kind);

  test('every field that an edit may change is changed, stored and in the event', async ({ world }) => {
    const job = await world.create({ tags: { old: 'x' } });
    const edit = {
      type: 'renamed',
      priority: 9,
      due: startOfTime + 5,
      input: '{"new":true}',
      policy: { attemptsMax: 7 },
      tags: { new: 'y' },
    };
    const edited = await world.jobs.edit(job.id, edit, { by: 'ada', why: 'typo' });
    expect(edited).toMatchObject(edit);
    expect(await world.get(job)).toEqual(edited);
    expect(await world.lastEvent(job)).toEqual({ n: 2, at: startOfTime, by: 'ada', why: 'typo', kind: 'edited', edit });
    expect((await world.jobs.edit(job.id, { tags: null }, tester)).tags).toBeNull();
    await world.clock.advance(5);
    expect(await world.claimIds({ names: { exact: ['renamed'] } })).toEqual([job.id]);
  });

  test('a new priority counts in the next claim', async ({ world }) => {
    const [first, second] = [await world.create(), await world.create()];
    await world.jobs.edit(second.id, { priority: 1 }, tester);
    expect(await world.claimIds()).toEqual([second.id, first.id]);
  });

  test('an ended job can be edited and stays ended', async ({ world }) => {
    const job = await world.ended();
    expect(await world.jobs.edit(job.id, { tags: { seen: 'yes' }, input: '1' }, tester)).toMatchObject({
      fate: 'succeeded',
      tags: { seen: 'yes' },
    });
    expect(await world.get(job)).toMatchObject({ tags: { seen: 'yes' }, input: '1' });
  });

  test.for([
    { state: 'ended' },
    { id: 99 },
    { version: 0 },
    { fence: 99 },
    { parent: 1 },
    { cancel: null },
    { result: '1' },
    { unknown: 1 },
  ])('nothing else can be written with it: %j', async (edit, { world }) => {
    const job = await world.create();
    expect(await codeOf(world.jobs.edit(job.id, edit as object, tester))).toBe('malformed.option');
    expect(await world.get(job)).toEqual(job);
  });
});

describe.each(storesOfRun)('deleting on $name', (kind) => {
  const test = testOn(kind);

  test('a run goes with its tasks', async ({ world }) => {
    const { run, tasks } = await world.family(3);
    await world.jobs.stop(run.id, tester);
    const other = await world.ended();
    await world.jobs.delete(run.id);
    for (const { id } of [run, ...tasks]) {
      expect(await world.jobs.get(id)).toBeNull();
      expect(await world.jobs.history(id)).toEqual([]);
    }
    expect((await world.everyJob()).map(({ id }) => id)).toEqual([other.id]);
  });

  test('S13: a task does not go without its run', async ({ world }) => {
    const { run, tasks: [task] } = await world.family(1);
    await world.jobs.stop(task!.id, tester);
    expect(await refusalOf(world.jobs.delete(task!.id))).toMatchObject({ code: 'wrong.state', detail: { parent: run.id } });
    expect(await world.standing(task!)).toBe('cancelled');
  });

  test('what is deleted cannot be deleted again', async ({ world }) => {
    const { id } = await world.ended();
    await world.jobs.delete(id);
    expect(await codeOf(world.jobs.delete(id))).toBe('unknown.job');
  });

  test('of several who delete at the same moment one does', async ({ world }) => {
    const { id } = await world.ended();
    const answers = await Promise.allSettled([world.jobs.delete(id), world.jobs.delete(id), world.jobs.delete(id)]);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

plainTest('a deletion of a job that changes at every try is refused after a number of tries', async () => {
  const world = await World.open(stores[0]!);
  const { id } = await world.ended();
  const store = replacing(world.store, { commit: (batch) => Promise.resolve(batch.changes.map(() => false)) });
  expect(await codeOf(deleteJob({ store, ids: world.jobs.ids }, id, null))).toBe('contended');
  await world.close();
});
