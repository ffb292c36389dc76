// Seed 1, "Jobs as a library", statement by statement.
import { describe, expect, test } from 'vitest';
import {
  attemptsOf, cron, Engine, jobDef, jobType, runState, taskState, typed, type Job, type RunState,
} from '../../src/index.ts';
import { runStates, taskStates } from '../../src/vocabulary/jobrun.ts';
import { stepsOf } from '../../src/vocabulary/standing.ts';
import { Cluster } from '../engine/api/cluster.ts';
import { Door, forever, hour, kindsOf, newYear, second, start, untilTold, type TestEngine } from '../engine/api/kit.ts';

const tasksOf = async (t: Pick<TestEngine, 'engine'>, run: { readonly id: number }): Promise<readonly Job[]> =>
  (await t.engine.find({ parent: run.id }, { order: 'oldest', limit: 1000 })).jobs;

/** Three letters, each made great, put together again. */
const letters = jobType('letters', {
  input: typed<string>(),
  jobDetails: ({ input }) => ({ length: input.length }),
  taskDetails: ({ input }) => input.split(''),
  taskResults: ({ task }) => task.toUpperCase(),
  jobResults: async ({ details, tasks }) =>
    `${details.length}: ${(await Array.fromAsync(tasks)).map(({ result }) => result).join('')}`,
});

describe('the setting', () => {
  test('1.01 "designed for a multi-instance/single-DB runtime reality"', async () => {
    const cluster = new Cluster();
    const workedBy: string[] = [];
    const typeOn = (name: string) =>
      jobType('shared', {
        taskDetails: () => Array.from({ length: 12 }, (_, index) => index),
        taskResults: async () => { workedBy.push(name); await cluster.clock.sleep(second); },
        jobResults: ({ counts }) => counts.succeeded,
      });
    const engines = [];
    for (const name of ['a', 'b', 'c']) engines.push(await cluster.join({ types: [typeOn(name)], slots: 2 }));
    const run = await engines[0]!.createJobRun(typeOn('a'));
    await cluster.advance('3s');
    cluster.kill(engines[0]!);
    await cluster.advance('1m');
    expect(await engines[1]!.run(run.id).result()).toBe(12);
    expect(new Set(workedBy).size).toBe(3);
  });
});

