// Runs that consist of tasks: prepared once, worked on one by one, gathered at the end.
import { describe, expect, test } from 'vitest';
import {
  attemptsOf, Fail, jobDef, jobType, RunCancelled, RunFailed, runState, taskState, typed,
} from '../../../src/index.ts';
import type { Job, TestEngine } from './kit.ts';
import { Door, forever, kindsOf, refused, start, thrown, untilTold } from './kit.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Doubles each number up to the one asked for, and adds them up. */
const doubling = jobType('doubling', {
  input: typed<number>(),
  jobDetails: () => ({ factor: 2 }),
  taskDetails: ({ input }) => numbers(input),
  taskResults: ({ details, task }) => task * details.factor,
  jobResults: async ({ tasks, counts }) => {
    let sum = 0;
    for await (const { result } of tasks) sum += result ?? 0;
    return { sum, counts };
  },
});

const tasksOf = async (t: TestEngine, run: { readonly id: number }): Promise<readonly Job[]> =>
  (await t.engine.find({ parent: run.id }, { order: 'oldest', limit: 1000 })).jobs;

describe('the phases', () => {
  test('prepare, work and gather give the result', async () => {
    const t = await start({ types: [doubling] });
    const run = await t.createJobRun(doubling, { input: 4 });
    await t.drain();
    expect(await run.result()).toEqual({ sum: 20, counts: { total: 4, succeeded: 4, failed: 0, cancelled: 0 } });
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'planned', 'settled', 'claimed', 'succeeded']);
  });

  test('plan no tasks after the run was cancelled while its details were made', async () => {
    const [door, planned] = [new Door(), [] as string[]];
    const slow = jobType('slow', {
      jobDetails: () => door.pass(),
      taskDetails: () => { planned.push('tasks'); return [1]; },
      taskResults: () => {},
    });
    const t = await start({ types: [slow] });
    const run = await t.createJobRun(slow);
    await t.drain();
    await run.cancel();
    await t.advance('1s');
    door.open();
    await t.drain();
    expect([runState(await run.get()), planned]).toEqual(['CANCELLED', []]);
  });

  test('fail, and do not succeed with nothing, when the code of the type has no tasks any more', async () => {
    const t = await start({ types: [doubling] });
    const run = await t.createJobRun(doubling, { input: 2 });
    await t.engine.suspend();
    await t.drain();
    await t.restart({ types: [jobType('doubling', { retry: { attempts: 1 }, run: () => 'simple now' })] });
    await t.advance('1h');
    expect((await run.get()).error?.message).toContain('and its code has none now');
  });

  test('come one after the other, each with what came before', async () => {
    const seen: string[] = [];
    const told = jobType('told', {
      input: typed<string>(),
      jobDetails: ({ input }) => { seen.push(`details of ${input}`); return { shared: true }; },
      taskDetails: function* ({ input, details }) {
        seen.push(`tasks of ${input} ${details.shared}`);
        yield { id: 1 };
      },
      taskResults: ({ input, details, task }) => {
        seen.push(`task ${task.id} of ${input} ${details.shared}`);
        return task.id;
      },
      jobResults: async ({ input, details, tasks }) => {
        for await (const { task, result, fate } of tasks) seen.push(`gathered ${task.id} ${result} ${fate}`);
        return `${input} ${details.shared}`;
      },
    });
    const t = await start({ types: [told] });
    const run = await t.createJobRun(told, { input: 'it' });
    await t.drain();
    expect(seen).toEqual(['details of it', 'tasks of it true', 'task 1 of it true', 'gathered 1 1 succeeded']);
    expect(await run.result()).toBe('it true');
  });

  test('need no details and no gathering', async () => {
    const bare = jobType('bare', { taskDetails: () => [1, 2], taskResults: ({ task }) => task });
    const t = await start({ types: [bare] });
    const run = await t.createJobRun(bare);
    await t.drain();
    expect(await run.result()).toBeNull();
    expect((await tasksOf(t, run)).map(({ result }) => result)).toEqual(['1', '2']);
  });

  test('know the same run, each task under a key of its own', async () => {
    const keys: string[] = [];
    const facts = jobType('facts', {
      taskDetails: () => ['x', 'y'],
      taskKey: (task) => task,
      taskResults: ({ run, key, idempotencyKey }) => { keys.push(`${run.id} ${key}`, idempotencyKey); },
    });
    const t = await start({ types: [facts], slots: 1 });
    const run = await t.createJobRun(facts);
    await t.drain();
    const [x, y] = await tasksOf(t, run);
    expect(keys).toEqual([`${run.id} x`, `${x!.id}.1`, `${run.id} y`, `${y!.id}.1`]);
    expect([x!.key, y!.key]).toEqual(['x', 'y']);
  });
});

