// Seed 4, "Job scheduling and progress", statement by statement.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  Cancelled, cron, Engine, every, jobDef, jobType, runStatus, type Context, type Progress,
} from '../../src/index.ts';
import { processStatus } from '../../src/vocabulary/configuration.ts';
import * as isolated from '../engine/fixtures/isolated-types.ts';
import { Cluster } from '../engine/api/cluster.ts';
import {
  Door, hour, minute, newYear, refusal, refused, second, start, ticksOf, told, untilTold,
} from '../engine/api/kit.ts';

const quick = jobType('quick', { run: () => 'done' });
const makeAlone = (door: Door) =>
  jobType('alone', { onePerType: true, run: ({ signal }) => Promise.race([door.pass(), untilTold(signal)]) });

describe('jobs', () => {
  test('4.01 "a potentially long-running background task with a scheduled execution time"', async () => {
    const long = jobType('long', {
      timeout: '3d', run: async () => { await t.clock.sleep(10 * minute); return 'done'; },
    });
    const t = await start({ types: [long] });
    const run = await t.createJobRun(long, { dueTime: newYear + hour });
    await t.advance('1h5m');
    expect(runStatus(await run.get())).toBe('RUNNING');
    await t.advance('5m');
    expect(await run.result()).toBe('done');
  });

  test('4.02 "multiple JobConfigurations for a type, only one of these can run at a time"', async () => {
    const door = new Door();
    const alone = makeAlone(door);
    const defs = ['a', 'b', 'c'].map((name) => jobDef(name, alone, {
      schedules: cron('*/10 * * * *'), overlap: 'queue',
    }));
    const t = await start({ defs });
    await t.advance('30m');
    expect(door.knocks).toBe(1);
    expect((await t.engine.count({ types: ['alone'], kinds: ['run'], standings: ['running'] }))[0]?.count).toBe(1);
  });

  test('4.03 "this is an essential intentional restriction that is crucial to understand": a real lock', async () => {
    const door = new Door();
    const alone = makeAlone(door);
    const cluster = new Cluster();
    const defs = ['a', 'b'].map((name) => jobDef(name, alone, { schedules: cron('* * * * *'), overlap: 'allow' }));
    for (let count = 0; count < 3; count += 1) await cluster.join({ defs });
    await cluster.advance('5m');
    expect(door.knocks).toBe(1);
  });

  test('4.04 "linked to its Job implementation by the JobType; one class for each type"', async () => {
    const t = await start({ defs: [jobDef('nightly', quick)] });
    expect((await t.engine.definition('nightly')).spec.type).toBe('quick');
    const run = await t.createJobRun(jobDef('nightly', quick));
    await t.drain();
    expect(await run.result()).toBe('done');
    const impostor = jobType('quick', { run: () => 'other' });
    expect(() => new Engine({ store: 'memory:', types: [quick, impostor] })).toThrow('two job types are named quick');
  });

  test('4.05 "an in memory job: the change of JobStatus is never persisted in the database"', async () => {
    const passing = jobDef('passing', quick, { inMemory: true });
    const t = await start({ defs: [passing] });
    const before = await t.engine.jobs.store.feedEnd();
    const run = await t.createJobRun(passing);
    await t.drain();
    expect(runStatus(await run.get())).toBe('COMPLETED');
    expect(await t.engine.jobs.store.feedEnd()).toBe(before);
  });

  test('4.06 "often ad-hoc created, in theory even a persisted configuration"', async () => {
    const t = await start({ types: [quick] });
    const adHoc = await t.createJobRun(jobDef('ad hoc', quick, { inMemory: true }));
    await t.drain();
    expect(await adHoc.result()).toBe('done');
    // Declared in code it is there at every start, and ticks, with nothing stored.
    const ticking = jobDef('ticking', quick, { inMemory: true, schedules: cron('0 * * * *') });
    await t.restart({ defs: [ticking] });
    await t.restart();
    await t.advance('1h');
    expect((await t.engine.configuration('ticking')).lastExecutedStatus).toBe('COMPLETED');
    expect((await t.engine.jobs.find({})).jobs).toEqual([]);
  });

  test('4.07 "status, last and next execution are updated in the database whenever they change"', async () => {
    const door = new Door();
    const slow = jobType('slow', { retry: { attempts: 1 }, run: () => door.pass() });
    const def = jobDef('def', slow, { schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    const configuration = async () => t.engine.configuration('def');
    expect(await configuration()).toEqual({
      status: 'SCHEDULED', lastExecuted: null, lastExecutedStatus: 'NOT_STARTED', lastRun: null,
      nextExecutionTime: newYear + hour,
    });
    await t.advance('1h');
    const [run] = await t.runs(def);
    expect(await configuration()).toMatchObject({
      status: 'RUNNING', lastExecuted: newYear + hour, lastRun: run!.id, nextExecutionTime: newYear + 2 * hour,
    });
    door.open();
    await t.drain();
    // Whoever comes after a crash finds the same in the database.
    t.crash();
    await t.restart();
    expect(await configuration()).toMatchObject({
      status: 'SCHEDULED', lastExecuted: newYear + hour, lastExecutedStatus: 'COMPLETED',
    });
    await t.engine.disable('def');
    expect(await configuration()).toMatchObject({ status: 'DISABLED', nextExecutionTime: null });
  });

  test('4.08 "leader only: only the leader node in a cluster should run these jobs in the scheduler"', async () => {
    const ranOn: string[] = [];
    const defOn = (name: string) =>
      jobDef('def', jobType('work', { run: () => void ranOn.push(name) }), {
        leaderOnly: true, schedules: cron('* * * * *'),
      });
    const cluster = new Cluster();
    const leader = await cluster.join({ defs: [defOn('a')] });
    await cluster.join({ defs: [defOn('b')] });
    await cluster.advance('3m10s');
    expect(ranOn).toEqual(['a', 'a', 'a']);
    cluster.kill(leader);
    await cluster.advance('2m');
    expect(ranOn.slice(3)).toEqual(['b', 'b']);
  });

  test('4.09 "to only perform database work once independent of the number of nodes"', async () => {
    let count = 0;
    const def = jobDef('def', jobType('work', { run: () => { count += 1; } }), {
      leaderOnly: true, schedules: cron('* * * * *'),
    });
    const cluster = new Cluster();
    for (let nodes = 0; nodes < 4; nodes += 1) await cluster.join({ defs: [def] });
    await cluster.advance('5m10s');
    expect(count).toBe(5);
  });

  test('4.10 "job specific execution parameters that are part of a JobConfiguration, stored as JSON"', async () => {
    const report = jobType('report', {
      input: z.object({ year: z.number(), format: z.enum(['pdf', 'csv']).default('pdf') }),
      run: ({ input }) => `${input.year}.${input.format}`,
    });
    const def = jobDef('yearly', report, { params: { year: 2025 }, schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    await t.advance('1h');
    const [run] = await t.runs(def);
    expect([run!.input, run!.state === 'ended' && run!.result]).toEqual(['{"year":2025}', '"2025.pdf"']);
    const { job } = await t.engine.definition('yearly');
    expect(JSON.parse(job.input)).toMatchObject({ code: { params: { year: 2025 } } });
  });
});

describe('scheduling', () => {
  test('4.11 "jobs are executed asynchronously, started by a scheduler based on the configuration"', async () => {
    const def = jobDef('def', quick, { schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    const byHand = await t.createJobRun(def);
    expect((await byHand.get()).state).not.toBe('ended');
    await t.advance('1h');
    const [, scheduled] = await t.runs(def);
    expect((await t.engine.history(scheduled!.id))[0]).toMatchObject({
      kind: 'created', by: 'test-1', at: newYear + hour,
    });
  });

  test('4.12 "either based on a CRON expression or regularly with a fixed time delay between executions"', async () => {
    const slow = jobType('slow', { run: () => t.clock.sleep(5 * minute) });
    const t = await start({
      defs: [
        jobDef('cron', slow, { schedules: cron('30 * * * *') }),
        jobDef('delay', slow, { schedules: every('10m', { from: 'finished' }) }),
      ],
    });
    await t.advance('41m');
    expect((await ticksOf(t.engine, 'cron')).map(told)).toEqual(['2026-01-01T00:30 run']);
    expect((await ticksOf(t.engine, 'delay')).map(told)).toEqual([
      '2026-01-01T00:10 run', '2026-01-01T00:25 run', '2026-01-01T00:40 run',
    ]);
  });

  test('4.13 "jobs are automatically (re)scheduled when the configuration is created or updated"', async () => {
    const t = await start({ defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    expect((await t.engine.configuration('def')).nextExecutionTime).toBe(newYear + hour);
    await t.engine.override('def', { schedules: [cron('*/5 * * * *')] });
    expect((await t.engine.configuration('def')).nextExecutionTime).toBe(newYear + 5 * minute);
    await t.advance('5m');
    expect(await t.runs()).toHaveLength(1);
  });

  test('4.14 "will attempt to stop any running job of the same type: a phantom"', async () => {
    const alone = makeAlone(new Door());
    const phantom = jobDef('phantom', alone);
    const due = jobDef('due', alone, { schedules: cron('*/10 * * * *'), overlap: 'replace' });
    const t = await start({ defs: [phantom, due] });
    const run = await t.createJobRun(phantom);
    await t.advance('10m');
    expect(await run.get()).toMatchObject({ fate: 'cancelled', cancel: { code: 'automation' } });
    expect((await t.runs(due)).map(runStatus)).toEqual(['RUNNING']);
  });

  test('4.15 "the nextExecutionTime contains the instant when the job should run again"', async () => {
    const t = await start({ defs: [jobDef('def', quick, { schedules: [cron('0 * * * *'), cron('45 0 * * *')] })] });
    const times: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { nextExecutionTime } = await t.engine.configuration('def');
      times.push((nextExecutionTime! - newYear) / minute);
      await t.advance(`${nextExecutionTime! - t.clock.now()}ms`);
      expect((await t.engine.configuration('def')).lastExecuted).toBe(nextExecutionTime);
    }
    expect(times).toEqual([45, 60, 120]);
  });

  test('4.16 "can also be run manually: the job is started right away"', async () => {
    const def = jobDef('def', quick, { schedules: cron('0 0 1 7 *') });
    const t = await start({ defs: [def] });
    const { nextExecutionTime } = await t.engine.configuration('def');
    const run = await t.createJobRun(def);
    await t.drain();
    expect([runStatus(await run.get()), (await run.get()).startedAt]).toEqual(['COMPLETED', newYear]);
    expect((await t.engine.configuration('def')).nextExecutionTime).toBe(nextExecutionTime);
  });

  test('4.17 "however, this is only possible when a job of the same type is not already running"', async () => {
    const alone = makeAlone(new Door());
    const [a, b] = [jobDef('a', alone), jobDef('b', alone)];
    const t = await start({ defs: [a, b] });
    const running = await t.createJobRun(a);
    await t.drain();
    expect(await refused(t.createJobRun(a))).toBe('busy.type');
    expect(await refused(t.createJobRun(b))).toBe('busy.type');
    await running.cancel();
    await t.drain();
    expect((await t.createJobRun(b)).outcome).toBe('created');
  });

  test('4.18 "it does not matter if they were scheduled or run manually"', async () => {
    const door = new Door();
    const alone = makeAlone(door);
    const scheduled = jobDef('scheduled', alone, { schedules: cron('*/10 * * * *') });
    const manual = jobDef('manual', alone);
    const t = await start({ defs: [scheduled, manual] });
    const byHand = await t.createJobRun(manual);
    await t.advance('10m');
    expect((await ticksOf(t.engine, 'scheduled')).map(told)).toEqual(['2026-01-01T00:10 overlap']);
    await byHand.cancel();
    await t.advance('10m');
    expect((await t.runs(scheduled)).map(runStatus)).toEqual(['RUNNING']);
    expect(await refused(t.createJobRun(manual))).toBe('busy.type');
  });

  test('4.19 "coordinated using maps per JobType of scheduled and manually executed jobs"', async () => {
    const alone = makeAlone(new Door());
    const def = jobDef('def', alone, { schedules: cron('*/10 * * * *') });
    const t = await start({ defs: [def] });
    await t.advance('10m');
    const [run] = await t.runs(def);
    const busy = await refusal(t.createJobRun(def));
    expect(busy.detail).toEqual({ type: 'alone', id: run!.id });
    // The memory is the store's: another process gives the same answer.
    t.crash();
    await t.restart();
    expect((await refusal(t.createJobRun(def))).detail).toEqual({ type: 'alone', id: run!.id });
  });
});

describe('stop (forced quit)', () => {
  test('4.20 "being scheduled or currently running: cancelled as an attempt to stop"', async () => {
    const held = jobType('held', { run: ({ signal }) => untilTold(signal) });
    const t = await start({ types: [held] });
    const scheduled = await t.createJobRun(held, { delay: '1h' });
    const running = await t.createJobRun(held);
    await t.drain();
    expect([(await scheduled.stop()).how, (await running.stop()).how]).toEqual(['idle', 'disowned']);
    expect([runStatus(await scheduled.get()), runStatus(await running.get())]).toEqual(['STOPPED', 'STOPPED']);
  });

  test('4.21 "will get interrupted and hopefully terminate in a controlled way"', async () => {
    const story: string[] = [];
    const tidy = jobType('tidy', {
      run: async ({ signal }) => {
        try {
          await untilTold(signal);
        } finally {
          story.push('tidied up');
        }
      },
    });
    const t = await start({ types: [tidy] });
    const run = await t.createJobRun(tidy);
    await t.drain();
    await run.stop();
    await t.drain();
    expect(story).toEqual(['tidied up']);
  });

  test('4.22 "stopping a job can sometimes be ineffective due to error handling within the process"', async () => {
    const door = new Door();
    const stubborn = jobType('stubborn', {
      run: async ({ signal }) => {
        await untilTold(signal).catch(() => 'swallowed');
        await door.pass();
        return 'went on';
      },
    });
    const t = await start({ types: [stubborn, isolated.loops] });
    const disowned = await t.createJobRun(stubborn);
    const isolatedRun = await t.createJobRun(isolated.loops);
    await t.drain();
    // What cannot be ended can at least change nothing; what runs in a thread of its own is ended for real.
    expect([(await disowned.stop()).how, (await isolatedRun.stop()).how]).toEqual(['disowned', 'terminated']);
    await t.drain();
    door.open();
    await t.drain();
    expect(await disowned.get()).toMatchObject({ fate: 'cancelled', result: null });
  });
});

describe('cancel (request to give up)', () => {
  /** Works on four items of ten seconds each. */
  function items(handle: (context: Context) => unknown = () => undefined) {
    const done: number[] = [];
    const made = { type: jobType('items', {
      run: async (context) => {
        const outcome = await context.progress.runStage([1, 2, 3, 4], (item) => `item ${item}`, async (item) => {
          await made.sleep(10 * second);
          done.push(item);
        });
        return handle(context) ?? outcome;
      },
    }), done, sleep: (_ms: number): Promise<void> => Promise.resolve() };
    return made;
  }

  test('4.23 "can be asked to cooperatively give up running at the next safe point"', async () => {
    const made = items();
    const t = await start({ types: [made.type] });
    made.sleep = (ms) => t.clock.sleep(ms);
    const run = await t.createJobRun(made.type);
    await t.advance('15s');
    const { progress } = await t.engine.snapshot(run.id);
    expect(progress?.processes[0]?.status).toBe('RUNNING');
    await run.cancel();
    await t.advance('1m');
    expect(runStatus(await run.get())).toBe('STOPPED');
  });

  test('4.24 "completes the item; once it is done, skips further execution to the end"', async () => {
    const made = items();
    const t = await start({ types: [made.type] });
    made.sleep = (ms) => t.clock.sleep(ms);
    const run = await t.createJobRun(made.type);
    await t.advance('15s');
    await run.cancel();
    expect(made.done).toEqual([1]);
    await t.advance('1m');
    expect(made.done).toEqual([1, 2]);
  });

  test('4.25 "does not roll back any changes; might have specific routines to clean up"', async () => {
    const cleaned: string[] = [];
    const made = items(({ progress }) => { if (progress.isCancelled) cleaned.push('cleaned up'); });
    const t = await start({ types: [made.type] });
    made.sleep = (ms) => t.clock.sleep(ms);
    const run = await t.createJobRun(made.type);
    await t.advance('15s');
    await run.cancel();
    await t.advance('1m');
    expect([made.done, cleaned]).toEqual([[1, 2], ['cleaned up']]);
  });

  test('4.26 "exits with a CancellationException; sometimes considered as a successful run"', async () => {
    const throwing = jobType('throwing', { run: ({ signal }) => untilTold(signal) });
    const content = jobType('content', {
      run: ({ signal }) => untilTold(signal).catch((error: unknown) => `enough: ${error instanceof Cancelled}`),
    });
    const t = await start({ types: [throwing, content] });
    const runs = [await t.createJobRun(throwing), await t.createJobRun(content)];
    await t.drain();
    for (const run of runs) await run.cancel();
    await t.drain();
    // One word for both, and the event tells which of the two it was.
    expect(await Promise.all(runs.map(async (run) => runStatus(await run.get())))).toEqual(['STOPPED', 'STOPPED']);
    const ends = await Promise.all(runs.map(async (run) => (await run.events()).at(-1)));
    expect(ends).toMatchObject([{ kind: 'cancelled', late: 'failed' }, { kind: 'cancelled', late: 'succeeded' }]);
  });
});

describe('progress', () => {
  /** The tree that a handler's words make. */
  async function treeOf(tell: (context: Context) => unknown): Promise<{ progress: Progress | null; status: string }> {
    const type = jobType('told', { retry: { attempts: 1 }, run: async (context) => { await tell(context); } });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('10s');
    return { progress: (await t.engine.snapshot(run.id)).progress, status: runStatus(await run.get()) };
  }

  test('4.27 "a JobProgress instance is created by the scheduler and passed to the execution"', async () => {
    const { progress } = await treeOf((context) => context.progress.startingProcess('the whole'));
    expect(progress?.processes).toMatchObject([{ description: 'the whole' }]);
  });

  test('4.28 "tracking is an optional feature"', async () => {
    expect(await treeOf(() => 'no word')).toEqual({ progress: null, status: 'COMPLETED' });
  });

  test('4.29 "three levels: process, stage, work item"', async () => {
    const { progress } = await treeOf(({ progress: tracker }) => {
      tracker.startingProcess('process');
      tracker.startingStage('stage');
      tracker.startingItem('item');
    });
    expect(progress?.processes).toMatchObject([
      { description: 'process', stages: [{ description: 'stage', items: [{ description: 'item' }] }] },
    ]);
  });

  test('4.30 "both process and stage are strictly sequential and cannot fork-join"', async () => {
    const { progress } = await treeOf(async ({ progress: tracker }) => {
      tracker.startingProcess('one');
      tracker.startingStage('first');
      tracker.startingStage('second');
      tracker.completedStage();
    });
    const [first, second] = progress!.processes[0]!.stages;
    expect([first!.completedAt !== null, second!.completedAt !== null]).toEqual([true, true]);
    expect(first!.completedAt!).toBeLessThanOrEqual(second!.startedAt);
  });

  test('4.31 "the item level is meant for either sequential or parallel processing"', async () => {
    const most = { inTurn: 0, atOnce: 0 };
    const t = await start({ types: [jobType('both', {
      run: async ({ progress }) => {
        for (const [name, parallelism] of [['inTurn', 1], ['atOnce', 3]] as const) {
          let now = 0;
          progress.startingStage(name);
          await progress.runStageInParallel(parallelism, [1, 2, 3, 4, 5, 6], String, async () => {
            most[name] = Math.max(most[name], ++now);
            await t.clock.sleep(second);
            now -= 1;
          });
        }
      },
    })] });
    await t.engine.jobs.create({ type: 'both' }, 'ann');
    await t.advance('20s');
    expect(most).toEqual({ inTurn: 1, atOnce: 3 });
  });

  test('4.32 "unknown up-front: discovered and collected into a tree as the execution progresses"', async () => {
    const type = jobType('growing', {
      run: async ({ progress }) => {
        for (const stage of ['a', 'b', 'c']) {
          progress.startingStage(stage);
          await t.clock.sleep(second);
          progress.completedStage();
        }
      },
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    const seen: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      await t.advance('900ms');
      seen.push((await t.engine.snapshot(run.id)).progress?.processes[0]?.stages.length ?? 0);
    }
    expect(seen).toEqual([1, 2, 3, 3]);
  });

  test('4.33 "a totalItems count: how much of the work has been completed already"', async () => {
    const type = jobType('counted', {
      run: ({ progress }) => {
        progress.startingStage('four of them', { total: 4 });
        return progress.runStage([1, 2, 3, 4], String, () => t.clock.sleep(second));
      },
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('2500ms');
    const stage = (await t.engine.snapshot(run.id)).progress?.processes[0]?.stages[0];
    expect([stage?.total, stage?.items.filter(({ status }) => status === 'SUCCESS').length]).toEqual([4, 2]);
  });

  test('4.34 "RUNNING when added, SUCCESS once completed, ERROR should an item fail"', async () => {
    const { progress } = await treeOf(({ progress: tracker, signal }) => {
      tracker.startingStage('items', { onFailure: 'SKIP_ITEM' });
      tracker.startingItem('good');
      tracker.completedItem();
      tracker.startingItem('bad');
      tracker.failedItem(new Error('spoilt'));
      tracker.startingItem('open');
      return untilTold(signal);
    });
    const items = progress!.processes[0]!.stages[0]!.items;
    expect(items.map(({ description, status }) => `${description} ${status}`)).toEqual([
      'good SUCCESS', 'bad ERROR', 'open RUNNING',
    ]);
    expect(items[1]!.error).toContain('spoilt');
  });

  test('4.35 "depending on the error handling this can further fail the stage and the overall process"', async () => {
    const work = (onFailure: 'FAIL' | 'SKIP_STAGE' | 'SKIP_ITEM') => treeOf(async ({ progress: tracker }) => {
      tracker.startingStage('items', { onFailure });
      await tracker.runStage([1, 2, 3], String, (item) => { if (item === 2) throw new Error('spoilt'); });
    });
    const told = async (onFailure: 'FAIL' | 'SKIP_STAGE' | 'SKIP_ITEM'): Promise<string[]> => {
      const { progress, status } = await work(onFailure);
      const [process] = progress!.processes;
      return [process!.stages[0]!.status, process!.status, status];
    };
    expect(await told('FAIL')).toEqual(['ERROR', 'ERROR', 'FAILED']);
    expect(await told('SKIP_STAGE')).toEqual(['ERROR', 'SUCCESS', 'COMPLETED']);
    expect(await told('SKIP_ITEM')).toEqual(['SUCCESS', 'SUCCESS', 'COMPLETED']);
  });

  test('4.36 "when a job is cancelled the process changes to status CANCELLED immediately"', async () => {
    const type = jobType('slow', {
      run: ({ progress }) => progress.runStage([1, 2], String, () => t.clock.sleep(10 * second)),
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1s');
    await run.cancel();
    expect(processStatus(await run.get())).toBe('CANCELLED');
    await t.advance('1s');
    const [process] = (await t.engine.snapshot(run.id)).progress!.processes;
    expect([process!.status, process!.stages[0]!.items[0]!.status]).toEqual(['CANCELLED', 'RUNNING']);
  });

  test('4.37 "the running item is completed as usual but the stage might end CANCELLED"', async () => {
    const type = jobType('slow', {
      run: ({ progress }) => progress.runStage([1, 2], String, () => t.clock.sleep(10 * second)),
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1s');
    await run.cancel();
    await t.advance('30s');
    const [process] = (await t.engine.snapshot(run.id)).progress!.processes;
    const [stage] = process!.stages;
    expect([stage!.items.map(({ status }) => status), stage!.status, process!.status]).toEqual([
      ['SUCCESS'], 'CANCELLED', 'CANCELLED',
    ]);
  });

  test('4.38 "the code informs the JobProgress object about the progress made by calling its methods"', async () => {
    const { progress } = await treeOf(({ progress: tracker }) => {
      tracker.startingProcess('p');
      tracker.startingStage('s');
      tracker.completedStage('stage done');
      tracker.completedProcess('process done');
    });
    expect(progress?.processes[0]).toMatchObject({ summary: 'process done', stages: [{ summary: 'stage done' }] });
  });

  test('4.39 "a corresponding call to complete or failed should occur": a missing one is repaired', async () => {
    const { progress, status } = await treeOf(({ progress: tracker }) => {
      tracker.completedItem('never begun');
      tracker.startingStage('never ended');
    });
    const [process] = progress!.processes;
    expect(process!.stages.map((stage) => stage.status)).toEqual(['SUCCESS', 'SUCCESS']);
    expect([process!.status, status]).toEqual(['SUCCESS', 'COMPLETED']);
  });

  test('4.40 "a simple sequence of calls would look as follows"', async () => {
    const { progress, status } = await treeOf(({ progress: tracker }) => {
      tracker.startingProcess();
      tracker.startingStage('one');
      tracker.startingItem();
      tracker.completedItem();
      tracker.startingItem();
      tracker.completedItem();
      tracker.completedStage();
      tracker.startingStage('two');
      tracker.startingItem();
      const cause = new Error('doing the work failed');
      tracker.failedItem(cause);
      tracker.failedStage(cause);
      tracker.failedProcess(cause);
    });
    const [process] = progress!.processes;
    expect(process!.stages.map((stage) => [stage.status, stage.items.map((item) => item.status)])).toEqual([
      ['SUCCESS', ['SUCCESS', 'SUCCESS']], ['ERROR', ['ERROR']],
    ]);
    expect([process!.status, status]).toEqual(['ERROR', 'FAILED']);
  });

  test('4.41 "what is a process, stage or item is chosen as the author sees fit"', async () => {
    const { progress } = await treeOf(({ progress: tracker }) => {
      for (const name of ['import', 'export']) {
        tracker.startingProcess(name);
        tracker.startingStage(`all of ${name}`);
        tracker.completedProcess();
      }
    });
    expect(progress?.processes.map(({ description }) => description)).toEqual(['import', 'export']);
  });

  test('4.42 "there are helper methods runStage and runStageInParallel"', async () => {
    const outcomes: unknown[] = [];
    const { progress } = await treeOf(async ({ progress: tracker }) => {
      outcomes.push(await tracker.runStage(() => 'a piece of work'));
      outcomes.push(await tracker.runStage([1, 2], String, () => {}));
      outcomes.push(await tracker.runStageInParallel(2, [1, 2, 3], String, () => {}));
    });
    expect(outcomes).toEqual([
      'a piece of work', { succeeded: 2, failed: 0, isComplete: true }, { succeeded: 3, failed: 0, isComplete: true },
    ]);
    expect(progress?.processes[0]?.stages.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
  });

  test('4.43 "describeItem provides a readable description for the item which is used in the tree"', async () => {
    const { progress } = await treeOf(async ({ progress: tracker }) => {
      const loaded = [{ id: 7, name: 'seven' }, { id: 8, name: 'eight' }];
      tracker.startingStage('Now doing step X', { total: loaded.length });
      await tracker.runStage(loaded, ({ id, name }) => `#${id} ${name}`, () => {});
    });
    expect(progress?.processes[0]?.stages[0]).toMatchObject({
      description: 'Now doing step X', total: 2, items: [{ description: '#7 seven' }, { description: '#8 eight' }],
    });
  });
});