describe('the data model', () => {
  test('1.02 "a JobRun is essentially a collection of JobTasks plus a due_time"', async () => {
    const t = await start({ types: [letters] });
    const run = await t.createJobRun(letters, { input: 'abc', dueTime: newYear + hour });
    await t.advance('1h');
    expect((await run.get()).due).toBeGreaterThanOrEqual(newYear + hour);
    expect((await run.events())[0]).toMatchObject({ kind: 'created', due: newYear + hour });
    expect((await tasksOf(t, run)).map(({ kind, parent }) => [kind, parent])).toEqual(Array(3).fill(['task', run.id]));
  });

  test('1.03 "JobTasks execute independently and can succeed or fail or time-out or be-retried"', async () => {
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
    const t = await start({ types: [four] });
    const run = await t.createJobRun(four);
    await t.advance('1m');
    const told = (await tasksOf(t, run)).map((task) => task.state === 'ended' && [
      task.fate, task.error?.code, task.attempt,
    ]);
    expect(told).toEqual([
      ['succeeded', undefined, 1], ['failed', 'unknown', 2], ['failed', 'timed out', 2], ['succeeded', undefined, 2],
    ]);
  });

  test('1.04 "a JobDef declares common settings that apply to all its JobRuns"', async () => {
    const slow = jobType('slow', { taskDetails: () => [1], taskResults: () => forever() });
    const def = jobDef('def', slow, {
      timeout: '5s', retry: { attempts: 2, base: '1s', jitter: 0 }, schedules: cron('*/10 * * * *'),
      priority: 3, tags: { team: 'blue' },
    });
    const t = await start({ defs: [def] });
    await t.createJobRun(def);
    await t.advance('11m');
    const runs = await t.runs(def);
    expect(runs).toHaveLength(2);
    for (const run of runs) {
      expect(run).toMatchObject({ priority: 3, tags: { team: 'blue' } });
      const [task] = await tasksOf(t, run);
      const attempts = attemptsOf(await t.engine.history(task!.id));
      expect(attempts.map(({ error }) => error?.code)).toEqual(['timed out', 'timed out']);
    }
  });

  test('1.05 "every newly-created JobRun names its parent JobDef"', async () => {
    const def = jobDef('nightly', letters, { params: 'abc', schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    await t.createJobRun(def);
    await t.advance('1h');
    expect((await t.runs()).map((run) => [run.def, run.tick !== null])).toEqual([
      ['nightly', false], ['nightly', true],
    ]);
  });

  test('1.06 "a JobType is all the actual custom logic of one kind of job, and is set in the JobDef"', async () => {
    const double = jobType('double', { input: typed<number>(), run: ({ input }) => input * 2 });
    const square = jobType('square', { input: typed<number>(), run: ({ input }) => input * input });
    const t = await start({ defs: [jobDef('a', double), jobDef('b', square)] });
    const runs = [
      await t.createJobRun(jobDef('a', double), { input: 5 }), await t.createJobRun(jobDef('b', square), { input: 5 }),
    ];
    await t.drain();
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual([10, 25]);
    expect((await t.engine.definition('b')).spec.type).toBe('square');
  });

  /** What its phases are given, in the order in which they are called. */
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

  test('1.07 "when a JobRun is at-or-past its due_time, its JobType is called, in this order"', async () => {
    const { type, calls } = observed();
    const t = await start({ types: [type], slots: 1 });
    await t.createJobRun(type, { input: 'it', delay: '1m' });
    await t.advance('59s');
    expect(calls).toEqual([]);
    await t.advance('1s');
    expect(calls.map((call) => call.split('(')[0])).toEqual([
      'JobDetails', 'TaskDetails', 'TaskResults', 'TaskResults', 'JobResults',
    ]);
  });

  test('1.08 "prepares preliminary details that are common among all its tasks (via JobDetails)"', async () => {
    const { type, calls } = observed();
    const t = await start({ types: [type], slots: 1 });
    await t.createJobRun(type, { input: 'it' });
    await t.drain();
    expect(calls.filter((call) => call.startsWith('TaskResults'))).toEqual([
      'TaskResults(x, for it)', 'TaskResults(y, for it)',
    ]);
  });

  test('1.09 "produces all the individual JobTasks of this particular JobRun (via TaskDetails)"', async () => {
    const { type, calls } = observed();
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type, { input: 'it' });
    await t.drain();
    expect(calls).toContain('TaskDetails(for it)');
    expect((await tasksOf(t, run)).map(({ input }) => input)).toEqual(['"x"', '"y"']);
  });

  test('1.10 "runs the actual logic of a particular given JobTask (via TaskResults)"', async () => {
    const { type, calls } = observed();
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type, { input: 'it' });
    await t.drain();
    expect(calls.filter((call) => call.startsWith('TaskResults'))).toHaveLength(2);
    expect((await tasksOf(t, run)).map(({ result }) => result)).toEqual(['"x!"', '"y!"']);
  });

  test('1.11 "finally gathers any summary from the results of the JobTasks (via JobResults)"', async () => {
    const { type, calls } = observed();
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type, { input: 'it' });
    await t.drain();
    expect(calls.at(-1)).toBe('JobResults(x!,y!)');
    expect(await run.result()).toEqual(['x!', 'y!']);
    const bare = jobType('bare', { taskDetails: () => [1], taskResults: () => 1 });
    await t.restart({ types: [bare] });
    const unneeded = await t.createJobRun(bare);
    await t.drain();
    expect(await unneeded.result()).toBeNull();
  });

  test('1.12 "the Engine is what importers instantiate and then start, aka. Resume()"', async () => {
    const quick = jobType('quick', { run: () => 'done' });
    await using engine = new Engine({ store: 'memory:', types: [quick] });
    const run = await engine.createJobRun(quick);
    expect(runState(await run.get())).toBe('PENDING');
    await engine.resume();
    expect(await run.result({ timeout: '10s' })).toBe('done');
  });

  test('1.13 "exposes lifecycle-related utility methods: CreateJobRun, DeleteJobRun, Stats"', async () => {
    const t = await start({ types: [letters] });
    const { id } = await t.engine.createJobRun(letters, { input: 'abcd' });
    await t.drain();
    expect(await t.engine.stats(id)).toMatchObject({
      tasksTotal: 4, tasksByState: { DONE: 4 }, percentDone: 100, percentSuccess: 100,
    });
    await t.engine.deleteJobRun(id);
    expect((await t.engine.find({})).jobs).toEqual([]);
  });
});