describe('tasks', () => {
  test('come as a list, a promise of one, a generator or an async generator', async () => {
    const asked: Record<string, () => Iterable<number> | AsyncIterable<number> | Promise<Iterable<number>>> = {
      list: () => [1, 2, 3],
      promise: async () => [1, 2, 3],
      generator: function* () { yield* [1, 2, 3]; },
      stream: async function* () { for (const task of [1, 2, 3]) yield await Promise.resolve(task); },
    };
    const many = jobType('many', {
      input: typed<string>(),
      taskDetails: ({ input }) => asked[input]!(),
      taskResults: ({ task }) => task,
      jobResults: ({ counts }) => counts.total,
    });
    const t = await start({ types: [many] });
    const runs = await t.engine.createJobRuns(many, Object.keys(asked).map((input) => ({ input })));
    await t.drain();
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual([3, 3, 3, 3]);
  });

  test('may come as the characters of a text', async () => {
    const spelling = jobType('spelling', {
      taskDetails: () => 'abc',
      taskResults: ({ task }) => task.toUpperCase(),
    });
    const t = await start({ types: [spelling] });
    const run = await t.createJobRun(spelling);
    await t.drain();
    expect((await tasksOf(t, run)).map(({ result }) => result)).toEqual(['"A"', '"B"', '"C"']);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a value of type number', 3],
    ['a value of type object', { tasks: [1] }],
  ])('are missing if taskDetails returns %s, and the error says so', async (given, returned) => {
    const missing = jobType('missing', {
      retry: { attempts: 1 },
      taskDetails: () => returned as unknown as number[],
      taskResults: () => {},
    });
    const t = await start({ types: [missing] });
    const run = await t.createJobRun(missing);
    await t.drain();
    expect((await run.get()).error?.message).toBe(
      `cannot plan the tasks of run ${run.id}: taskDetails of job type missing returned ${given}, ` +
      'and must return an array or another iterable',
    );
  });

  test('by the thousand are stored piece by piece, and appear all at once', async () => {
    const door = new Door();
    const many = jobType('many', {
      taskDetails: async function* () { yield* numbers(2500); await door.pass(); },
      taskResults: ({ task }) => task,
      jobResults: ({ counts }) => counts.succeeded,
    });
    const t = await start({ types: [many] });
    const run = await t.createJobRun(many);
    await t.drain();
    expect([door.knocks, (await tasksOf(t, run)).length]).toEqual([1, 0]);
    door.open();
    await t.drain();
    expect(await run.result()).toBe(2500);
  });

  test('may be none: the run goes straight to its gathering', async () => {
    const t = await start({ types: [doubling] });
    const run = await t.createJobRun(doubling, { input: 0 });
    await t.drain();
    expect(await run.result()).toEqual({ sum: 0, counts: { total: 0, succeeded: 0, failed: 0, cancelled: 0 } });
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'planned', 'claimed', 'succeeded']);
  });

  test('run side by side, in as many slots as there are', async () => {
    const door = new Door();
    const slow = jobType('slow', { taskDetails: () => numbers(9), taskResults: () => door.pass() });
    const t = await start({ types: [slow], slots: 4 });
    const run = await t.createJobRun(slow);
    await t.drain();
    expect(door.knocks).toBe(4);
    expect(await t.engine.stats(run.id)).toMatchObject({ tasksTotal: 9, percentDone: 0 });
    door.open();
    await t.drain();
    expect(runState(await run.get())).toBe('DONE');
  });

  test('can be limited for themselves, apart from the runs of their type and definition', async () => {
    const door = new Door();
    const slow = jobType('slow', { taskConcurrency: 2, taskDetails: () => numbers(3), taskResults: () => door.pass() });
    const twice = jobDef('twice', slow, { concurrency: 2 });
    const t = await start({ defs: [twice], slots: 10 });
    const runs = [await t.createJobRun(twice), await t.createJobRun(twice)];
    await t.drain();
    expect(door.knocks).toBe(2);
    expect(await Promise.all(runs.map(async (run) => runState(await run.get())))).toEqual(['RUNNING', 'RUNNING']);
    door.open();
    await t.advance('10s');
    expect(await Promise.all(runs.map(async (run) => runState(await run.get())))).toEqual(['DONE', 'DONE']);
  });

  test('have the priority of their run, or one of their own', async () => {
    const order: number[] = [];
    const ranked = jobType('ranked', {
      taskDetails: () => [1, 3, 2],
      taskPriority: (task) => task,
      taskResults: ({ task }) => void order.push(task),
    });
    const t = await start({ types: [ranked], slots: 1 });
    await t.createJobRun(ranked, { priority: 9 });
    await t.drain();
    expect(order).toEqual([3, 2, 1]);
  });
});

