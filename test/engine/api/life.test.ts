// The life of an engine: it starts, pauses and closes; it crashes, and what it left behind is repaired by the next.
import { describe, expect, test } from 'vitest';
import { attemptsOf, cron, jobDef, jobType, runState, typed } from '../../../src/index.ts';
import { Cluster } from './cluster.ts';
import { Door, forever, kindsOf, newYear, second, start, ticksOf, told, untilTold } from './kit.ts';

const quick = jobType('quick', { run: () => 'done' });
const held = jobType('held', { run: ({ signal }) => untilTold(signal) });

describe('resume, suspend, close', () => {
  test('an engine that was not resumed takes orders and does no work', async () => {
    const cluster = new Cluster();
    const producer = cluster.add({ types: [quick] });
    const run = await producer.createJobRun(quick);
    await cluster.advance('1m');
    expect((await run.get()).state).toBe('pending');
    await cluster.join({ types: [quick] });
    await cluster.advance('1s');
    expect(await run.result()).toBe('done');
  });

  test('a suspended engine claims nothing, finishes running jobs, and claims again when resumed', async () => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const t = await start({ types: [slow, quick] });
    const running = await t.createJobRun(slow);
    await t.drain();
    await t.engine.suspend();
    const waiting = await t.createJobRun(quick);
    door.open();
    await t.advance('1m');
    expect([(await running.get()).state, (await waiting.get()).state]).toEqual(['ended', 'pending']);
    await t.engine.resume();
    await t.drain();
    expect(await waiting.result()).toBe('done');
  });

  test('resuming twice is resuming once', async () => {
    let calls = 0;
    const counted = jobType('counted', { run: () => { calls += 1; } });
    const def = jobDef('def', counted, { schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    await t.engine.resume();
    await t.createJobRun(def);
    await t.advance('1h');
    expect(calls).toBe(2);
  });

  test('closing waits for what runs', async () => {
    const cluster = new Cluster();
    const slow = jobType('slow', { run: async () => { await cluster.clock.sleep(20 * second); return 'done'; } });
    const engine = await cluster.join({ types: [slow] });
    const run = await engine.createJobRun(slow);
    await cluster.advance('1s');
    const closed = engine.close();
    await cluster.advance('30s');
    await closed;
    expect((await cluster.store.load([run.id]))[0]).toMatchObject({ fate: 'succeeded', result: '"done"' });
  });

  test('closing hands back what does not end in time, and no try is lost', async () => {
    const cluster = new Cluster();
    let interrupted = '';
    const deaf = jobType('deaf', {
      retry: { attempts: 1 },
      run: ({ signal }) => {
        signal.addEventListener('abort', () => (interrupted = (signal.reason as Error).name));
        return forever();
      },
    });
    const engine = await cluster.join({ types: [deaf] });
    const run = await engine.createJobRun(deaf);
    await cluster.advance('1s');
    const closed = engine.close({ patience: '10s' });
    await cluster.advance('11s');
    await closed;
    expect(interrupted).toBe('Interrupted');
    const [job] = await cluster.store.load([run.id]);
    expect(job).toMatchObject({ state: 'pending', attempt: 0, crashes: 0 });
    expect(await cluster.store.instances()).toEqual([]);
  });
});

describe('a crash', () => {
  test('while a handler runs costs a crash and no try; the job runs again within the lease', async () => {
    const attempts: number[] = [];
    const slow = jobType('slow', {
      run: ({ run, signal }) => { attempts.push(run.attempt); return untilTold(signal); },
    });
    const t = await start({ types: [slow], lease: '10s' });
    const run = await t.createJobRun(slow);
    await t.drain();
    t.crash();
    await t.restart();
    await t.advance('8s');
    expect((await run.get()).crashes).toBe(0);
    await t.advance('7s');
    expect(attempts).toEqual([1, 2]);
    expect((await run.events()).find(({ kind }) => kind === 'lapsed')).toMatchObject({
      holder: 'test-1', phase: 'run', by: 'test-2', why: 'the lease ran out',
    });
    expect(attemptsOf(await run.events())[1]?.error).toMatchObject({ code: 'crashed' });
  });

  test('while preparing leaves no tasks: the run is prepared again', async () => {
    const door = new Door();
    let prepared = 0;
    const many = jobType('many', {
      taskDetails: async function* () { prepared += 1; yield* [1, 2, 3]; if (prepared === 1) await door.pass(); },
      taskResults: ({ task }) => task,
      jobResults: ({ counts }) => counts.total,
    });
    const t = await start({ types: [many] });
    const run = await t.createJobRun(many);
    await t.drain();
    t.crash();
    await t.restart();
    await t.advance('30s');
    expect(await run.result()).toBe(3);
    expect((await run.events()).find(({ kind }) => kind === 'lapsed')).toMatchObject({ phase: 'prepare' });
  });

  test('while gathering leaves the tasks as they are: it is gathered again', async () => {
    let gathered = 0;
    let worked = 0;
    const many = jobType('many', {
      taskDetails: () => [1, 2],
      taskResults: () => { worked += 1; },
      jobResults: () => { gathered += 1; return gathered === 1 ? forever() : 'gathered'; },
    });
    const t = await start({ types: [many] });
    const run = await t.createJobRun(many);
    await t.drain();
    t.crash();
    await t.restart();
    await t.advance('30s');
    expect([await run.result(), worked, gathered]).toEqual(['gathered', 2, 2]);
  });

  test('of a job that takes its workers down again and again ends it as poison', async () => {
    let calls = 0;
    const poison = jobType('poison', {
      retry: { attempts: 10, crashes: 2, base: '1s' }, run: () => { calls += 1; return forever(); },
    });
    const t = await start({ types: [poison], lease: '5s' });
    const run = await t.createJobRun(poison);
    for (let crashes = 0; crashes < 4; crashes += 1) {
      await t.advance('20s');
      t.crash();
      await t.restart();
    }
    await t.advance('20s');
    expect(calls).toBe(2);
    expect((await run.get()).error).toMatchObject({
      code: 'crashed', message: expect.stringContaining('lost 2 times'),
    });
  });

  test('loses no outcome that was stored, and repeats none', async () => {
    const done: number[] = [];
    const many = jobType('many', {
      taskDetails: () => Array.from({ length: 20 }, (_, index) => index),
      taskResults: async ({ task }) => { await t.clock.sleep(second); done.push(task); return task; },
      jobResults: ({ counts }) => counts.succeeded,
    });
    const t = await start({ types: [many], slots: 4, lease: '5s' });
    const run = await t.createJobRun(many);
    await t.advance('2500ms');
    t.crash();
    await t.restart();
    await t.advance('1m');
    expect(await run.result()).toBe(20);
    const stored = (await t.engine.find({ parent: run.id }, { limit: 100 })).jobs;
    for (const { id } of stored) {
      expect(kindsOf(await t.engine.history(id)).filter((kind) => kind === 'succeeded')).toHaveLength(1);
    }
  });

  test('a handler whose lease was lost can write nothing', async () => {
    const door = new Door();
    let calls = 0;
    const slow = jobType('slow', {
      run: async ({ fence }) => { calls += 1; if (calls === 1) await door.pass(); return fence; },
    });
    const cluster = new Cluster();
    const first = await cluster.join({ types: [slow], lease: '5s' });
    const run = await first.createJobRun(slow);
    await cluster.advance('1s');
    cluster.kill(first);
    const second = await cluster.join({ types: [slow], lease: '5s' });
    await cluster.advance('20s');
    door.open();
    await cluster.advance('5s');
    expect(await second.run(run.id).result()).toBe(2);
  });
});

describe('a handler that was overtaken', () => {
  test('while it prepared stores no second set of tasks', async () => {
    const door = new Door();
    let prepared = 0;
    const many = jobType('many', {
      taskDetails: async () => { prepared += 1; if (prepared === 1) await door.pass(); return [1, 2, 3]; },
      taskResults: ({ task }) => task,
      jobResults: ({ counts }) => counts.total,
    });
    const cluster = new Cluster();
    const first = await cluster.join({ types: [many], lease: '5s' });
    const run = await first.createJobRun(many);
    await cluster.advance('1s');
    // It lives, but the store has forgotten it: as after a long pause.
    await cluster.store.leave('a');
    const second = await cluster.join({ types: [many], lease: '5s' });
    await cluster.advance('20s');
    door.open();
    await cluster.advance('5s');
    expect([prepared, await second.run(run.id).result()]).toEqual([2, 3]);
    expect((await second.find({ parent: run.id })).jobs).toHaveLength(3);
  });

  test('by its timeout and continues anyway changes nothing', async () => {
    const door = new Door();
    let calls = 0;
    const slow = jobType('slow', {
      timeout: '5s',
      retry: { base: '1s' },
      run: async () => { calls += 1; if (calls > 1) return 'the second'; await door.pass(); return 'the first'; },
    });
    const t = await start({ types: [slow] });
    const run = await t.createJobRun(slow);
    await t.advance('6s');
    door.open();
    await t.advance('5s');
    expect(await run.result()).toBe('the second');
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'retried', 'claimed', 'succeeded']);
  });

  test('is judged by the start of its own try, not of the first', async () => {
    const starts: number[] = [];
    const flaky = jobType('flaky', {
      timeout: '10s',
      retry: { attempts: 3, base: '1m', jitter: 0 },
      run: async ({ run }) => {
        starts.push(t.clock.now() - newYear);
        if (run.attempt === 1) throw new Error('not yet');
        await t.clock.sleep(8 * second);
        return run.attempt;
      },
    });
    const t = await start({ types: [flaky] });
    const run = await t.createJobRun(flaky);
    await t.advance('2m');
    expect(await run.result()).toBe(2);
    expect(attemptsOf(await run.events()).map(({ start: at }) => at - newYear)).toEqual(starts.toReversed());
  });
});

