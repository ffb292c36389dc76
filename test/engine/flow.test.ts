// Flows: runs that follow runs, with their results as input, through crashes and in the engine's own loops.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Engine, jobDef, jobType, openStore, typed } from '../../src/index.ts';
import type { FlowBuilder, FlowRun } from '../../src/engine/declare/flow-builder.ts';
import { testEngine, VirtualClock } from '../../src/testing/index.ts';
import { verify } from '../../src/verify.ts';

const extract = jobType('extract', {
  input: z.object({ day: z.string() }),
  run: ({ input }) => ({ day: input.day, parts: [10, 20] }),
});
const transform = jobType('transform', { input: z.object({ n: z.number() }), run: ({ input: { n } }) => ({ rows: n + 1 }) });
const load = jobType('load', {
  input: z.object({ day: z.string(), rows: z.array(z.number()) }),
  run: ({ input }) => input.rows.reduce((sum, rows) => sum + rows, 0),
});
const broken = jobType('broken', {
  retry: { attempts: 1 },
  run: (): { rows: number } => {
    throw new Error('broken');
  },
});
const alert = jobType('alert', {
  input: z.object({ rows: z.object({ rows: z.number() }).nullable() }), run: ({ input }) => JSON.stringify(input.rows),
});
const limited = jobType('limited', {
  input: z.object({ tenant: z.string() }), limit: { key: 'tenant', concurrency: 1 }, run: () => 1,
});
const types = [extract, transform, load, broken, alert, limited];

test('results of runs become the input of the run that follows them', async () => {
  await using t = await testEngine({ types });
  let last!: { handle: () => Promise<number> };
  const flow = await t.createFlow((f) => {
    const day = f.run(extract, { input: { day: 'monday' } });
    const parts = [0, 1].map((index) => f.run(transform, { input: { n: day.result.parts[index]! } }));
    const loaded = f.run(load, { input: { day: day.result.day, rows: parts.map((part) => part.result.rows) } });
    last = { handle: () => flow.handle(loaded).result() };
  });
  await t.drain();
  expect(await last.handle()).toBe(32);
  const job = await flow.runs[3]!.get();
  expect(JSON.parse(job.input)).toEqual({ day: 'monday', rows: [11, 21] });
});

test('a run starts after a failure if it asks for that, and gets null instead of the result', async () => {
  await using t = await testEngine({ types });
  const flow = await t.createFlow((f) => {
    const first = f.run(broken);
    f.run(alert, { on: 'failed', input: { rows: first.resultOrNull } });
    f.run(transform, { after: first, input: { n: 1 } });
  });
  await t.drain();
  expect(await flow.runs[1]!.result()).toBe('null');
  await expect(flow.runs[2]!.result()).rejects.toThrow('the runs that it follows did not end as it requires');
});

test('a run follows runs that exist, by handle or id', async () => {
  await using t = await testEngine({ types });
  const first = await t.createJobRun(extract, { input: { day: 'friday' } });
  const second = await t.createJobRun(transform, { input: { n: 1 }, after: [first, first.id] });
  expect(await second.get()).toMatchObject({ state: 'held', hold: 'runs' });
  const flow = await t.createFlow((f) => {
    f.run(transform, { input: { n: f.existing(first).result.parts[0]! } });
  });
  await t.drain();
  expect(await second.result()).toEqual({ rows: 2 });
  expect(await flow.runs[0]!.result()).toEqual({ rows: 11 });
});

test('of several runs that follow others, none is created if one of them is refused', async () => {
  await using t = await testEngine({ types });
  const first = await t.createJobRun(extract, { input: { day: 'friday' } });
  const wrong = [{ input: { n: 1 }, after: first }, { input: { n: 2 } }, { input: { n: 3 }, after: 999_999 }];
  await expect(t.engine.createJobRuns(transform, wrong)).rejects.toMatchObject({ code: 'unknown.job' });
  expect((await t.engine.find()).jobs.map(({ id }) => id)).toEqual([first.id]);
  const runs = await t.engine.createJobRuns(transform, wrong.slice(0, 2));
  await t.drain();
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual([{ rows: 2 }, { rows: 3 }]);
});