describe('a task that fails', () => {
  const picky = (options: { isTaskErrorRetryable?: (error: unknown) => boolean } = {}) =>
    jobType('picky', {
      input: typed<readonly number[]>(),
      retry: { attempts: 3, base: '1s' },
      taskDetails: () => [1, 2, 3, 4],
      taskKey: (task) => `number ${task}`,
      taskResults: ({ task, input }) => { if (input.includes(task)) throw new RangeError(`not ${task}`); return task; },
      jobResults: async ({ tasks, counts }) => {
        const failures: string[] = [];
        for await (const { key, error } of tasks) if (error) failures.push(`${key}: ${error.message}`);
        return { ...counts, failures };
      },
      ...options,
    });

  test('is retried alone, and its failure is in the final result', async () => {
    const type = picky();
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type, { input: [2] });
    await t.advance('1m');
    expect(await run.result()).toEqual({
      total: 4, succeeded: 3, failed: 1, cancelled: 0, failures: ['number 2: not 2'],
    });
    const tries = await Promise.all((await tasksOf(t, run)).map(
      async ({ id }) => attemptsOf(await t.engine.history(id)).length,
    ));
    expect(tries).toEqual([1, 3, 1, 1]);
  });

  test('is not tried again if isTaskErrorRetryable says no', async () => {
    const type = picky({ isTaskErrorRetryable: (error) => !(error instanceof RangeError) });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type, { input: [2] });
    await t.drain();
    const [, second] = await tasksOf(t, run);
    expect(kindsOf(await t.engine.history(second!.id))).toEqual(['created', 'claimed', 'failed']);
    expect(taskState(second!)).toBe('DONE');
  });

  test('under failFast cancels the rest and fails the run', async () => {
    const type = jobType('strict', {
      onTaskFailure: 'failFast',
      taskDetails: () => ['works', 'breaks', 'lasts', 'waits'],
      taskResults: ({ task, signal }) => {
        if (task === 'breaks') throw new Fail('it broke');
        return task === 'works' ? task : untilTold(signal);
      },
    });
    const t = await start({ types: [type], slots: 3 });
    const run = await t.createJobRun(type);
    await t.advance('1s');
    expect((await run.get()).error).toMatchObject({
      code: 'automation', message: 'more tasks failed than the run tolerates',
    });
    const fates = (await tasksOf(t, run)).map((task) => task.state === 'ended' && task.fate);
    expect(fates).toEqual(['succeeded', 'failed', 'cancelled', 'cancelled']);
  });

  test('is tolerated up to a number', async () => {
    const type = picky();
    const lenient = jobDef('lenient', type, { onTaskFailure: { tolerate: 1 }, retry: { attempts: 1 } });
    const t = await start({ defs: [lenient], slots: 1 });
    const one = await t.createJobRun(lenient, { input: [2] });
    await t.drain();
    expect(await one.result()).toMatchObject({ failed: 1 });
    const two = await t.createJobRun(lenient, { input: [2, 3] });
    await t.drain();
    expect(await thrown(two.result())).toBeInstanceOf(RunFailed);
  });

  test('is tolerated up to a percentage', async () => {
    const type = picky();
    const lenient = jobDef('lenient', type, { onTaskFailure: { toleratePercent: 50 }, retry: { attempts: 1 } });
    const t = await start({ defs: [lenient], slots: 1 });
    const half = await t.createJobRun(lenient, { input: [1, 2] });
    await t.drain();
    expect(await half.result()).toMatchObject({ failed: 2 });
    const more = await t.createJobRun(lenient, { input: [1, 2, 3] });
    await t.drain();
    expect(await thrown(more.result())).toBeInstanceOf(RunFailed);
  });

  test('can be done again with "retry failed only": the others keep their results', async () => {
    let isMended = false;
    const worked: number[] = [];
    const type = jobType('mendable', {
      retry: { attempts: 1 },
      taskDetails: () => [1, 2, 3],
      taskResults: ({ task }) => {
        worked.push(task);
        if (task === 2 && !isMended) throw new Error('not yet');
        return task;
      },
      jobResults: ({ counts }) => counts.succeeded,
    });
    const t = await start({ types: [type], slots: 1 });
    const run = await t.createJobRun(type);
    await t.drain();
    expect(await run.result()).toBe(2);
    isMended = true;
    await run.retry({ only: 'failed' });
    expect(runState(await run.get())).toBe('RUNNING');
    await t.drain();
    expect(await run.result()).toBe(3);
    expect(worked).toEqual([1, 2, 3, 2]);
  });

  test('can be done again with all the others', async () => {
    let worked = 0;
    const type = jobType('counted', { taskDetails: () => [1, 2], taskResults: () => { worked += 1; } });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.drain();
    await run.retry();
    await t.drain();
    expect([worked, (await tasksOf(t, run)).length, runState(await run.get())]).toEqual([4, 2, 'DONE']);
  });

  test('by timeout is retried, and the run continues', async () => {
    const type = jobType('hanging', {
      timeout: '10s',
      retry: { attempts: 2, base: '1s' },
      taskDetails: () => ['hangs', 'works'],
      taskResults: ({ task }) => (task === 'hangs' ? forever() : task),
      jobResults: ({ counts }) => counts,
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1m');
    expect(await run.result()).toEqual({ total: 2, succeeded: 1, failed: 1, cancelled: 0 });
    expect((await tasksOf(t, run))[0]!.error?.code).toBe('timed out');
  });
});

