// One running job per type (seed 4), limits, and jobs that only the leader runs: locks that hold across instances.
import { describe, expect, test } from 'vitest';
import { cron, jobDef, jobType, typed } from '../../../src/index.ts';
import { Cluster } from './cluster.ts';
import { Door, minute, refusal, refused, start, ticksOf, told, untilTold } from './kit.ts';

const makeAlone = (door: Door) =>
  jobType('alone', { onePerType: true, run: ({ signal }) => Promise.race([door.pass(), untilTold(signal)]) });

describe('one per type', () => {
  test('a manual run is refused while one is under way, and the answer names it', async () => {
    const alone = makeAlone(new Door());
    const t = await start({ types: [alone] });
    const first = await t.createJobRun(alone);
    await t.drain();
    const told = await refusal(t.createJobRun(alone));
    expect([told.code, told.detail]).toEqual(['busy.type', { type: 'alone', id: first.id }]);
    expect(await t.runs(alone)).toHaveLength(1);
  });

  test('a taken unique key of the caller gives the run that has it', async () => {
    const alone = makeAlone(new Door());
    const t = await start({ types: [alone] });
    const first = await t.createJobRun(alone, { unique: 'report 7' });
    await t.drain();
    const again = await t.createJobRun(alone, { unique: 'report 7' });
    expect([again.id, again.outcome]).toEqual([first.id, 'existing']);
    expect(await refused(t.createJobRun(alone, { unique: 'report 8' }))).toBe('busy.type');
  });

  test('it does not matter which definition, and whether it was scheduled or by hand', async () => {
    const alone = makeAlone(new Door());
    const a = jobDef('a', alone, { schedules: cron('*/10 * * * *') });
    const b = jobDef('b', alone);
    const t = await start({ defs: [a, b] });
    await t.advance('10m');
    expect(await refused(t.createJobRun(b))).toBe('busy.type');
    expect(await refused(t.createJobRun(alone))).toBe('busy.type');
    await t.engine.cancelJobRun((await t.runs())[0]!.id);
    await t.drain();
    const byHand = await t.createJobRun(b);
    await t.advance('10m');
    expect((await byHand.get()).state).toBe('running');
    expect((await ticksOf(t.engine, 'a')).map(told)).toEqual(['2026-01-01T00:10 run', '2026-01-01T00:20 overlap']);
  });

  test.each(['queue', 'allow'] as const)('with overlap %s a manual run is refused too', async (overlap) => {
    const alone = makeAlone(new Door());
    const def = jobDef('def', alone, { schedules: cron('*/10 * * * *'), overlap });
    const t = await start({ defs: [def] });
    await t.advance('20m');
    expect((await t.runs()).map(({ state }) => state)).toEqual(['running', 'pending']);
    expect(await refused(t.createJobRun(def))).toBe('busy.type');
    expect(await refused(t.createJobRun(def, { unique: 'a key of my own' }))).toBe('busy.type');
  });

  test('replace stops a run of the same type, whichever definition made it', async () => {
    const alone = makeAlone(new Door());
    const phantom = jobDef('phantom', alone);
    const due = jobDef('due', alone, { schedules: cron('*/10 * * * *'), overlap: 'replace' });
    const t = await start({ defs: [phantom, due] });
    const run = await t.createJobRun(phantom);
    await t.advance('10m');
    await t.advance('1s');
    expect(await run.get()).toMatchObject({ fate: 'cancelled', cancel: { why: 'replaced by the next run of due' } });
    expect((await t.runs(due)).map(({ state }) => state)).toEqual(['running']);
  });

  test.each(['skip', 'replace'] as const)('with %s, definitions that tick at one instant run in turn', async (overlap) => {
    const [story, running] = [[] as string[], new Set<string>()];
    const alone = jobType('alone', {
      onePerType: true,
      run: async ({ run, signal }) => {
        running.add(run.def!);
        story.push([...running].join(' and '));
        await t.clock.sleep(minute, signal);
        running.delete(run.def!);
      },
    });
    const options = { schedules: cron('*/10 * * * *'), overlap };
    const t = await start({ defs: ['a', 'b', 'c'].map((name) => jobDef(name, alone, options)) });
    await t.advance('35m');
    expect(story).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('a definition whose turn has not come when it ticks again is skipped, and the others are not', async () => {
    const story: string[] = [];
    const alone = jobType('alone', {
      onePerType: true,
      run: async ({ run }) => {
        story.push(run.def!);
        await t.clock.sleep(7 * minute);
      },
    });
    const options = { schedules: cron('*/10 * * * *') };
    const t = await start({ defs: ['a', 'b'].map((name) => jobDef(name, alone, options)) });
    await t.advance('70m');
    const counts = ['a', 'b'].map((name) => story.filter((def) => def === name).length);
    expect(counts.every((count) => count >= 2)).toBe(true);
    expect((await t.runs()).filter(({ state }) => state !== 'ended').length).toBeLessThanOrEqual(2);
  });

  test('a manual run for later does not block other runs until then', async () => {
    const door = new Door();
    door.open();
    const alone = makeAlone(door);
    const def = jobDef('def', alone, { schedules: cron('0 * * * *') });
    const t = await start({ defs: [def] });
    const later = await t.createJobRun(def, { delay: '90m' });
    await t.advance('2h');
    expect((await ticksOf(t.engine, 'def')).map(told)).toEqual(['2026-01-01T01:00 run', '2026-01-01T02:00 run']);
    expect((await later.get()).state).toBe('ended');
  });

  test('a run that waits for its next try is under way', async () => {
    const flaky = jobType('flaky', { onePerType: true, retry: { base: '10m' }, run: () => { throw new Error('no'); } });
    const t = await start({ types: [flaky] });
    await t.createJobRun(flaky);
    await t.drain();
    expect(await refused(t.createJobRun(flaky))).toBe('busy.type');
  });

  test('holds across instances that all try at once', async () => {
    const door = new Door();
    const alone = makeAlone(door);
    const cluster = new Cluster();
    const engines = [
      await cluster.join({ types: [alone] }),
      await cluster.join({ types: [alone] }),
      await cluster.join({ types: [alone] }),
    ];
    const asked = await Promise.allSettled(engines.map((engine) => engine.createJobRun(alone)));
    await cluster.advance('5s');
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(door.knocks).toBe(1);
  });

  test('is released when its holder is lost', async () => {
    const door = new Door();
    const alone = makeAlone(door);
    const cluster = new Cluster();
    const first = await cluster.join({ types: [alone] });
    const second = await cluster.join({ types: [alone] });
    await first.suspend();
    const run = await second.createJobRun(alone);
    await cluster.advance('1s');
    cluster.kill(second);
    void first.resume();
    await cluster.advance('25s');
    expect(door.knocks).toBe(2);
    expect((await first.snapshot(run.id)).job).toMatchObject({ state: 'running', crashes: 1 });
    door.open();
    await cluster.advance('1s');
    expect((await first.createJobRun(alone)).outcome).toBe('created');
  });
});

describe('limits', () => {
  test('hold for a type, across instances', async () => {
    const door = new Door();
    const limited = jobType('limited', { concurrency: 3, run: () => door.pass() });
    const cluster = new Cluster();
    const a = await cluster.join({ types: [limited] });
    await cluster.join({ types: [limited] });
    await a.createJobRuns(limited, Array.from({ length: 10 }, () => ({})));
    await cluster.advance('5s');
    expect(door.knocks).toBe(3);
    door.open();
    await cluster.advance('10s');
    expect(door.knocks).toBe(10);
  });

  test('hold for a definition', async () => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const two = jobDef('two', slow, { concurrency: 2 });
    const t = await start({ defs: [two], types: [slow] });
    await t.engine.createJobRuns(two, Array.from({ length: 5 }, () => ({})));
    await t.createJobRun(slow);
    await t.advance('5s');
    expect(door.knocks).toBe(3);
  });

  test('hold for each key, say a tenant', async () => {
    const door = new Door();
    const started: string[] = [];
    const fair = jobType('fair', {
      input: typed<{ tenant: string }>(),
      limit: { key: ({ tenant }) => tenant, concurrency: 1 },
      run: ({ input }) => { started.push(input.tenant); return door.pass(); },
    });
    const t = await start({ types: [fair] });
    for (const tenant of ['a', 'a', 'b', 'a', 'c']) await t.createJobRun(fair, { input: { tenant } });
    await t.advance('5s');
    expect(started.sort()).toEqual(['a', 'b', 'c']);
    door.open();
    await t.advance('5s');
    expect(started).toHaveLength(5);
  });
});

describe('leader only', () => {
  test('only the leading instance runs it, and when it is lost the next one does', async () => {
    const ran: string[] = [];
    const work = (name: string) => jobType('work', { run: () => void ran.push(name) });
    const defOn = (name: string) => jobDef('nightly', work(name), { leaderOnly: true });
    const cluster = new Cluster();
    const first = await cluster.join({ defs: [defOn('first')] });
    const secondDef = defOn('second');
    const second = await cluster.join({ defs: [secondDef] });
    for (let count = 0; count < 5; count += 1) await second.createJobRun(secondDef);
    await cluster.advance('10s');
    expect(ran).toEqual(Array(5).fill('first'));
    cluster.kill(first);
    const run = await second.createJobRun(secondDef);
    await cluster.advance('1s');
    expect((await second.explain(run.id)).map(({ code }) => code)).toContain('leader.only');
    await cluster.advance('30s');
    expect(ran.slice(5)).toEqual(['second']);
  });

  test('so it is with the tasks of a run', async () => {
    const ran: string[] = [];
    const work = (name: string) =>
      jobType('work', { taskDetails: () => [1, 2, 3, 4], taskResults: () => void ran.push(name) });
    const cluster = new Cluster();
    await cluster.join({ defs: [jobDef('nightly', work('leader'), { leaderOnly: true })] });
    const def = jobDef('nightly', work('other'), { leaderOnly: true });
    const other = await cluster.join({ defs: [def], slots: 100 });
    await other.createJobRun(def);
    await cluster.advance('20s');
    expect(ran).toEqual(Array(4).fill('leader'));
  });
});