test('a flow goes on after the process that ended a run has crashed', async () => {
  await using t = await testEngine({ types });
  const flow = await t.createFlow((f) => {
    const first = f.run(extract, { input: { day: 'x' }, delay: '1m' });
    f.run(transform, { after: first, input: { n: 1 } });
  });
  t.crash();
  await t.restart();
  await t.advance('2m');
  expect(await flow.runs[1]!.result()).toEqual({ rows: 2 });
});

test('explain says how many runs a run waits for, and what became of one that failed', async () => {
  await using t = await testEngine({ types });
  const slow = jobType('slow', { retry: { attempts: 2, base: '1h' }, run: () => { throw new Error('not yet'); } });
  await t.restart({ types: [...types, slow] });
  const flow = await t.createFlow((f) => {
    f.run(alert, { on: 'failed', input: { rows: null }, after: [f.run(extract, { input: { day: 'x' } }), f.run(slow)] });
  });
  await t.drain();
  const [reason] = await flow.runs[2]!.explain();
  expect(reason).toMatchObject({ code: 'waits.runs', detail: { open: 1, total: 2 } });
  expect(reason!.says).toMatch(new RegExp(`^it waits for 1 of 2 runs: run ${flow.runs[1]!.id} \\(slow\\) failed, retry at 2026-`));
});

test('explain names definitions and types of the runs that a run waits for, those that failed first', async () => {
  const slow = jobType('slow', { retry: { attempts: 2, backoff: 'fixed', base: '1h', jitter: 0 }, run: () => { throw new Error('not yet'); } });
  const nightly = jobDef('nightly extract', slow);
  await using t = await testEngine({ types, defs: [nightly] });
  const flow = await t.createFlow((f) => {
    const later = f.run(extract, { input: { day: 'x' }, delay: '2h' });
    f.run(alert, { on: 'failed', input: { rows: null }, after: [
      later, f.run(transform, { after: later, input: { n: 1 } }), f.run(nightly), f.run(extract, { input: { day: 'y' }, delay: '3h' }),
    ] });
  });
  await t.drain();
  const [later, held, failed, , waiting] = flow.runs.map(({ id }) => id);
  const [reason] = await t.engine.explain(flow.runs[4]!.id);
  expect(waiting).toBe(flow.runs[4]!.id);
  expect(reason!.says).toBe(
    `it waits for 4 of 4 runs: run ${failed} (nightly extract) failed, retry at 2026-01-01T01:00:00.000Z, ` +
    `run ${later} (extract) is due at 2026-01-01T02:00:00.000Z, run ${held} (transform) waits for runs, …`);
  expect(reason!.detail!['standings']).toContainEqual({
    id: failed, def: 'nightly extract', type: 'slow', state: 'pending', retryAt: Date.parse('2026-01-01T01:00:00Z'),
  });
});

test('explain names the runs that a run waits for until they are retried', async () => {
  await using t = await testEngine({ types });
  const flow = await t.createFlow((f) => {
    f.run(transform, { input: { n: 1 }, after: [f.run(extract, { input: { day: 'x' } }), f.run(broken)], afterFailure: 'wait' });
  });
  await t.drain();
  const [, failed, waiting] = flow.runs;
  const [reason] = await waiting!.explain();
  expect(reason).toMatchObject({ detail: { unsuccessful: 1, runs: [failed!.id] } });
  expect(reason!.says).toMatch(new RegExp(`retried and succeed: retry run ${failed!.id} \\(broken\\)$`));
});