describe('an error while preparing or gathering', () => {
  test('is an attempt of the run, with back-off, and ends when the limit is reached', async () => {
    let calls = 0;
    const type = jobType('unprepared', {
      retry: { attempts: 3, base: '1s' },
      taskDetails: () => { calls += 1; throw new Error('no list'); },
      taskResults: () => {},
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1h');
    expect(calls).toBe(3);
    expect((await run.get()).error?.message).toBe('no list');
    expect(attemptsOf(await run.events()).map(({ phase }) => phase)).toEqual(['prepare', 'prepare', 'prepare']);
    expect(await tasksOf(t, run)).toEqual([]);
  });

  test('is not judged by isTaskErrorRetryable, which is about tasks', async () => {
    let calls = 0;
    const type = jobType('unprepared', {
      retry: { attempts: 2, base: '1s' },
      isTaskErrorRetryable: () => false,
      jobDetails: () => { calls += 1; throw new Error('no'); },
      taskDetails: () => [],
      taskResults: () => {},
    });
    const t = await start({ types: [type] });
    await t.createJobRun(type);
    await t.advance('1m');
    expect(calls).toBe(2);
  });

  test('in the middle of the list stores no task at all', async () => {
    let isMended = false;
    const type = jobType('half', {
      retry: { attempts: 2, base: '1m', jitter: 0 },
      taskDetails: function* () { yield* numbers(1500); if (!isMended) throw new Error('broken off'); },
      taskResults: () => {},
      jobResults: ({ counts }) => counts.total,
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.drain();
    expect([runState(await run.get()), (await tasksOf(t, run)).length]).toEqual(['PENDING', 0]);
    isMended = true;
    await t.advance('2m');
    expect(await run.result()).toBe(1500);
  });

  test('while gathering leaves the tasks alone and gathers again', async () => {
    let gathered = 0;
    let worked = 0;
    const type = jobType('ungathered', {
      retry: { attempts: 3, base: '1s' },
      taskDetails: () => [1, 2],
      taskResults: () => { worked += 1; },
      jobResults: () => { gathered += 1; if (gathered < 3) throw new Error('not now'); return 'gathered'; },
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1m');
    expect(await run.result()).toBe('gathered');
    expect([worked, gathered]).toEqual([2, 3]);
  });

  test('while gathering ends too when the limit is reached, and by hand it is gathered once more', async () => {
    let isMended = false;
    let worked = 0;
    const type = jobType('ungathered', {
      retry: { attempts: 2, base: '1s' },
      taskDetails: () => [1, 2],
      taskResults: () => { worked += 1; },
      jobResults: () => { if (!isMended) throw new Fail('no'); return 'gathered'; },
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1m');
    expect(await thrown(run.result())).toBeInstanceOf(RunFailed);
    isMended = true;
    await run.retry({ only: 'failed' });
    await t.drain();
    expect([await run.result(), worked]).toEqual(['gathered', 2]);
  });

  test('has a time of its own', async () => {
    const type = jobType('slow', {
      timeout: '1h',
      prepareTimeout: '5s',
      retry: { attempts: 1 },
      jobDetails: () => forever(),
      taskDetails: () => [],
      taskResults: () => {},
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('6s');
    expect((await run.get()).error?.code).toBe('timed out');
  });

  test('by details that JSON cannot keep fails the run at once', async () => {
    const type = jobType('odd', { jobDetails: () => ({ n: 1n }), taskDetails: () => [1], taskResults: () => {} });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.drain();
    expect((await run.get()).error).toMatchObject({ code: 'could not start' });
    expect(attemptsOf(await run.events())).toHaveLength(1);
  });
});

describe('cancelling', () => {
  const held = jobType('held', {
    taskDetails: () => numbers(5),
    taskResults: ({ signal }) => untilTold(signal),
    jobResults: () => 'never',
  });

  test('ends waiting tasks immediately, notifies running ones, and then ends the run', async () => {
    const t = await start({ types: [held], slots: 2 });
    const run = await t.createJobRun(held);
    await t.drain();
    const acknowledged = await run.cancel({ by: 'ann', why: 'not needed' });
    expect(runState(acknowledged)).toBe('CANCELLING');
    expect((await t.engine.stats(run.id)).tasksByState).toMatchObject({ PENDING: 0, CANCELLED: 3 });
    await t.drain();
    expect(runState(await run.get())).toBe('CANCELLED');
    expect((await tasksOf(t, run)).map(taskState)).toEqual(Array(5).fill('CANCELLED'));
    expect(await thrown(run.result())).toBeInstanceOf(RunCancelled);
  });

  test('keeps the run CANCELLING while a task is running', async () => {
    const door = new Door();
    const stubborn = jobType('stubborn', { taskDetails: () => [1], taskResults: () => door.pass() });
    const t = await start({ types: [stubborn] });
    const run = await t.createJobRun(stubborn);
    await t.drain();
    await run.cancel();
    await t.advance('10m');
    expect(runState(await run.get())).toBe('CANCELLING');
    door.open();
    await t.drain();
    expect(runState(await run.get())).toBe('CANCELLED');
    const [task] = await tasksOf(t, run);
    expect((await t.engine.history(task!.id)).at(-1)).toMatchObject({
      kind: 'cancelled', code: 'parent', late: 'succeeded',
    });
  });

  test('with a grace stops tasks that do not end in time', async () => {
    const stubborn = jobType('stubborn', { taskDetails: () => [1, 2], taskResults: () => forever() });
    const t = await start({ types: [stubborn] });
    const run = await t.createJobRun(stubborn);
    await t.drain();
    await run.cancel({ grace: '30s' });
    await t.advance('29s');
    expect(runState(await run.get())).toBe('CANCELLING');
    await t.advance('5s');
    expect(runState(await run.get())).toBe('CANCELLED');
  });

  test('while preparing lets no task be born', async () => {
    const door = new Door();
    const preparing = jobType('preparing', {
      taskDetails: async function* () { yield 1; await door.pass(); yield 2; },
      taskResults: () => {},
    });
    const t = await start({ types: [preparing] });
    const run = await t.createJobRun(preparing);
    await t.drain();
    await run.cancel();
    door.open();
    await t.drain();
    expect(runState(await run.get())).toBe('CANCELLED');
    expect(await tasksOf(t, run)).toEqual([]);
  });

  test('of one task lets its run continue without it', async () => {
    const t = await start({ types: [held], slots: 5 });
    const run = await t.createJobRun(held);
    await t.drain();
    const [first, ...others] = await tasksOf(t, run);
    await t.engine.cancelJobRun(first!.id);
    await t.drain();
    expect((await t.engine.stats(run.id)).tasksByState).toMatchObject({ RUNNING: 4, CANCELLED: 1 });
    for (const { id } of others) await t.engine.cancelJobRun(id);
    await t.drain();
    expect(await run.result()).toBe('never');
  });
});

test('deleting a run deletes its tasks', async () => {
  const t = await start({ types: [doubling] });
  const run = await t.createJobRun(doubling, { input: 3 });
  await t.drain();
  const [task] = await tasksOf(t, run);
  await t.engine.deleteJobRun(run.id);
  expect(await refused(t.engine.snapshot(task!.id))).toBe('unknown.job');
});

test.each([3, 0])('a run of %i tasks that was created where its code is not known goes the same way', async (count) => {
  const t = await start({ types: [] });
  const { id } = await t.engine.createNamed({ type: 'doubling' }, { input: count });
  await t.restart({ types: [doubling] });
  await t.drain();
  expect(await t.engine.run(id).result()).toMatchObject({ counts: { total: count, succeeded: count } });
});

test('the planning of a run that was created before its type was registered reports progress, even of an isolated type', async () => {
  const planned = jobType('planned', {
    isolate: 'thread',
    module: import.meta.url,
    jobDetails: async ({ progress }) => {
      await progress.runStage(['a', 'b'], (item) => item, () => {});
    },
    taskDetails: () => [],
    taskResults: () => null,
  });
  const t = await start();
  const { id } = await t.engine.createNamed({ type: 'planned' }, {});
  await t.restart({ types: [planned] });
  await t.advance('1m');
  expect((await t.engine.get(id)).state).toBe('ended');
  expect((await t.engine.snapshot(id)).progress?.processes).toMatchObject([{ stages: [{ done: 2 }] }]);
});