describe('states and transitions', () => {
  /** Every state that a run and its tasks went through, from event to event. */
  async function livesOf(t: TestEngine, run: { readonly id: number }): Promise<RunState[][]> {
    const jobs = [...(await t.engine.jobs.store.load([run.id])), ...(await tasksOf(t, run))];
    return Promise.all(jobs.map(async ({ id, kind }) => {
      const stateOf = kind === 'run' ? runState : taskState;
      const states = stepsOf(await t.engine.history(id)).map(({ after }) => stateOf(after));
      return states.filter((state, index) => state !== states[index - 1]);
    }));
  }

  test('1.14 "state is always one of PENDING, RUNNING, DONE, CANCELLING, CANCELLED"', async () => {
    const held = jobType('held', { taskDetails: () => [1], taskResults: ({ signal }) => untilTold(signal) });
    const t = await start({ types: [letters, held] });
    const runs = [await t.createJobRun(letters, { input: 'abc' }), await t.createJobRun(held)];
    await t.drain();
    await runs[1]!.cancel();
    await t.drain();
    const lives = await Promise.all(runs.map((run) => livesOf(t, run)));
    expect(lives[0]).toEqual(Array(4).fill(['PENDING', 'RUNNING', 'DONE']));
    expect(lives[1]).toEqual([['PENDING', 'RUNNING', 'CANCELLING', 'CANCELLED'], ['PENDING', 'RUNNING', 'CANCELLED']]);
    expect(runStates).toEqual(['PENDING', 'RUNNING', 'DONE', 'CANCELLING', 'CANCELLED']);
  });

  test('1.15 "CANCELLING (JobRuns only, but not JobTasks)"', async () => {
    const deaf = jobType('deaf', { taskDetails: () => [1, 2], taskResults: () => forever() });
    const t = await start({ types: [deaf] });
    const run = await t.createJobRun(deaf);
    await t.drain();
    await run.cancel();
    expect(runState(await run.get())).toBe('CANCELLING');
    const tasks = await tasksOf(t, run);
    expect(tasks.map(({ cancel }) => cancel !== null)).toEqual([true, true]);
    expect(tasks.map(runState)).toEqual(['RUNNING', 'RUNNING']);
    expect(taskStates).not.toContain('CANCELLING');
  });

  test('1.16 "the lifecycle state machinery always operates as follows"', async () => {
    const allowed: Record<string, readonly RunState[]> = {
      PENDING: ['RUNNING', 'CANCELLED'],
      RUNNING: ['PENDING', 'DONE', 'CANCELLING', 'CANCELLED'],
      CANCELLING: ['CANCELLED'],
    };
    const flaky = jobType('flaky', {
      retry: { attempts: 3, base: '1s' },
      taskDetails: () => [1, 2, 3],
      taskResults: ({ run, task }) => { if (task === 2 && run.attempt < 3) throw new Error('not yet'); },
    });
    const held = jobType('held', { taskDetails: () => [1, 2], taskResults: ({ signal }) => untilTold(signal) });
    const t = await start({ types: [flaky, held], slots: 2 });
    const runs = [await t.createJobRun(flaky), await t.createJobRun(held), await t.createJobRun(held, { delay: '1h' })];
    await t.advance('30s');
    for (const run of runs.slice(1)) await run.cancel();
    await t.advance('1m');
    const lives = (await Promise.all(runs.map((run) => livesOf(t, run)))).flat();
    const wrong = lives.flatMap((life) => life.slice(1).filter(
      (state, index) => !allowed[life[index]!]?.includes(state),
    ));
    expect(wrong).toEqual([]);
    expect(lives).toContainEqual(['PENDING', 'RUNNING', 'PENDING', 'RUNNING', 'PENDING', 'RUNNING', 'DONE']);
    expect(lives).toContainEqual(['PENDING', 'CANCELLED']);
  });

  test('1.17 "upon creation, the job exists task-less with its due_time, PENDING"', async () => {
    const def = jobDef('def', letters, { params: 'abc', schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    const byHand = await t.createJobRun(def, { delay: '2h' });
    await t.advance('59m');
    await t.engine.suspend();
    expect(await byHand.get()).toMatchObject({ state: 'pending', due: newYear + 2 * hour });
    expect(runState(await byHand.get())).toBe('PENDING');
    expect(await tasksOf(t, byHand)).toEqual([]);
    // One that is made by the schedule, on an engine that does not know what to do with it.
    await t.restart({ defs: [] });
    await t.advance('1m');
    const [, scheduled] = await t.runs(def);
    expect([runState(scheduled!), scheduled!.due, (await tasksOf(t, scheduled!)).length]).toEqual(
      ['PENDING', newYear + hour, 0],
    );
  });

  test('1.18 "when a PENDING job is (over)due, JobDetails and TaskDetails are obtained"', async () => {
    const calls: string[] = [];
    const type = jobType('told', {
      jobDetails: () => void calls.push('JobDetails'),
      taskDetails: () => { calls.push('TaskDetails'); return []; },
      taskResults: () => {},
    });
    const t = await start({ types: [type] });
    await t.createJobRun(type, { dueTime: newYear - hour });
    await t.createJobRun(type, { delay: '1h' });
    await t.advance('59m');
    expect(calls).toEqual(['JobDetails', 'TaskDetails']);
    await t.advance('1m');
    expect(calls).toHaveLength(4);
  });

  test('1.19 "in one transaction: all JobTasks are stored (PENDING), the state is set to RUNNING"', async () => {
    const t = await start({ types: [letters], slots: 1 });
    const seen: string[] = [];
    const run = await t.createJobRun(letters, { input: 'abc' });
    const { store } = t.engine.jobs;
    // The store wakes its listeners after each commit: whatever they see is what a commit left.
    const stop = store.onWake(() => void look());
    const look = async (): Promise<void> => {
      const [job] = await store.load([run.id]);
      const { jobs } = await store.find({ parent: run.id });
      seen.push(`${runState(job!)} ${jobs.length}`);
    };
    await t.drain();
    stop();
    expect(seen).toContain('RUNNING 3');
    for (const sight of seen) expect(['PENDING 0', 'RUNNING 3', 'DONE 3']).toContain(sight);
    const events = await run.events();
    const [task] = await tasksOf(t, run);
    expect(events.find(({ kind }) => kind === 'planned')).toMatchObject({ tasks: 3 });
    expect((await t.engine.history(task!.id))[0]).toMatchObject({ kind: 'created' });
  });

  test('1.20 "while a job\'s state is RUNNING, the Engine keeps looking for PENDING tasks to run"', async () => {
    const worked: number[] = [];
    const many = jobType('many', {
      taskDetails: () => [1, 2, 3, 4, 5],
      taskResults: async ({ task }) => { await t.clock.sleep(second); worked.push(task); },
    });
    const t = await start({ types: [many], slots: 1 });
    const run = await t.createJobRun(many);
    await t.advance('2500ms');
    expect([runState(await run.get()), worked]).toEqual(['RUNNING', [1, 2]]);
    await t.advance('5s');
    expect(worked).toEqual([1, 2, 3, 4, 5]);
  });

  test('1.21 "if there are none left, into DONE, at the same time storing its JobResults"', async () => {
    const t = await start({ types: [letters] });
    const run = await t.createJobRun(letters, { input: 'abc' });
    await t.drain();
    const job = await run.get();
    expect([runState(job), job.result]).toEqual(['DONE', '"3: ABC"']);
    expect(job.version).toBe((await run.events()).at(-1)!.n);
  });

  test('1.22 "when a PENDING task is picked up, first it is set to RUNNING in storage"', async () => {
    const stored: string[] = [];
    const type = jobType('looking', {
      taskDetails: () => [1],
      taskResults: async ({ run }) => {
        const [task] = await tasksOf(t, run);
        stored.push(taskState(task!));
      },
    });
    const t = await start({ types: [type] });
    await t.createJobRun(type);
    await t.drain();
    expect(stored).toEqual(['RUNNING']);
    const cluster = new Cluster();
    const door = new Door();
    const once = jobType('once', { taskDetails: () => [1], taskResults: () => door.pass() });
    const engines = [await cluster.join({ types: [once] }), await cluster.join({ types: [once] })];
    await engines[0]!.createJobRun(once);
    await cluster.advance('20s');
    expect(door.knocks).toBe(1);
  });

  test('1.23 "upon success, it is run via JobType.TaskResults"', async () => {
    const cluster = new Cluster();
    const workedBy: string[] = [];
    const typeOn = (name: string) => jobType('once', {
      taskDetails: () => [1, 2, 3], taskResults: () => void workedBy.push(name),
    });
    const engines = [await cluster.join({ types: [typeOn('a')] }), await cluster.join({ types: [typeOn('b')] })];
    const run = await engines[0]!.createJobRun(typeOn('a'));
    await cluster.advance('10s');
    expect(workedBy).toHaveLength(3);
    for (const task of (await engines[0]!.find({ parent: run.id })).jobs) {
      const claims = (await engines[0]!.history(task.id)).filter(({ kind }) => kind === 'claimed');
      expect(claims).toHaveLength(1);
    }
  });

  test('1.24 "store outcome, whether error or results"', async () => {
    const type = jobType('both', {
      retry: { attempts: 1 },
      taskDetails: () => ['good', 'bad'],
      taskResults: ({ task }) => { if (task === 'bad') throw new Error('it is bad'); return `${task} result`; },
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.drain();
    const [good, bad] = await tasksOf(t, run);
    expect([good!.result, bad!.error?.message]).toEqual(['"good result"', 'it is bad']);
  });

  test('1.25 "if timed out and retryable (as per JobDef settings), set to PENDING again"', async () => {
    const slow = jobType('slow', { taskDetails: () => [1], taskResults: () => forever() });
    const def = jobDef('def', slow, { timeout: '5s', retry: { attempts: 2, base: '1m', jitter: 0 } });
    const t = await start({ defs: [def] });
    const run = await t.createJobRun(def);
    await t.advance('6s');
    const [task] = await tasksOf(t, run);
    expect([taskState(task!), task!.error?.code]).toEqual(['PENDING', 'timed out']);
  });

  test('1.26 "if errored but retryable (as per IsTaskErrRetryable and JobDef), PENDING again"', async () => {
    const picky = jobType('picky', {
      isTaskErrorRetryable: (error) => error instanceof TypeError,
      taskDetails: () => ['retryable', 'not retryable'],
      taskResults: ({ task }) => { throw task === 'retryable' ? new TypeError('x') : new RangeError('y'); },
    });
    const def = jobDef('def', picky, { retry: { attempts: 2, base: '1m', jitter: 0 } });
    const t = await start({ defs: [def] });
    const run = await t.createJobRun(def);
    await t.drain();
    expect((await tasksOf(t, run)).map(taskState)).toEqual(['PENDING', 'DONE']);
  });

  test('1.27 "else, set to DONE"', async () => {
    const broken = jobType('broken', { taskDetails: () => [1], taskResults: () => { throw new Error('no'); } });
    const def = jobDef('def', broken, { retry: { attempts: 2, base: '1s' } });
    const t = await start({ defs: [def] });
    const run = await t.createJobRun(def);
    await t.advance('10s');
    const [task] = await tasksOf(t, run);
    expect([taskState(task!), attemptsOf(await t.engine.history(task!.id)).length]).toEqual(['DONE', 2]);
    expect(runState(await run.get())).toBe('DONE');
  });

  test('1.28 "if pod is restarted: will be detected and marked-for-retry by another worker"', async () => {
    const cluster = new Cluster();
    const door = new Door();
    const slow = jobType('slow', { taskDetails: () => [1], taskResults: () => door.pass() });
    const first = await cluster.join({ types: [slow] });
    const run = await first.createJobRun(slow);
    await cluster.advance('1s');
    cluster.kill(first);
    const second = await cluster.join({ types: [slow] });
    await cluster.advance('25s');
    expect(door.knocks).toBe(2);
    const { jobs: [task] } = await second.find({ parent: run.id });
    expect(kindsOf(await second.history(task!.id))).toEqual(['created', 'claimed', 'lapsed', 'claimed']);
    expect((await second.history(task!.id))[2]).toMatchObject({ by: 'b', holder: 'a' });
  });

  test('1.29 "when a PENDING or RUNNING job is Canceled: the JobRun is transitioned into CANCELLING"', async () => {
    const held = jobType('held', { taskDetails: () => [1], taskResults: () => forever() });
    const t = await start({ types: [held] });
    const running = await t.createJobRun(held);
    const pending = await t.createJobRun(held, { delay: '1h' });
    await t.drain();
    expect(runState(await running.cancel())).toBe('CANCELLING');
    // There is nothing of it to wait for: what comes after CANCELLING comes in the same transaction.
    expect(runState(await pending.cancel())).toBe('CANCELLED');
    expect((await running.get()).cancel).not.toBeNull();
  });

  test('1.30 "while CANCELLING: JobTasks not yet DONE or CANCELLED are transitioned into CANCELLED"', async () => {
    const mixed = jobType('mixed', {
      taskDetails: () => ['done', 'runs', 'runs too', 'waits'],
      taskResults: ({ task, signal }) => (task === 'done' ? task : untilTold(signal)),
    });
    const t = await start({ types: [mixed], slots: 2 });
    const run = await t.createJobRun(mixed);
    await t.drain();
    await run.cancel();
    await t.drain();
    expect((await tasksOf(t, run)).map(taskState)).toEqual(['DONE', 'CANCELLED', 'CANCELLED', 'CANCELLED']);
  });

  test('1.31 "if none found: the JobRun itself is transitioned into CANCELLED"', async () => {
    const door = new Door();
    const slow = jobType('slow', {
      taskDetails: () => [1, 2], taskResults: ({ task, signal }) => (task === 1 ? door.pass() : untilTold(signal)),
    });
    const t = await start({ types: [slow] });
    const run = await t.createJobRun(slow);
    await t.drain();
    await run.cancel();
    await t.advance('1m');
    expect([runState(await run.get()), (await tasksOf(t, run)).map(taskState)]).toEqual([
      'CANCELLING', ['RUNNING', 'CANCELLED'],
    ]);
    door.open();
    await t.drain();
    expect([runState(await run.get()), (await tasksOf(t, run)).map(taskState)]).toEqual([
      'CANCELLED', ['CANCELLED', 'CANCELLED'],
    ]);
    expect((await run.get()).state === 'ended').toBe(true);
  });
});