test('flows are listed with counts and types of their runs', async () => {
  await using t = await testEngine({ types });
  await t.createFlow((f) => void f.run(extract, { input: { day: 'x' } }));
  const flow = await t.createFlow((f) => {
    f.run(transform, { after: f.run(broken), input: { n: 1 } });
    f.run(alert, { input: { rows: null }, delay: '1h' });
  });
  await t.drain();
  const [newest, oldest] = await t.engine.flows();
  expect(newest).toMatchObject({
    id: flow.id, types: ['broken', 'transform', 'alert'], counts: { failed: 1, cancelled: 1, pending: 1 }, isCut: false,
  });
  expect(oldest).toMatchObject({ types: ['extract'], counts: { succeeded: 1 } });
  expect((await t.engine.flows({ before: flow.id })).map(({ id }) => id)).toEqual([oldest!.id]);
});

test('what is no page of flows is refused', async () => {
  await using t = await testEngine({ types });
  for (const limit of [0, -1, 1.5, 1e9, 'x', null]) {
    await expect(t.engine.flows({ limit } as never)).rejects.toMatchObject({ code: 'malformed.number' });
    await expect(t.engine.flow(1, { limit } as never)).rejects.toMatchObject({ code: 'malformed.number' });
  }
  await expect(t.engine.flows({ before: 'x' } as never)).rejects.toMatchObject({ code: 'malformed.id' });
});

test('a result is refused where only its value would do, and so is a function that adds its runs later', async () => {
  await using t = await testEngine({ types });
  const refused = async (build: unknown) =>
    expect(t.createFlow(build as never)).rejects.toMatchObject({ code: 'malformed.flow' });
  const using = (use: (run: FlowRun<{ n: number }>) => unknown) => (f: FlowBuilder) =>
    void f.run(transform, { input: use(f.run(extract, { input: { day: 'x' } }) as never) as never });
  await refused(5);
  await refused(async (f: FlowBuilder) => void f.run(broken));
  await refused(using(({ result }) => ({ ...result })));
  await refused(using(({ resultOrNull }) => ({ ...resultOrNull })));
  await refused(using(({ result }) => ({ n: `${result.n as unknown as string}` })));
  await refused(using(({ resultOrNull }) => ({ n: `${resultOrNull as unknown as string}` })));
  await expect(t.createFlow((f) => void f.run(broken, { after: Array(2) as never }))).rejects.toMatchObject({ code: 'malformed.id' });
  await expect(t.createJobRun(broken, { after: Array(2) as never })).rejects.toMatchObject({ code: 'malformed.id' });
  expect(await t.runs()).toEqual([]);
});

test('a flow that cannot be is refused, and nothing is stored', async () => {
  await using t = await testEngine({ types });
  const build = (refused: Parameters<typeof t.createFlow>[0]) => t.createFlow(refused);
  await expect(build(() => {})).rejects.toMatchObject({ code: 'malformed.flow' });
  await expect(build((f) => void f.run(broken, { after: 99 }))).rejects.toMatchObject({ code: 'unknown.job' });
  await expect(build((f) => void f.run(broken, { on: 'failed' } as never))).rejects.toMatchObject({ code: 'malformed.option' });
  await expect(build((f) => {
    const first = f.run(broken);
    f.run(alert, { on: 'ended', input: { rows: first.result } } as never);
  })).rejects.toMatchObject({ code: 'malformed.flow' });
  await expect(build((f) => {
    const first = f.run(extract, { input: { day: 'x' } });
    f.run(limited, { input: { tenant: first.result.day } });
  })).rejects.toMatchObject({ code: 'malformed.flow' });
  await expect(build((f) => {
    f.run(broken);
    f.run(transform, { input: { n: 'one' } as never });
  })).rejects.toMatchObject({ code: 'malformed.input' });
  expect(await t.runs()).toEqual([]);
});

