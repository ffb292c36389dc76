// Seed 4, "Job scheduling and progress", statement by statement, on SQLite and on PostgreSQL.
import { describe, expect } from 'vitest';
import { z } from 'zod';
import {
  Cancelled, cron, Engine, every, jobDef, jobType, runStatus, type Context, type Progress,
} from '../../src/index.ts';
import * as isolated from '../engine/fixtures/isolated-types.ts';
import {
  Door, forever, minute, newYear, refusal, refused, second, ticksOf, untilTold,
} from '../engine/api/kit.ts';
import { seedStores, type SeedWorld } from './world.ts';

const quick = jobType('quick', { run: () => 'done' });
const makeAlone = (door: Door) =>
  jobType('alone', { onePerType: true, run: ({ signal }) => Promise.race([door.pass(), untilTold(signal)]) });
const everyTenSeconds = { schedules: cron('*/10 * * * * *') } as const;

/** The ticks of a definition with their outcomes, by seconds since the start of the test. */
const ticks = async (engine: Engine, def: string): Promise<string[]> =>
  (await ticksOf(engine, def)).map((tick) => {
    const outcome = 'run' in tick ? 'run' : tick.skipped;
    return `${(tick.nominal - newYear) / second} ${outcome}`;
  });

const running = async (world: SeedWorld, type: string): Promise<number> =>
  (await world.store.find({ types: [type], kinds: ['run'], standings: ['running'] })).jobs.length;

/** A type that processes four items of ten seconds each. */
function fourItems(world: SeedWorld, handle: (context: Context) => unknown = () => undefined) {
  const done: number[] = [];
  const type = jobType('items', {
    run: async (context) => {
      const outcome = await context.progress.runStage([1, 2, 3, 4], (item) => `item ${item}`, async (item) => {
        await world.clock.sleep(10 * second);
        done.push(item);
      });
      return handle(context) ?? outcome;
    },
  });
  return { type, done };
}

/** The progress that is stored of a handler, and the status of its run. */
async function treeOf(
  world: SeedWorld, handle: (context: Context) => unknown,
): Promise<{ readonly progress: Progress | null; readonly status: string }> {
  const type = jobType('tracked', { retry: { attempts: 1 }, run: async (context) => { await handle(context); } });
  const engine = await world.start({ types: [type] });
  const run = await engine.createJobRun(type);
  await world.advance('10s');
  return { progress: (await engine.snapshot(run.id)).progress, status: runStatus(await run.get()) };
}