describe('a type that is not known', () => {
  test('is left alone: its runs do not fail, and execute when an instance has the type', async () => {
    const t = await start({ types: [quick] });
    const run = await t.createJobRun(jobType('later', { run: () => 'at last' }));
    await t.advance('30d');
    expect(runState(await run.get())).toBe('PENDING');
    expect(kindsOf(await run.events())).toEqual(['created']);
    await t.restart({ types: [jobType('later', { run: () => 'at last' })] });
    await t.drain();
    expect(await run.result()).toBe('at last');
  });

  test('is left alone by repair too: what a lost instance held goes back to the queue', async () => {
    const t = await start({ types: [held] });
    const run = await t.createJobRun(held);
    await t.drain();
    t.crash();
    await t.restart({ types: [quick] });
    await t.advance('10m');
    expect(await run.get()).toMatchObject({ state: 'pending', crashes: 1 });
  });

  test('does not keep its definition from ticking', async () => {
    const def = jobDef('def', held, { schedules: cron('0 * * * *'), overlap: 'allow' });
    const t = await start({ defs: [def] });
    await t.restart({ defs: [] });
    await t.advance('2h');
    expect((await ticksOf(t.engine, 'def')).map(told)).toEqual(['2026-01-01T01:00 run', '2026-01-01T02:00 run']);
    expect((await t.runs()).map(({ state }) => state)).toEqual(['pending', 'pending']);
  });
});

