// Seed 1, "Jobs as a library", statement by statement, on SQLite and on PostgreSQL.
import { describe, expect } from 'vitest';
import { attemptsOf, cron, jobDef, jobType, runState, taskState, typed, type RunState } from '../../src/index.ts';
import { runStates } from '../../src/vocabulary/jobrun.ts';
import { stepsOf } from '../../src/vocabulary/standing.ts';
import { Door, forever, kindsOf, minute, newYear, second, untilTold } from '../engine/api/kit.ts';
import { seedStores, type SeedWorld } from './world.ts';

/** Splits a text into letters and joins them again in upper case. */
const letters = jobType('letters', {
  input: typed<string>(),
  jobDetails: ({ input }) => ({ length: input.length }),
  taskDetails: ({ input }) => input.split(''),
  taskResults: ({ task }) => task.toUpperCase(),
  jobResults: async ({ details, tasks }) =>
    `${details.length}: ${(await Array.fromAsync(tasks)).map(({ result }) => result).join('')}`,
});

/** A type that records the calls of its phases. */
function observed() {
  const calls: string[] = [];
  const type = jobType('observed', {
    input: typed<string>(),
    jobDetails: ({ input }) => { calls.push(`JobDetails(${input})`); return { shared: `for ${input}` }; },
    taskDetails: ({ details }) => { calls.push(`TaskDetails(${details.shared})`); return ['x', 'y']; },
    taskResults: ({ task, details }) => { calls.push(`TaskResults(${task}, ${details.shared})`); return `${task}!`; },
    jobResults: async ({ tasks }) => {
      const results = (await Array.fromAsync(tasks)).map(({ result }) => result);
      calls.push(`JobResults(${results.join()})`);
      return results;
    },
  });
  return { type, calls };
}

/** The states that a run and each of its tasks went through, according to their stored events. */
async function livesOf(world: SeedWorld, run: { readonly id: number }): Promise<RunState[][]> {
  const jobs = [...(await world.store.load([run.id])), ...(await world.tasks(run))];
  return Promise.all(jobs.map(async ({ id, kind }) => {
    const stateOf = kind === 'run' ? runState : taskState;
    const states = stepsOf(await world.store.history(id)).map(({ after }) => stateOf(after));
    return states.filter((state, index) => state !== states[index - 1]);
  }));
}