describe.concurrent.each(seedStores)('on $name', ({ test }) => {
  test('4.01 a job runs for long in the background, from the time for which it was scheduled', async ({ world }) => {
    const long = jobType('long', { run: async () => { await world.clock.sleep(40 * second); return 'done'; } });
    await world.start({ types: [long], lease: '5s' });
    const run = await world.createJobRun(long, { dueTime: newYear + 20 * second });
    await world.advance('19s');
    expect(runStatus(await run.get())).toBe('SCHEDULED');
    // Longer than the lease of its instance.
    await world.advance('20s');
    expect(runStatus(await run.get())).toBe('RUNNING');
    await world.advance('22s');
    expect(await run.result()).toBe('done');
  });

  test('4.02 of several definitions of a type with onePerType only one executes at a time', async ({ world }) => {
    const door = new Door();
    const alone = makeAlone(door);
    const defs = ['a', 'b', 'c'].map((name) => jobDef(name, alone, { ...everyTenSeconds, overlap: 'queue' }));
    await world.start({ defs });
    await world.advance('25s');
    expect([door.knocks, await running(world, 'alone')]).toEqual([1, 1]);
  });

  test('4.02 without onePerType several runs of a type execute at once', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    await world.start({ defs: ['a', 'b'].map((name) => jobDef(name, slow, everyTenSeconds)) });
    await world.advance('15s');
    expect(await running(world, 'slow')).toBe(2);
  });

  test('4.02 no definition switches off the onePerType of its type', async ({ world }) => {
    const alone = makeAlone(new Door());
    const defs = [jobDef('a', alone, everyTenSeconds), jobDef('b', alone, { ...everyTenSeconds, onePerType: false })];
    await world.start({ defs });
    await world.advance('15s');
    expect(await running(world, 'alone')).toBe(1);
  });

  test('4.03 the restriction is a lock in the database that outlives the death of an instance', async ({ world }) => {
    const door = new Door();
    const alone = makeAlone(door);
    const defs = ['a', 'b'].map((name) => jobDef(name, alone, everyTenSeconds));
    const engines = [];
    for (let count = 0; count < 3; count += 1) engines.push(await world.start({ defs }));
    const byHand = await engines[0]!.createJobRun(alone);
    await world.advance('1s');
    const { job } = await engines[1]!.snapshot(byHand.id);
    for (const engine of engines.slice(1)) expect(await refused(engine.createJobRun(alone))).toBe('busy.type');
    const holder = engines.find(({ instance }) => instance === (job.state === 'running' && job.lease.holder));
    world.kill(holder);
    const living = engines.filter((engine) => engine !== holder);
    await world.advance('5s');
    // Nobody knows yet that it died.
    expect(await refused(living[0]!.createJobRun(alone))).toBe('busy.type');
    await world.advance('35s');
    expect([door.knocks, await running(world, 'alone')]).toEqual([2, 1]);
    expect(await ticks(living[0]!, 'a')).toEqual(['10 overlap', '20 overlap', '30 overlap', '40 overlap']);
  });

  test('4.04 a definition is linked to its code by the type, and a type has one implementation', async ({ world }) => {
    const def = jobDef('nightly', quick);
    const impostor = jobType('quick', { run: () => 'other' });
    const open = (): Engine => new Engine({ store: world.store, types: [quick, impostor] });
    expect(open).toThrow('two job types are named quick');
    await world.start({ defs: [def] });
    expect((await world.engine.definition('nightly')).spec.type).toBe('quick');
    const run = await world.createJobRun(def);
    await world.settle();
    expect(await run.result()).toBe('done');
  });

  test('4.05 a run of an in-memory definition changes its status without a database write', async ({ world }) => {
    const passing = jobDef('passing', quick, { inMemory: true });
    await world.start({ defs: [passing] });
    const before = await world.store.feedEnd();
    const run = await world.createJobRun(passing);
    await world.settle();
    expect([runStatus(await run.get()), await run.result()]).toEqual(['COMPLETED', 'done']);
    expect((await world.store.eventsAfter(before, 10)).events).toEqual([]);
    expect((await world.store.find({ kinds: ['run', 'task', 'def'] })).jobs).toEqual([]);
  });

  test('4.06 an in-memory definition is created ad hoc or declared, and is never stored', async ({ world }) => {
    const ticking = jobDef('ticking', quick, { ...everyTenSeconds, inMemory: true });
    const engine = await world.start({ types: [quick], defs: [ticking] });
    const adHoc = await engine.createJobRun(jobDef('ad hoc', quick, { inMemory: true }));
    await world.settle();
    expect(await adHoc.result()).toBe('done');
    await world.advance('11s');
    expect(await engine.configuration('ticking')).toMatchObject({ lastExecutedStatus: 'COMPLETED' });
    expect((await world.store.find({ kinds: ['run', 'task', 'def'] })).jobs).toEqual([]);
    // Another instance declares it again and has a status of its own.
    const next = await world.start({ defs: [ticking] });
    expect(await next.configuration('ticking')).toMatchObject({ lastExecutedStatus: 'NOT_STARTED' });
    expect((await next.definitions()).map(({ name }) => name)).toEqual(['ticking']);
  });

  test('4.07 status, last and next execution are in the database as soon as they change', async ({ world }) => {
    const doors = [new Door(), new Door()];
    const slow = jobType('slow', {
      retry: { attempts: 1 },
      run: async ({ run }) => { await doors[run.dueTime.getTime() === newYear + 10 * second ? 0 : 1]!.pass(); },
    });
    const def = jobDef('def', slow, everyTenSeconds);
    const reader = await world.add();
    const engine = await world.start({ defs: [def] });
    const configuration = () => reader.configuration('def');
    expect(await configuration()).toEqual({
      status: 'SCHEDULED', lastExecuted: null, lastExecutedStatus: 'NOT_STARTED', lastRun: null,
      nextExecutionTime: newYear + 10 * second,
    });
    await world.advance('10s');
    const [run] = await world.runs(def);
    const [lastExecuted, nextExecutionTime] = [newYear + 10 * second, newYear + 20 * second];
    const executed = { lastExecuted, nextExecutionTime, lastRun: run!.id };
    expect(await configuration()).toEqual({ status: 'RUNNING', lastExecutedStatus: 'NOT_STARTED', ...executed });
    doors[0]!.open();
    await world.settle();
    expect(await configuration()).toEqual({ status: 'SCHEDULED', lastExecutedStatus: 'COMPLETED', ...executed });
    await world.advance('10s');
    await engine.stopJobRun((await world.runs(def))[1]!.id);
    expect(await configuration()).toMatchObject({
      status: 'SCHEDULED', lastExecuted: newYear + 20 * second, lastExecutedStatus: 'STOPPED',
      nextExecutionTime: newYear + 30 * second,
    });
    await engine.disable('def');
    expect(await configuration()).toMatchObject({ status: 'DISABLED', nextExecutionTime: null });
  });

  test('4.08 runs of a leaderOnly definition execute on the leader, and then on the next one', async ({ world }) => {
    const door = new Door();
    const busy = jobType('busy', { run: () => door.pass() });
    const ranOn: string[] = [];
    const defOn = (name: string) =>
      jobDef('def', jobType('work', { run: () => void ranOn.push(name) }), { ...everyTenSeconds, leaderOnly: true });
    const leader = await world.start({ types: [busy], defs: [defOn('a')], slots: 1 });
    await world.start({ defs: [defOn('b')] });
    await world.advance('15s');
    expect(ranOn).toEqual(['a']);
    // The leader has no free slot: the others leave the run to it.
    await leader.createJobRun(busy);
    await world.advance('10s');
    expect([door.knocks, ranOn]).toEqual([1, ['a']]);
    door.open();
    await world.advance('1s');
    expect(ranOn).toEqual(['a', 'a']);
    world.kill(leader);
    await world.advance('40s');
    expect(ranOn.length).toBeGreaterThan(2);
    expect(new Set(ranOn.slice(2))).toEqual(new Set(['b']));
  });

  test('4.09 the work of a leaderOnly definition is done once, however many instances there are', async ({ world }) => {
    let count = 0;
    const work = jobType('work', { run: () => { count += 1; } });
    const def = jobDef('def', work, { ...everyTenSeconds, leaderOnly: true });
    for (let nodes = 0; nodes < 4; nodes += 1) await world.start({ defs: [def] });
    await world.advance('35s');
    expect([count, (await world.runs(def)).length]).toEqual([3, 3]);
  });

  test('4.10 a definition has parameters of its type, stored as JSON, which its runs receive', async ({ world }) => {
    const report = jobType('report', {
      input: z.object({ year: z.number(), format: z.enum(['pdf', 'csv']).default('pdf') }),
      run: ({ input }) => `${input.year}.${input.format}`,
    });
    const def = jobDef('yearly', report, { ...everyTenSeconds, params: { year: 2025 } });
    const engine = await world.start({ defs: [def] });
    const reader = await world.add();
    const stored = async (): Promise<unknown> => JSON.parse((await reader.definition('yearly')).job.input);
    expect(await stored()).toMatchObject({ code: { params: { year: 2025 } } });
    await world.advance('15s');
    await engine.override('yearly', { params: { year: 2026, format: 'csv' } });
    expect(await stored()).toMatchObject({ override: { params: { year: 2026, format: 'csv' } } });
    await world.advance('10s');
    expect((await world.runs(def)).map(({ input, result }) => [input, result])).toEqual([
      ['{"year":2025}', '"2025.pdf"'], ['{"year":2026,"format":"csv"}', '"2026.csv"'],
    ]);
  });

  test('4.10 HTTP refuses parameters that do not fit the type', async ({ world }) => {
    const report = jobType('report', { input: z.object({ year: z.number() }), run: () => {} });
    await world.start({ types: [report] });
    const ask = await world.listen();
    expect((await ask('POST', '/defs', { name: 'yearly', type: 'report', params: { year: 'soon' } })).status).toBe(422);
  });

  test('4.11 jobs execute asynchronously: a scheduler creates their runs from the definition', async ({ world }) => {
    const def = jobDef('def', quick, everyTenSeconds);
    const engine = await world.start({ defs: [def] });
    await engine.suspend();
    const byHand = await world.createJobRun(def);
    expect(runStatus(await byHand.get())).toBe('SCHEDULED');
    await world.passing(engine.resume());
    await world.advance('11s');
    expect(runStatus(await byHand.get())).toBe('COMPLETED');
    const [, scheduled] = await world.runs(def);
    expect((await world.store.history(scheduled!.id))[0]).toMatchObject({
      kind: 'created', by: 'a', at: newYear + 10 * second,
    });
  });

  test('4.12 a definition runs by a cron expression, or with a fixed delay after each execution', async ({ world }) => {
    const slow = jobType('slow', { run: () => world.clock.sleep(5 * second) });
    const defs = [
      jobDef('cron', slow, { schedules: cron('*/15 * * * * *') }),
      jobDef('delay', slow, { schedules: every('10s', { from: 'finished' }) }),
    ];
    await world.start({ defs });
    await world.advance('45s');
    expect(await ticks(world.engine, 'cron')).toEqual(['15 run', '30 run', '45 run']);
    expect(await ticks(world.engine, 'delay')).toEqual(['10 run', '25 run', '40 run']);
  });

  test('4.13 a definition is scheduled when it is created and rescheduled when it is changed', async ({ world }) => {
    const engine = await world.start({ defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    expect((await engine.configuration('def')).nextExecutionTime).toBe(newYear + 60 * minute);
    await engine.override('def', { schedules: [cron('*/20 * * * * *')] });
    expect((await engine.configuration('def')).nextExecutionTime).toBe(newYear + 20 * second);
    await world.advance('20s');
    expect(await world.runs()).toHaveLength(1);
  });

  test('4.14 with overlap replace, a tick stops the open run of its type and starts its own', async ({ world }) => {
    let isTold = false;
    const alone = jobType('alone', {
      onePerType: true,
      run: async ({ signal, run }) => {
        if (run.def === 'due') return forever();
        await untilTold(signal).catch(() => { isTold = true; });
        return forever();
      },
    });
    const [phantom, due] = [jobDef('phantom', alone), jobDef('due', alone, { ...everyTenSeconds, overlap: 'replace' })];
    await world.start({ defs: [phantom, due] });
    const run = await world.createJobRun(phantom);
    await world.advance('9s');
    expect([isTold, runStatus(await run.get())]).toEqual([false, 'RUNNING']);
    await world.advance('8s');
    expect(await run.get()).toMatchObject({
      fate: 'cancelled', cancel: { code: 'automation', why: 'replaced by the next run of due' },
    });
    expect([isTold, (await world.runs(due)).map(runStatus)]).toEqual([true, ['RUNNING']]);
  });

  test('4.14 without a policy for overlap, a tick is skipped while a run is open', async ({ world }) => {
    const door = new Door();
    const def = jobDef('def', jobType('slow', { run: () => door.pass() }), everyTenSeconds);
    await world.start({ defs: [def] });
    await world.advance('25s');
    expect([await ticks(world.engine, 'def'), door.knocks]).toEqual([['10 run', '20 overlap'], 1]);
  });

  test('4.14 a replaced handler is told to stop before the next one starts', async ({ world }) => {
    const story: string[] = [];
    const slow = jobType('slow', {
      run: async ({ signal }) => {
        story.push('start');
        await untilTold(signal).finally(() => story.push('told to stop'));
      },
    });
    // Ticks and heartbeats are due at different times.
    await world.advance('100ms');
    await world.start({ defs: [jobDef('def', slow, { ...everyTenSeconds, overlap: 'replace' })] });
    await world.advance('25s');
    expect(story).toEqual(['start', 'told to stop', 'start']);
  });

  test('4.15 the next execution time is the time at which the definition runs next', async ({ world }) => {
    const schedules = [cron('*/20 * * * * *'), cron('30 0 0 * * *')];
    const engine = await world.start({ defs: [jobDef('def', quick, { schedules })] });
    const times: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { nextExecutionTime } = await engine.configuration('def');
      times.push((nextExecutionTime! - newYear) / second);
      await world.advance(`${nextExecutionTime! - world.clock.now()}ms`);
      expect((await engine.configuration('def')).lastExecuted).toBe(nextExecutionTime);
    }
    expect(times).toEqual([20, 30, 40]);
  });

  test('4.16 a definition that is run by hand starts at once, and keeps its schedule', async ({ world }) => {
    const def = jobDef('def', quick, { schedules: cron('0 0 1 7 *') });
    const engine = await world.start({ defs: [def] });
    const ask = await world.listen();
    const { nextExecutionTime } = await engine.configuration('def');
    await world.advance('10s');
    const { status, body } = await ask('POST', '/defs/def/run', {});
    await world.settle();
    const run = await engine.get(body.id);
    expect([status, runStatus(run), run.startedAt]).toEqual([201, 'COMPLETED', newYear + 10 * second]);
    expect((await engine.configuration('def')).nextExecutionTime).toBe(nextExecutionTime);
  });

  test('4.17 a run by hand is refused while a run of the same type with onePerType is open', async ({ world }) => {
    const alone = makeAlone(new Door());
    const [a, b] = [jobDef('a', alone), jobDef('b', alone)];
    await world.start({ defs: [a, b] });
    const ask = await world.listen();
    const first = await world.createJobRun(a);
    await world.settle();
    expect(await refused(world.createJobRun(a))).toBe('busy.type');
    expect(await refused(world.createJobRun(b))).toBe('busy.type');
    expect(await ask('POST', '/defs/b/run', {})).toMatchObject({ status: 409, body: { code: 'busy.type' } });
    await first.cancel();
    await world.settle();
    expect((await world.createJobRun(b)).outcome).toBe('created');
  });

  test('4.18 scheduled runs and runs by hand exclude each other', async ({ world }) => {
    const alone = makeAlone(new Door());
    const [scheduled, manual] = [jobDef('scheduled', alone, everyTenSeconds), jobDef('manual', alone)];
    await world.start({ defs: [scheduled, manual] });
    const byHand = await world.createJobRun(manual);
    await world.advance('15s');
    expect(await ticks(world.engine, 'scheduled')).toEqual(['10 overlap']);
    await byHand.cancel();
    await world.advance('10s');
    expect((await world.runs(scheduled)).map(runStatus)).toEqual(['RUNNING']);
    expect(await refused(world.createJobRun(manual))).toBe('busy.type');
  });

  test('4.19 the refusal names the open run of the type, on every instance', async ({ world }) => {
    const alone = makeAlone(new Door());
    const def = jobDef('def', alone, everyTenSeconds);
    const engine = await world.start({ defs: [def] });
    await world.advance('15s');
    const [run] = await world.runs(def);
    const other = await world.add({ defs: [def] });
    for (const each of [engine, other]) {
      expect((await refusal(each.createJobRun(def))).detail).toEqual({ type: 'alone', id: run!.id });
    }
    world.kill(engine);
    expect((await refusal(other.createJobRun(def))).detail).toEqual({ type: 'alone', id: run!.id });
  });

  test('4.20 a run can be stopped while it waits and while it runs', async ({ world }) => {
    const held = jobType('held', { run: ({ signal }) => untilTold(signal) });
    await world.start({ types: [held] });
    const [scheduled, executing] = [await world.createJobRun(held, { delay: '1h' }), await world.createJobRun(held)];
    await world.settle();
    expect([(await scheduled.stop()).how, (await executing.stop()).how]).toEqual(['idle', 'disowned']);
    expect([runStatus(await scheduled.get()), runStatus(await executing.get())]).toEqual(['STOPPED', 'STOPPED']);
  });

  test('4.21 the handler of a stopped run is interrupted and can clean up', async ({ world }) => {
    const story: string[] = [];
    const tidy = jobType('tidy', {
      run: async ({ signal }) => {
        try {
          await untilTold(signal);
        } finally {
          story.push('cleaned up');
        }
      },
    });
    await world.start({ types: [tidy] });
    const run = await world.createJobRun(tidy);
    await world.settle();
    expect(story).toEqual([]);
    await run.stop();
    await world.settle();
    expect(story).toEqual(['cleaned up']);
  });

  test('4.22 a handler that ignores a stop can change nothing, and an isolated one is ended', async ({ world }) => {
    const door = new Door();
    const stubborn = jobType('stubborn', {
      run: async ({ signal, log }) => {
        await untilTold(signal).catch(() => 'swallowed');
        await door.pass();
        log.info('still here');
        return 'went on';
      },
    });
    await world.start({ types: [stubborn, isolated.loops] });
    const [disowned, isolatedRun] = [await world.createJobRun(stubborn), await world.createJobRun(isolated.loops)];
    await world.settle();
    expect([(await disowned.stop()).how, (await isolatedRun.stop()).how]).toEqual(['disowned', 'terminated']);
    await world.settle();
    expect(door.knocks).toBe(1);
    door.open();
    await world.advance('5s');
    expect(await disowned.get()).toMatchObject({ fate: 'cancelled', result: null });
    expect(await disowned.log()).toEqual([]);
  });

  test('4.23 a handler that is asked to stop goes on until its next safe point and ends there', async ({ world }) => {
    const { type } = fourItems(world);
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    await world.advance('15s');
    await run.cancel();
    await world.advance('4s');
    expect(runStatus(await run.get())).toBe('RUNNING');
    await world.advance('1s');
    // The second item was complete after twenty seconds.
    expect(await run.get()).toMatchObject({ fate: 'cancelled', endedAt: newYear + 20 * second });
    expect(runStatus(await run.get())).toBe('STOPPED');
  });

  test('4.24 a cancelled job completes its item and skips the rest', async ({ world }) => {
    const { type, done } = fourItems(world);
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    await world.advance('15s');
    await run.cancel();
    expect(done).toEqual([1]);
    await world.advance('40s');
    expect(done).toEqual([1, 2]);
  });

  test('4.25 a cancelled job keeps what it has done, and can clean up', async ({ world }) => {
    const cleaned: string[] = [];
    const { type, done } = fourItems(world, ({ progress }) => {
      if (progress.isCancelled) cleaned.push('cleaned up');
    });
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    await world.advance('15s');
    await run.cancel();
    await world.advance('40s');
    expect([done, cleaned]).toEqual([[1, 2], ['cleaned up']]);
    const items = (await world.engine.snapshot(run.id)).progress!.processes[0]!.stages[0]!.items;
    expect(items.map(({ description, status }) => `${description} ${status}`)).toEqual([
      'item 1 SUCCESS', 'item 2 SUCCESS',
    ]);
  });

  test('4.26 a cancelled job is STOPPED; its history says if its handler failed or succeeded', async ({ world }) => {
    const throwing = jobType('throwing', { run: ({ signal }) => untilTold(signal) });
    const content = jobType('content', {
      run: ({ signal }) => untilTold(signal).catch((error: unknown) => `enough: ${error instanceof Cancelled}`),
    });
    await world.start({ types: [throwing, content] });
    const runs = [await world.createJobRun(throwing), await world.createJobRun(content)];
    await world.settle();
    for (const run of runs) await run.cancel();
    await world.settle();
    expect(await Promise.all(runs.map(async (run) => runStatus(await run.get())))).toEqual(['STOPPED', 'STOPPED']);
    const ends = await Promise.all(runs.map(async (run) => (await run.events()).at(-1)));
    expect(ends).toMatchObject([{ kind: 'cancelled', late: 'failed' }, { kind: 'cancelled', late: 'succeeded' }]);
  });

  test('4.27 every execution is given a progress tracker, and what it reports is stored', async ({ world }) => {
    const { progress } = await treeOf(world, (context) => context.progress.startingProcess('the whole'));
    expect(progress?.processes).toMatchObject([{ description: 'the whole' }]);
  });

  test('4.28 a handler need not report progress', async ({ world }) => {
    expect(await treeOf(world, () => 'nothing reported')).toEqual({ progress: null, status: 'COMPLETED' });
  });

  test('4.29 progress has three levels: process, stage and item', async ({ world }) => {
    const { progress } = await treeOf(world, ({ progress: tracker }) => {
      tracker.startingProcess('process');
      tracker.startingStage('stage');
      tracker.startingItem('item');
    });
    expect(progress?.processes).toMatchObject([
      { description: 'process', stages: [{ description: 'stage', items: [{ description: 'item' }] }] },
    ]);
  });

  test('4.30 a process or stage that starts ends the one before it: two never run at once', async ({ world }) => {
    const { progress } = await treeOf(world, async ({ progress: tracker }) => {
      const pause = () => world.clock.sleep(second);
      tracker.startingProcess('one');
      tracker.startingStage('first');
      await pause();
      tracker.startingStage('second');
      await pause();
      tracker.startingProcess('two');
      tracker.startingStage('third');
      await pause();
      // Started side by side, they share the open stage.
      await Promise.all([tracker.runStage(['a'], String, pause), tracker.runStage(['b'], String, pause)]);
    });
    const span = ({ startedAt, completedAt }: { startedAt: number; completedAt: number | null }): number[] =>
      [startedAt - newYear, completedAt! - newYear];
    const [one, two] = progress!.processes;
    expect([span(one!), span(two!)]).toEqual([[0, 2000], [2000, 4000]]);
    expect(one!.stages.map(span)).toEqual([[0, 1000], [1000, 2000]]);
    expect(two!.stages.map(({ description, items }) => [description, items.map((item) => item.description)])).toEqual([
      ['third', ['a', 'b']],
    ]);
  });

  test('4.31 the items of a stage are processed one after another or in parallel', async ({ world }) => {
    const most = { inTurn: 0, atOnce: 0 };
    const both = jobType('both', {
      run: async ({ progress }) => {
        for (const [name, parallelism] of [['inTurn', 1], ['atOnce', 3]] as const) {
          let now = 0;
          progress.startingStage(name);
          await progress.runStageInParallel(parallelism, [1, 2, 3, 4, 5, 6], String, async () => {
            most[name] = Math.max(most[name], ++now);
            await world.clock.sleep(second);
            now -= 1;
          });
        }
      },
    });
    await world.start({ types: [both] });
    const run = await world.createJobRun(both);
    await world.advance('10s');
    expect([runStatus(await run.get()), most]).toEqual(['COMPLETED', { inTurn: 1, atOnce: 3 }]);
  });

  test('4.32 the tree of progress grows in the database while the job runs', async ({ world }) => {
    const type = jobType('growing', {
      run: async ({ progress }) => {
        for (const stage of ['a', 'b', 'c']) {
          progress.startingStage(stage);
          await world.clock.sleep(10 * second);
          progress.completedStage();
        }
      },
    });
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    const reader = await world.add();
    const seen: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      await world.advance('9s');
      seen.push((await reader.snapshot(run.id)).progress?.processes[0]?.stages.length ?? 0);
    }
    expect(seen).toEqual([1, 2, 3, 3]);
  });

  test('4.33 a stage with a total shows how many of its items are complete', async ({ world }) => {
    const type = jobType('counted', {
      run: ({ progress }) => {
        progress.startingStage('four of them', { total: 4 });
        return progress.runStage([1, 2, 3, 4], String, () => world.clock.sleep(10 * second));
      },
    });
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    const ask = await world.listen();
    await world.advance('25s');
    const { body } = await ask('GET', `/runs/${run.id}`);
    expect(body.progress).toMatchObject({ percent: 50, stage: { total: 4, done: 2, running: 1 } });
  });

  test('4.34 a node is RUNNING when added, SUCCESS when it completes, ERROR when it fails', async ({ world }) => {
    const { progress } = await treeOf(world, ({ progress: tracker, signal }) => {
      tracker.startingStage('items', { onFailure: 'SKIP_ITEM' });
      tracker.startingItem('good');
      tracker.completedItem();
      tracker.startingItem('bad');
      tracker.failedItem(new Error('spoilt'));
      tracker.startingItem('open');
      return untilTold(signal);
    });
    const [process] = progress!.processes;
    const { status, items } = process!.stages[0]!;
    expect([process!.status, status]).toEqual(['RUNNING', 'RUNNING']);
    expect(items.map((item) => `${item.description} ${item.status}`)).toEqual([
      'good SUCCESS', 'bad ERROR', 'open RUNNING',
    ]);
    expect(items[1]!.error).toContain('spoilt');
  });

  test('4.35 a failed item fails its stage and process, depending on the policy of the stage', async ({ world }) => {
    const outcome = async (onFailure: 'FAIL' | 'SKIP_STAGE' | 'SKIP_ITEM'): Promise<string[]> => {
      const { progress, status } = await treeOf(world, async ({ progress: tracker }) => {
        tracker.startingStage('items', { onFailure });
        await tracker.runStage([1, 2, 3], String, (item) => { if (item === 2) throw new Error('spoilt'); });
      });
      const [process] = progress!.processes;
      world.kill();
      return [process!.stages[0]!.status, process!.status, status];
    };
    expect(await outcome('FAIL')).toEqual(['ERROR', 'ERROR', 'FAILED']);
    expect(await outcome('SKIP_STAGE')).toEqual(['ERROR', 'SUCCESS', 'COMPLETED']);
    expect(await outcome('SKIP_ITEM')).toEqual(['SUCCESS', 'SUCCESS', 'COMPLETED']);
  });

  test('4.36 a cancel shows on the run at once and on its process within a second', async ({ world }) => {
    const { type } = fourItems(world);
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    const reader = await world.add();
    const process = async () => (await reader.snapshot(run.id)).progress!.processes[0]!;
    await world.advance('5s');
    expect((await process()).status).toBe('RUNNING');
    await reader.cancelJobRun(run.id, { by: 'ann' });
    expect(await reader.get(run.id)).toMatchObject({
      state: 'running', cancel: { by: 'ann', at: newYear + 5 * second },
    });
    await world.advance('1s');
    const { status, completedAt, stages } = await process();
    expect([status, completedAt]).toEqual(['CANCELLED', null]);
    expect([stages[0]!.status, stages[0]!.items.map((item) => item.status)]).toEqual(['RUNNING', ['RUNNING']]);
  });

  test('4.37 the running item of a cancelled job succeeds while its stage ends as CANCELLED', async ({ world }) => {
    const { type } = fourItems(world);
    await world.start({ types: [type] });
    const run = await world.createJobRun(type);
    await world.advance('1s');
    await run.cancel();
    await world.advance('30s');
    const [process] = (await world.engine.snapshot(run.id)).progress!.processes;
    const [stage] = process!.stages;
    expect([stage!.items.map(({ status }) => status), stage!.status, process!.status]).toEqual([
      ['SUCCESS'], 'CANCELLED', 'CANCELLED',
    ]);
  });

  test('4.38 a handler reports progress by calling the methods of the tracker', async ({ world }) => {
    const { progress } = await treeOf(world, ({ progress: tracker }) => {
      tracker.startingProcess('p');
      tracker.startingStage('s');
      tracker.completedStage('stage done');
      tracker.completedProcess('process done');
    });
    expect(progress?.processes[0]).toMatchObject({ summary: 'process done', stages: [{ summary: 'stage done' }] });
  });

  test('4.39 a missing start or end of a node is added, and does not harm the job', async ({ world }) => {
    const { progress, status } = await treeOf(world, ({ progress: tracker }) => {
      tracker.completedItem('never started');
      tracker.startingStage('never ended');
    });
    const [process] = progress!.processes;
    expect(process!.stages.map((stage) => [stage.status, stage.items.length])).toEqual([
      ['SUCCESS', 1], ['SUCCESS', 0],
    ]);
    expect([process!.status, status]).toEqual(['SUCCESS', 'COMPLETED']);
  });

  test('4.40 the sequence of calls in the seed gives the tree and the outcome that it describes', async ({ world }) => {
    const { progress, status } = await treeOf(world, ({ progress: tracker }) => {
      tracker.startingProcess();
      tracker.startingStage('one');
      tracker.startingItem();
      tracker.completedItem();
      tracker.startingItem();
      tracker.completedItem();
      tracker.completedStage();
      tracker.startingStage('two');
      tracker.startingItem();
      const cause = new Error('the work failed');
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

  test('4.41 a job can report several processes, each with its own stages', async ({ world }) => {
    const { progress } = await treeOf(world, ({ progress: tracker }) => {
      for (const name of ['import', 'export']) {
        tracker.startingProcess(name);
        tracker.startingStage(`all of ${name}`);
        tracker.completedProcess();
      }
    });
    const named = progress?.processes.map(({ description, stages }) => [
      description, stages.map((stage) => stage.description),
    ]);
    expect(named).toEqual([
      ['import', ['all of import']], ['export', ['all of export']],
    ]);
  });

  test('4.42 runStage and runStageInParallel report the stages and items of their work', async ({ world }) => {
    const outcomes: unknown[] = [];
    const { progress } = await treeOf(world, async ({ progress: tracker }) => {
      outcomes.push(await tracker.runStage(() => 'a piece of work'));
      outcomes.push(await tracker.runStage([1, 2], String, () => {}));
      outcomes.push(await tracker.runStageInParallel(2, [1, 2, 3], String, () => {}));
    });
    expect(outcomes).toEqual([
      'a piece of work', { succeeded: 2, failed: 0, isComplete: true }, { succeeded: 3, failed: 0, isComplete: true },
    ]);
    expect(progress?.processes[0]?.stages.map(({ status, items }) => [status, items.length])).toEqual([
      ['SUCCESS', 0], ['SUCCESS', 2], ['SUCCESS', 3],
    ]);
  });

  test('4.43 the description that a handler gives to an item is shown in the tree', async ({ world }) => {
    const { progress } = await treeOf(world, async ({ progress: tracker }) => {
      const loaded = [{ id: 7, name: 'seven' }, { id: 8, name: 'eight' }];
      tracker.startingStage('Now doing step X', { total: loaded.length });
      await tracker.runStage(loaded, ({ id, name }) => `#${id} ${name}`, () => {});
    });
    expect(progress?.processes[0]?.stages[0]).toMatchObject({
      description: 'Now doing step X', total: 2, items: [{ description: '#7 seven' }, { description: '#8 eight' }],
    });
  });
});