test('a follower with tasks that is reopened with what it follows waits, and plans its tasks anew', async () => {
  let size = 2;
  const first = jobType('first', { run: () => ({ size }) });
  const many = jobType('many', {
    input: z.object({ size: z.number() }),
    taskDetails: ({ input }) => Array.from({ length: input.size }, (_, n) => ({ n })),
    taskResults: ({ task }) => task.n,
    jobResults: ({ counts }) => counts.succeeded,
  });
  await using t = await testEngine({ types: [first, many] });
  const flow = await t.createFlow((f) => {
    f.run(many, { input: { size: f.run(first).result.size } });
  });
  const [one, two] = flow.runs;
  await t.drain();
  expect(await two!.result()).toBe(2);
  await t.engine.suspend();
  size = 3;
  await t.engine.retryJobRun(one!.id, { downstream: 'all' });
  expect(await t.engine.get(two!.id)).toMatchObject({ state: 'held', hold: 'runs', phase: 'prepare', details: null });
  expect((await t.engine.find({ parent: two!.id })).jobs).toEqual([]);
  await t.engine.resume();
  await t.drain();
  expect(await two!.result()).toBe(3);
});

test('a reopened follower whose tasks were deleted, and which ends before it plans new ones, misses none', async () => {
  const first = jobType('first', { run: () => null });
  const many = jobType('many', { taskDetails: () => [1, 2, 3], taskResults: () => null, jobResults: () => null });
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  const engine = new Engine({ store, clock, types: [first, many] });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  const { runs: [one, two] } = await engine.createFlow((f) => void f.run(many, { after: f.run(first) }));
  await clock.advance(100);
  await two!.result();
  await engine.suspend();
  await engine.retryJobRun(one!.id, { downstream: 'all' });
  await engine.stopJobRun(two!.id);
  expect((await engine.find({ parent: two!.id })).jobs).toEqual([]);
  expect(await Array.fromAsync(verify(store, { patienceMs: 0 }))).toEqual([]);
  await engine.close();
});

test.each(['tasks', 'children'])('a reopened follower that had planned no %s plans with its new input', async (what) => {
  let size = 0;
  const first = jobType('first', { run: () => ({ size }) });
  const input = typed<{ size: number }>();
  const leaf = jobType('leaf', { run: () => null });
  const list = (n: number): number[] => Array.from({ length: n }, (_, index) => index);
  const many = what === 'tasks'
    ? jobType('many', {
      input, taskDetails: (context) => list(context.input.size), taskResults: () => null,
      jobResults: ({ counts }) => counts.succeeded,
    })
    : jobType('many', {
      input, run: (context) => { for (const _ of list(context.input.size)) context.children.add(leaf); },
      jobResults: ({ children }) => children.all.length,
    });
  await using t = await testEngine({ types: [first, many, leaf] });
  const flow = await t.createFlow((f) => {
    f.run(many, { input: { size: f.run(first).result.size } });
  });
  const [one, two] = flow.runs;
  await t.drain();
  expect(await two!.result()).toBe(0);
  size = 2;
  await t.engine.retryJobRun(one!.id, { downstream: 'all' });
  await t.drain();
  expect(await two!.result()).toBe(2);
});

test('a reopened follower that failed forgets its steps, whose results belong to its former input', async () => {
  let size = 1;
  const first = jobType('first', { run: () => ({ size }) });
  const second = jobType('second', {
    input: typed<{ size: number }>(),
    retry: { attempts: 1 },
    run: async ({ input, step }) => {
      const doubled = await step('double', () => input.size * 2);
      if (input.size === 1) throw new Error('too small');
      return doubled;
    },
  });
  await using t = await testEngine({ types: [first, second] });
  const flow = await t.createFlow((f) => {
    f.run(second, { input: { size: f.run(first).result.size } });
  });
  const [one, two] = flow.runs;
  await t.drain();
  size = 5;
  await t.engine.retryJobRun(one!.id, { downstream: 'failed' });
  await t.drain();
  expect(await two!.result()).toBe(10);
});