describe.concurrent.each(seedStores)('on $name', ({ test }) => {
  test('1.01 instances share the tasks of a run in one database, also when one of them dies', async ({ world }) => {
    const workedBy: string[] = [];
    const typeOn = (name: string) =>
      jobType('shared', {
        taskDetails: () => Array.from({ length: 12 }, (_, index) => index),
        taskResults: async () => { workedBy.push(name); await world.clock.sleep(second); },
        jobResults: ({ counts }) => counts.succeeded,
      });
    const engines = [];
    for (const name of ['a', 'b', 'c']) engines.push(await world.start({ types: [typeOn(name)], slots: 2 }));
    const run = await world.createJobRun(typeOn('c'));
    await world.advance('500ms');
    world.kill(engines[0]);
    await world.advance('40s');
    expect(await world.engine.run(run.id).result()).toBe(12);
    // Each of the twelve once, and once more what the first instance had not finished.
    expect(workedBy.length).toBe(12 + workedBy.filter((name) => name === 'a').length);
    expect(new Set(workedBy)).toEqual(new Set(['a', 'b', 'c']));
  });

  test('1.02 a run has a due time and tasks that name it as their parent', async ({ world }) => {
    await world.start({ types: [letters] });
    const run = await world.createJobRun(letters, { input: 'abc', dueTime: newYear + 10 * second });
    expect((await run.get()).due).toBe(newYear + 10 * second);
    await world.advance('10s');
    expect((await world.tasks(run)).map(({ kind, parent }) => [kind, parent])).toEqual(Array(3).fill(['task', run.id]));
  });

  test('1.03 each task succeeds, fails, times out or is retried independently of the others', async ({ world }) => {
    let tries = 0;
    const four = jobType('four', {
      timeout: '5s',
      retry: { attempts: 2, base: '1s' },
      taskDetails: () => ['succeeds', 'fails', 'times out', 'is retried'],
      taskResults: ({ task }) => {
        if (task === 'fails') throw new Error('no');
        if (task === 'times out') return forever();
        if (task === 'is retried' && ++tries === 1) throw new Error('not yet');
        return task;
      },
    });
    await world.start({ types: [four] });
    const run = await world.createJobRun(four);
    await world.advance('30s');
    const tasks = await world.tasks(run);
    const ends = tasks.map((task) => task.state === 'ended' && [task.fate, task.error?.code, task.attempt]);
    expect(ends).toEqual([
      ['succeeded', undefined, 1], ['failed', 'unknown', 2], ['failed', 'timed out', 2], ['succeeded', undefined, 2],
    ]);
  });

  test('1.04 timeout, retries, priority and tags of a definition apply to each of its runs', async ({ world }) => {
    const slow = jobType('slow', { taskDetails: () => [1], taskResults: () => forever() });
    const def = jobDef('def', slow, {
      timeout: '5s', retry: { attempts: 2, base: '1s', jitter: 0 }, schedules: cron('*/20 * * * * *'),
      priority: 3, tags: { team: 'blue' },
    });
    await world.start({ defs: [def] });
    await world.createJobRun(def);
    await world.advance('35s');
    const runs = await world.runs(def);
    expect(runs.map(({ tick }) => tick !== null)).toEqual([false, true]);
    for (const run of runs) {
      expect(run).toMatchObject({ priority: 3, tags: { team: 'blue' } });
      const [task] = await world.tasks(run);
      const attempts = attemptsOf(await world.store.history(task!.id));
      expect(attempts.map(({ error, start, end }) => [error?.code, end! - start])).toEqual(
        Array(2).fill(['timed out', 5 * second]),
      );
    }
  });

  test('1.05 a run names its definition, whether it was created by hand or by the schedule', async ({ world }) => {
    const def = jobDef('nightly', letters, { params: 'abc', schedules: cron('*/10 * * * * *') });
    await world.start({ defs: [def] });
    await world.createJobRun(def);
    await world.advance('10s');
    expect((await world.runs()).map((run) => [run.def, run.tick !== null])).toEqual([
      ['nightly', false], ['nightly', true],
    ]);
  });

  test('1.06 a definition names the type whose code its runs execute', async ({ world }) => {
    const double = jobType('double', { input: typed<number>(), run: ({ input }) => input * 2 });
    const square = jobType('square', { input: typed<number>(), run: ({ input }) => input * input });
    const [a, b] = [jobDef('a', double), jobDef('b', square)];
    await world.start({ defs: [a, b] });
    const runs = [await world.createJobRun(a, { input: 5 }), await world.createJobRun(b, { input: 5 })];
    await world.settle();
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual([10, 25]);
    expect((await world.engine.definition('b')).spec.type).toBe('square');
  });

  test('1.07 a due run calls jobDetails, taskDetails, taskResults and jobResults in this order', async ({ world }) => {
    const { type, calls } = observed();
    await world.start({ types: [type], slots: 1 });
    await world.createJobRun(type, { input: 'it', delay: '10s' });
    await world.advance('9s');
    expect(calls).toEqual([]);
    await world.advance('1s');
    expect(calls.map((call) => call.split('(')[0])).toEqual([
      'JobDetails', 'TaskDetails', 'TaskResults', 'TaskResults', 'JobResults',
    ]);
  });

  test('1.08 all tasks of a run receive the details that jobDetails prepared once', async ({ world }) => {
    const { type, calls } = observed();
    await world.start({ types: [type], slots: 1 });
    await world.createJobRun(type, { input: 'it' });
    await world.settle();
    expect(calls.filter((call) => call.startsWith('JobDetails'))).toEqual(['JobDetails(it)']);
    expect(calls.filter((call) => call.startsWith('TaskResults'))).toEqual([
      'TaskResults(x, for it)', 'TaskResults(y, for it)',
    ]);
  });

  test('1.09 taskDetails produces exactly the tasks that are stored for the run', async ({ world }) => {
    const { type, calls } = observed();
    await world.start({ types: [type] });
    const run = await world.createJobRun(type, { input: 'it' });
    await world.settle();
    expect(calls).toContain('TaskDetails(for it)');
    expect((await world.tasks(run)).map(({ input }) => input)).toEqual(['"x"', '"y"']);
  });

  test('1.10 taskResults executes once for each task, and its result is stored with that task', async ({ world }) => {
    const { type, calls } = observed();
    await world.start({ types: [type] });
    const run = await world.createJobRun(type, { input: 'it' });
    await world.settle();
    expect(calls.filter((call) => call.startsWith('TaskResults')).toSorted()).toEqual([
      'TaskResults(x, for it)', 'TaskResults(y, for it)',
    ]);
    expect((await world.tasks(run)).map(({ result }) => result)).toEqual(['"x!"', '"y!"']);
  });

  test('1.11 jobResults is called last, with the results of all tasks, and may be left out', async ({ world }) => {
    const { type, calls } = observed();
    const bare = jobType('bare', { taskDetails: () => [1], taskResults: () => 1 });
    await world.start({ types: [type, bare] });
    const run = await world.createJobRun(type, { input: 'it' });
    await world.settle();
    expect(calls.at(-1)).toBe('JobResults(x!,y!)');
    expect(await run.result()).toEqual(['x!', 'y!']);
    const unneeded = await world.createJobRun(bare);
    await world.settle();
    expect(await unneeded.result()).toBeNull();
  });

  test('1.12 an engine executes nothing until resume() is called', async ({ world }) => {
    const quick = jobType('quick', { run: () => 'done' });
    const engine = await world.add({ types: [quick] });
    const run = await engine.createJobRun(quick);
    await world.advance('30s');
    expect(runState(await run.get())).toBe('PENDING');
    await world.passing(engine.resume());
    await world.settle();
    expect(await run.result()).toBe('done');
  });

  test('1.13 the engine creates and deletes runs and counts their tasks by state', async ({ world }) => {
    await world.start({ types: [letters] });
    const { id } = await world.createJobRun(letters, { input: 'abcd' });
    await world.settle();
    expect(await world.engine.stats(id)).toMatchObject({
      tasksTotal: 4, tasksByState: { PENDING: 0, RUNNING: 0, DONE: 4 }, percentDone: 100, percentSuccess: 100,
    });
    await world.engine.deleteJobRun(id);
    expect((await world.store.find({ kinds: ['run', 'task'] })).jobs).toEqual([]);
  });

  test('1.14 runs have five states, and tasks those without CANCELLING', async ({ world }) => {
    const held = jobType('held', { taskDetails: () => [1], taskResults: ({ signal }) => untilTold(signal) });
    await world.start({ types: [letters, held] });
    const runs = [await world.createJobRun(letters, { input: 'abc' }), await world.createJobRun(held)];
    await world.settle();
    await runs[1]!.cancel();
    await world.settle();
    const lives = (await Promise.all(runs.map((run) => livesOf(world, run)))).flat();
    expect(lives).toEqual([
      ...Array<RunState[]>(4).fill(['PENDING', 'RUNNING', 'DONE']),
      ['PENDING', 'RUNNING', 'CANCELLING', 'CANCELLED'], ['PENDING', 'RUNNING', 'CANCELLED'],
    ]);
    expect(new Set(lives.flat())).toEqual(new Set(runStates));
  });

  test('1.15 a run that is being cancelled is CANCELLING while its running tasks stay RUNNING', async ({ world }) => {
    const deaf = jobType('deaf', { taskDetails: () => [1, 2], taskResults: () => forever() });
    await world.start({ types: [deaf] });
    const run = await world.createJobRun(deaf);
    await world.settle();
    await run.cancel();
    await world.advance('20s');
    expect(runState(await run.get())).toBe('CANCELLING');
    const tasks = await world.tasks(run);
    expect(tasks.map(({ cancel }) => cancel !== null)).toEqual([true, true]);
    // Both functions agree on a task: the state of runs alone has CANCELLING.
    expect(tasks.flatMap((task) => [runState(task), taskState(task)])).toEqual(Array(4).fill('RUNNING'));
  });

  test('1.16 runs and tasks go through these sequences of states and no other', async ({ world }) => {
    const flaky = jobType('flaky', {
      retry: { attempts: 3, base: '1s' },
      taskDetails: () => ['first', 'third', 'never'],
      taskResults: ({ run, task }) => {
        if (task === 'never' || (task === 'third' && run.attempt < 3)) throw new Error('not yet');
      },
    });
    const held = jobType('held', {
      taskDetails: () => ['ends', 'runs', 'waits'],
      taskResults: ({ task, signal }) => (task === 'ends' ? null : untilTold(signal)),
    });
    await world.start({ types: [flaky, held], slots: 1 });
    const failing = await world.createJobRun(flaky);
    await world.advance('30s');
    const [running, waiting] = [await world.createJobRun(held), await world.createJobRun(held, { delay: '1h' })];
    await world.settle();
    for (const run of [running, waiting]) await run.cancel();
    await world.advance('10s');
    expect(await livesOf(world, failing)).toEqual([
      ['PENDING', 'RUNNING', 'DONE'],
      ['PENDING', 'RUNNING', 'DONE'],
      ['PENDING', 'RUNNING', 'PENDING', 'RUNNING', 'PENDING', 'RUNNING', 'DONE'],
      ['PENDING', 'RUNNING', 'PENDING', 'RUNNING', 'PENDING', 'RUNNING', 'DONE'],
    ]);
    expect(await livesOf(world, running)).toEqual([
      ['PENDING', 'RUNNING', 'CANCELLING', 'CANCELLED'],
      ['PENDING', 'RUNNING', 'DONE'],
      ['PENDING', 'RUNNING', 'CANCELLED'],
      ['PENDING', 'CANCELLED'],
    ]);
    expect(await livesOf(world, waiting)).toEqual([['PENDING', 'CANCELLED']]);
  });

  test('1.17 a new run has a due time, no tasks and the state PENDING, however it was created', async ({ world }) => {
    const def = jobDef('def', letters, { params: 'abc', schedules: cron('*/20 * * * * *') });
    const first = await world.start({ defs: [def] });
    const byHand = await world.createJobRun(def, { delay: '1h' });
    await world.advance('19s');
    world.kill(first);
    // The next engine creates the scheduled run and has no code for it.
    await world.start();
    await world.advance('18s');
    const runs = await world.runs(def);
    expect(runs.map((run) => [runState(run), run.due - newYear])).toEqual([
      ['PENDING', 60 * minute], ['PENDING', 20 * second],
    ]);
    expect(await world.tasks(byHand)).toEqual([]);
    expect(await world.tasks(runs[1]!)).toEqual([]);
  });

  test('1.18 jobDetails and taskDetails are called when a run is due or overdue, and not before', async ({ world }) => {
    const calls: string[] = [];
    const type = jobType('prepared', {
      jobDetails: () => void calls.push('JobDetails'),
      taskDetails: () => { calls.push('TaskDetails'); return []; },
      taskResults: () => {},
    });
    await world.start({ types: [type] });
    await world.createJobRun(type, { dueTime: newYear - minute });
    await world.createJobRun(type, { delay: '10s' });
    await world.advance('9s');
    expect(calls).toEqual(['JobDetails', 'TaskDetails']);
    await world.advance('1s');
    expect(calls).toEqual(['JobDetails', 'TaskDetails', 'JobDetails', 'TaskDetails']);
  });

  test('1.19 the commit that stores the tasks of a run also sets the run to RUNNING', async ({ world }) => {
    const engine = await world.start({ types: [letters], slots: 1 });
    const run = await world.createJobRun(letters, { input: 'abc', delay: '1s' });
    const reader = await world.reader();
    const seen = new Set<string>();
    // Read through another connection after each call of the engine: between two calls nothing else is written.
    world.afterEachCall(engine, async () => {
      const [before] = await reader.load([run.id]);
      const { jobs } = await reader.find({ parent: run.id });
      const [after] = await reader.load([run.id]);
      // Two reads show the same moment only if the run has not changed between them.
      if (before!.version === after!.version) seen.add(`${runState(after!)} with ${jobs.length} tasks`);
    });
    await world.advance('2s');
    expect([...seen]).toEqual(['PENDING with 0 tasks', 'RUNNING with 3 tasks', 'DONE with 3 tasks']);
    const [task] = await world.tasks(run);
    expect(stepsOf(await world.store.history(task!.id)).map(({ after }) => taskState(after))[0]).toBe('PENDING');
  });

  test('1.20 while a run is RUNNING its remaining PENDING tasks are executed one after another', async ({ world }) => {
    const worked: number[] = [];
    const many = jobType('many', {
      taskDetails: () => [1, 2, 3, 4, 5],
      taskResults: async ({ task }) => { await world.clock.sleep(second); worked.push(task); },
    });
    await world.start({ types: [many], slots: 1 });
    const run = await world.createJobRun(many);
    await world.advance('2500ms');
    expect([runState(await run.get()), worked]).toEqual(['RUNNING', [1, 2]]);
    await world.advance('5s');
    expect([runState(await run.get()), worked]).toEqual(['DONE', [1, 2, 3, 4, 5]]);
  });

  test('1.21 the commit that sets a run to DONE after its last task also stores its result', async ({ world }) => {
    const engine = await world.start({ types: [letters] });
    const run = await world.createJobRun(letters, { input: 'abc', delay: '1s' });
    const reader = await world.reader();
    const seen = new Set<string>();
    world.afterEachCall(engine, async () => {
      const [job] = await reader.load([run.id]);
      seen.add(`${runState(job!)} ${job!.result}`);
    });
    await world.advance('2s');
    expect([...seen]).toEqual(['PENDING null', 'RUNNING null', 'DONE "3: ABC"']);
  });

  test('1.22 a task is RUNNING in the database before its handler is called: it starts once', async ({ world }) => {
    const door = new Door();
    const stored: string[] = [];
    const type = jobType('reading', {
      taskDetails: () => [1],
      taskResults: async ({ run }) => {
        const [task] = await world.tasks(run);
        stored.push(taskState(task!));
        await door.pass();
      },
    });
    for (let count = 0; count < 2; count += 1) await world.start({ types: [type] });
    await world.createJobRun(type);
    await world.advance('20s');
    expect([stored, door.knocks]).toEqual([['RUNNING'], 1]);
  });

  test('1.23 only the instance whose claim of a task succeeded calls taskResults', async ({ world }) => {
    const workedBy = new Map<number, string>();
    const typeOn = (name: string) => jobType('once', {
      taskDetails: () => [1, 2, 3, 4, 5, 6],
      taskResults: async ({ idempotencyKey }) => {
        workedBy.set(Number(idempotencyKey.split('.')[0]), name);
        await world.clock.sleep(second);
      },
    });
    for (const name of ['a', 'b']) await world.start({ types: [typeOn(name)], slots: 2 });
    const run = await world.createJobRun(typeOn('b'));
    await world.advance('10s');
    const tasks = await world.tasks(run);
    expect(workedBy.size).toBe(6);
    for (const { id } of tasks) {
      const claims = (await world.store.history(id)).flatMap((event) => (event.kind === 'claimed' ? event.holder : []));
      expect(claims).toEqual([workedBy.get(id)]);
    }
  });

  test('1.24 the outcome of a task is stored, be it a result or an error', async ({ world }) => {
    const type = jobType('both', {
      retry: { attempts: 1 },
      taskDetails: () => ['good', 'bad'],
      taskResults: ({ task }) => { if (task === 'bad') throw new Error('it is bad'); return `${task} result`; },
    });
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    await world.settle();
    const [good, bad] = await world.tasks(run);
    expect([good!.result, good!.error, bad!.result, bad!.error?.message]).toEqual([
      '"good result"', null, null, 'it is bad',
    ]);
  });

  test('1.25 a task that timed out is PENDING again if its definition allows another attempt', async ({ world }) => {
    const slow = jobType('slow', { taskDetails: () => [1], taskResults: () => forever() });
    const def = jobDef('def', slow, { timeout: '5s', retry: { attempts: 2, base: '1m', jitter: 0 } });
    await world.start({ defs: [def] });
    const run = await world.createJobRun(def);
    await world.advance('6s');
    const [task] = await world.tasks(run);
    expect([taskState(task!), task!.error?.code]).toEqual(['PENDING', 'timed out']);
  });

  test('1.26 a failed task is PENDING again if isTaskErrorRetryable and its definition allow it', async ({ world }) => {
    const picky = jobType('picky', {
      isTaskErrorRetryable: (error) => error instanceof TypeError,
      taskDetails: () => ['retryable', 'not retryable'],
      taskResults: ({ task }) => { throw task === 'retryable' ? new TypeError('x') : new RangeError('y'); },
    });
    const patient = jobDef('patient', picky, { retry: { attempts: 2, base: '1m', jitter: 0 } });
    const strict = jobDef('strict', picky, { retry: { attempts: 1 } });
    await world.start({ defs: [patient, strict] });
    const runs = [await world.createJobRun(patient), await world.createJobRun(strict)];
    await world.settle();
    const states = await Promise.all(runs.map(async (run) => (await world.tasks(run)).map(taskState)));
    expect(states).toEqual([['PENDING', 'DONE'], ['DONE', 'DONE']]);
  });

  test('1.27 a task that may not be retried any more is DONE, and so is its run', async ({ world }) => {
    const broken = jobType('broken', { taskDetails: () => [1], taskResults: () => { throw new Error('no'); } });
    const def = jobDef('def', broken, { retry: { attempts: 2, base: '1s' } });
    await world.start({ defs: [def] });
    const run = await world.createJobRun(def);
    await world.advance('10s');
    const [task] = await world.tasks(run);
    expect([taskState(task!), attemptsOf(await world.store.history(task!.id)).length]).toEqual(['DONE', 2]);
    expect(runState(await run.get())).toBe('DONE');
  });

  test('1.28 a task whose instance died is put back by another instance and executed again', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', { taskDetails: () => [1], taskResults: () => door.pass() });
    const first = await world.start({ types: [slow] });
    const run = await world.createJobRun(slow);
    await world.advance('1s');
    world.kill(first);
    // This instance repairs, and has no code for the type.
    await world.start();
    await world.advance('30s');
    const [task] = await world.tasks(run);
    expect(taskState(task!)).toBe('PENDING');
    expect((await world.store.history(task!.id)).at(-1)).toMatchObject({ kind: 'lapsed', by: 'b', holder: 'a' });
    // The first one is started again, as another process.
    await world.start({ types: [slow] });
    await world.settle();
    expect(door.knocks).toBe(2);
    expect(kindsOf(await world.store.history(task!.id))).toEqual(['created', 'claimed', 'lapsed', 'claimed']);
  });

  test('1.29 a RUNNING run that is cancelled is CANCELLING; one that waits is CANCELLED at once', async ({ world }) => {
    const held = jobType('held', { taskDetails: () => [1], taskResults: () => forever() });
    await world.start({ types: [held] });
    const [running, pending] = [await world.createJobRun(held), await world.createJobRun(held, { delay: '1h' })];
    await world.settle();
    expect(runState(await running.cancel())).toBe('CANCELLING');
    expect(runState(await pending.cancel())).toBe('CANCELLED');
    await world.advance('20s');
    expect(runState(await running.get())).toBe('CANCELLING');
  });

  test('1.30 of a CANCELLING run, tasks are CANCELLED when they wait or end, and DONE ones stay', async ({ world }) => {
    const doors = { listens: new Door(), 'goes on': new Door() };
    const mixed = jobType('mixed', {
      taskDetails: () => ['done', 'listens', 'goes on', 'waits'] as const,
      taskResults: async ({ task, signal }) => {
        if (task === 'goes on') return doors['goes on'].pass();
        if (task !== 'listens') return;
        await untilTold(signal).catch(() => doors.listens.pass());
        signal.throwIfAborted();
      },
    });
    await world.start({ types: [mixed], slots: 2 });
    const run = await world.createJobRun(mixed);
    await world.settle();
    const states = async (): Promise<string[]> =>
      [...(await world.tasks(run)).map(taskState), runState(await run.get())];
    expect(await states()).toEqual(['DONE', 'RUNNING', 'RUNNING', 'PENDING', 'RUNNING']);
    await run.cancel();
    await world.settle();
    expect(await states()).toEqual(['DONE', 'RUNNING', 'RUNNING', 'CANCELLED', 'CANCELLING']);
    doors.listens.open();
    await world.settle();
    expect(await states()).toEqual(['DONE', 'CANCELLED', 'RUNNING', 'CANCELLED', 'CANCELLING']);
    // A success that comes after the cancel does not count.
    doors['goes on'].open();
    await world.settle();
    expect(await states()).toEqual(['DONE', 'CANCELLED', 'CANCELLED', 'CANCELLED', 'CANCELLED']);
  });

  test('1.31 a CANCELLING run is CANCELLED when none of its tasks is open, and not before', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', {
      taskDetails: () => [1, 2], taskResults: ({ task, signal }) => (task === 1 ? door.pass() : untilTold(signal)),
    });
    await world.start({ types: [slow] });
    const run = await world.createJobRun(slow);
    await world.settle();
    await run.cancel();
    await world.advance('20s');
    expect([runState(await run.get()), (await world.tasks(run)).map(taskState)]).toEqual([
      'CANCELLING', ['RUNNING', 'CANCELLED'],
    ]);
    door.open();
    await world.settle();
    expect([runState(await run.get()), (await world.tasks(run)).map(taskState)]).toEqual([
      'CANCELLED', ['CANCELLED', 'CANCELLED'],
    ]);
  });
});