describe('several instances', () => {
  test('share the work, and each run is done once', async () => {
    const doneBy: string[] = [];
    const typeOn = (name: string) =>
      jobType('shared', {
        input: typed<number>(), run: async () => { doneBy.push(name); await cluster.clock.sleep(second); },
      });
    const cluster = new Cluster();
    const a = await cluster.join({ types: [typeOn('a')], slots: 2 });
    await cluster.join({ types: [typeOn('b')], slots: 2 });
    await a.createJobRuns(typeOn('a'), Array.from({ length: 12 }, (_, input) => ({ input })));
    await cluster.advance('30s');
    expect(doneBy).toHaveLength(12);
    expect(new Set(doneBy)).toEqual(new Set(['a', 'b']));
  });

  test.each([0, 800, 1_600, 2_400])('repair the job of a killed one within its lease and 5 s (%i ms)', async (ms) => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const cluster = new Cluster();
    const first = await cluster.join({ types: [slow], lease: '10s' });
    const run = await first.createJobRun(slow);
    const other = await cluster.join({ types: [slow], lease: '10s' });
    await cluster.advance(`${10 * second + ms}ms`);
    cluster.kill(first);
    const { leaseUntil } = (await other.instances()).find(({ id }) => id === first.instance)!;
    await cluster.advance(`${leaseUntil - cluster.clock.now() - 1}ms`);
    expect([(await other.get(run.id)).fence, door.knocks]).toEqual([1, 1]);
    await cluster.advance(`${1 + 5 * second}ms`);
    expect(await other.get(run.id)).toMatchObject({ fence: 2, lease: { holder: other.instance } });
    expect(door.knocks).toBe(2);
  });

  test('handle each tick once, whichever is the leader', async () => {
    const def = jobDef('def', quick, { schedules: cron('* * * * *'), overlap: 'allow' });
    const cluster = new Cluster();
    const engines = [
      await cluster.join({ defs: [def] }), await cluster.join({ defs: [def] }), await cluster.join({ defs: [def] }),
    ];
    await cluster.advance('5m');
    cluster.kill(engines[0]!);
    await cluster.advance('5m');
    const ticks = (await ticksOf(engines[1]!, 'def')).map(({ nominal }) => (nominal - newYear) / 60_000);
    expect(ticks).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('are listed with what they know and do', async () => {
    const t = await start({ types: [held], slots: 3 });
    await t.createJobRun(held);
    await t.advance('20s');
    const types: unknown = expect.arrayContaining(['held']);
    expect(await t.engine.instances()).toMatchObject([
      { id: 'test-1', about: { types, slots: 3, busy: 1, draining: false } },
    ]);
  });
});
