// Fair share as code declares it: the keys of a type take turns, and what is refused.
import { describe, expect, test } from 'vitest';
import { every, jobDef, jobType, limit, typed, type Fairness } from '../../../src/index.ts';
import { rulesOfEntry, rulesOfType } from '../../../src/engine/declare/type-rules.ts';
import { isRefusal } from '../../../src/refusal.ts';
import { Door, refused, start, type TestEngine } from './kit.ts';

interface Input {
  readonly tenant?: string;
  readonly plan?: number;
}

const code = (declare: () => unknown): string => {
  try {
    declare();
  } catch (error) {
    if (isRefusal(error)) return error.code;
    throw error;
  }
  return 'accepted';
};

/** Records the tenants of the runs in the order in which they start. One run at a time, after the first. */
function recording(fairness: Fairness<Input> = { key: 'tenant', weight: 'plan' }) {
  const started: string[] = [];
  const door = new Door();
  const send = jobType('send', {
    input: typed<Input>(),
    fairness,
    run: async ({ input: { tenant = '-' } }) => {
      started.push(tenant);
      await door.pass();
    },
  });
  return { send, started, door };
}

/** Creates a run per tenant while the only slot is taken, then lets all run. */
async function runAll(t: TestEngine, { send, started, door }: ReturnType<typeof recording>, tenants: readonly string[]): Promise<string> {
  await t.createJobRun(send, { input: { tenant: 'first' } });
  await t.advance('1s');
  const runs = await t.engine.createJobRuns(send, tenants.map((tenant) => ({ input: { tenant } })));
  door.open();
  await t.advance('1m');
  await Promise.all(runs.map((run) => run.result()));
  return started.slice(1).join(' ');
}

describe('fairness', () => {
  test('lets tenants take turns, so that the run of a small one waits for one round at most', async () => {
    const sent = recording({ key: 'tenant' });
    const t = await start({ types: [sent.send], slots: 1 });
    const order = await runAll(t, sent, [...Array.from({ length: 20 }, () => 'large'), 'small']);
    expect(order.split(' ').indexOf('small')).toBeLessThanOrEqual(2);
  });

  test('explains which key waits, with its weight and the runs ahead', async () => {
    const { send, door } = recording();
    const t = await start({ types: [send], slots: 1 });
    await t.createJobRun(send, { input: { tenant: 'a' } });
    await t.advance('1s');
    const inputs = ['a', 'b', 'a'].map((tenant) => ({ input: { tenant, plan: 4 } }));
    const last = (await t.engine.createJobRuns(send, inputs)).at(-1)!;
    const reason = (await last.explain()).find((each) => each.code === 'fairness.waiting');
    expect(reason).toMatchObject({ detail: { key: 'a', weight: 4, ahead: 1 } });
    expect(reason!.says).toBe('it waits for the turn of its key "a", in which 4 jobs start: 1 of them is ahead of it');
    door.open();
  });

  test('gives tasks the share of their run', async () => {
    const fan = jobType('fan', {
      input: typed<Input>(), fairness: { key: 'tenant', weight: 3 }, taskDetails: () => [1, 2], taskResults: () => null,
    });
    const t = await start({ types: [fan] });
    const run = await t.createJobRun(fan, { input: { tenant: 'a' } });
    await t.advance('1m');
    await run.result();
    const { jobs } = await t.engine.find({ types: ['fan'], kinds: ['task'] });
    expect(jobs.map(({ gate }) => gate!.split('@')[1])).toEqual(['a:3', 'a:3']);
  });

  test('of tasks by run lets a run with many tasks delay a task of another run by one round at most', async () => {
    const started: string[] = [];
    const door = new Door();
    const fan = jobType('fan', {
      input: typed<{ name: string; count: number }>(),
      taskFairness: 'run',
      priority: 1,
      taskPriority: () => 0,
      taskDetails: ({ input: { count } }) => Array.from({ length: count }, (_, index) => index),
      taskResults: async ({ input: { name } }) => {
        started.push(name);
        await door.pass();
      },
    });
    const t = await start({ types: [fan], slots: 2 });
    const large = await t.createJobRun(fan, { input: { name: 'large', count: 40 } });
    await t.advance('1s');
    const small = await t.createJobRun(fan, { input: { name: 'small', count: 1 } });
    const before = started.length;
    door.open();
    await t.advance('1m');
    await Promise.all([large.result(), small.result()]);
    expect(started.slice(before).indexOf('small')).toBeLessThanOrEqual(4);
    expect(started).toHaveLength(41);
  });

  test('of tasks by run explains for which run a task waits, and has the weight of the run', async () => {
    const door = new Door();
    const fan = jobType('fan', {
      input: typed<Input>(), fairness: { key: 'tenant', weight: 'plan' }, taskFairness: 'run', taskConcurrency: 1,
      taskDetails: () => [1, 2, 3], taskResults: () => door.pass(),
    });
    const t = await start({ types: [fan], slots: 1 });
    const run = await t.createJobRun(fan, { input: { tenant: 'a', plan: 2 } });
    await t.advance('1s');
    const { jobs } = await t.engine.find({ types: ['fan'], kinds: ['task'] });
    expect(new Set(jobs.map(({ gate }) => gate!.split('@')[1]))).toEqual(new Set([`${encodeURIComponent(`run ${run.id}`)}:2`]));
    const last = jobs.toSorted((a, b) => a.id - b.id).at(-1)!;
    const reason = (await t.engine.explain(last.id)).find((each) => each.code === 'fairness.waiting');
    expect(reason!.says).toBe(`it waits for the turn of its run ${run.id}, in which 2 jobs start: 1 of them is ahead of it`);
    door.open();
  });

  test.each([['tasks', { taskDetails: () => [1], taskResults: () => null, taskFairness: 'tenant' }], ['runs', { run: () => null, taskFairness: 'run' }]])('of tasks is refused if it is wrong for a type of %s', (_, options) => {
    expect(code(() => jobType('t', options as never))).toBe('malformed.option');
  });

  test('holds for the runs of definitions', async () => {
    const { send, door } = recording();
    door.open();
    const def = jobDef('hourly', send, { params: { tenant: 'a', plan: 2 }, schedules: every('1h') });
    const t = await start({ types: [send], defs: [def] });
    await t.advance('90m');
    const { jobs } = await t.engine.find({ types: ['send'], kinds: ['run'] });
    expect(jobs.map(({ gate }) => gate!.split('@')[1])).toContain('a:2');
  });

  test('is computed by the catalogue as by the code, and a run without a key has the empty one', () => {
    const { send } = recording();
    const rules = [rulesOfType(send), rulesOfEntry(rulesOfType(send).entry)];
    for (const { limitUses } of rules) {
      expect(limitUses({ tenant: 'a', plan: 3 })).toEqual([{ name: '@fairness', key: 'a', cost: 3 }]);
      expect(limitUses({})).toEqual([{ name: '@fairness', key: null, cost: 1 }]);
      for (const plan of [0, 1.5, 1_001, '4']) expect(code(() => limitUses({ plan }))).toBe('fairness.weight');
    }
  });

  test('that only code can compute needs the code', () => {
    const { send } = recording({ key: ({ tenant }) => tenant });
    expect(code(() => rulesOfEntry(rulesOfType(send).entry).limitUses({ tenant: 'a' }))).toBe('needs.code');
  });

  test('refuses a run whose key or weight is not valid, and stores nothing', async () => {
    const { send } = recording();
    const t = await start({ types: [send] });
    expect(await refused(t.createJobRun(send, { input: { plan: -1 } }))).toBe('fairness.weight');
    expect(await refused(t.createJobRun(send, { input: { tenant: 'x'.repeat(5_000) } }))).toBe('malformed.name');
    expect((await t.engine.find({ types: ['send'] })).jobs).toEqual([]);
  });

  test('cannot be taken for a limit by its name', () => {
    expect(code(() => limit('@fairness', { concurrency: 1 }))).toBe('malformed.name');
  });

  test.each<[string, unknown]>([
    ['malformed.option', {}], ['malformed.option', { key: '' }], ['malformed.option', { key: 5 }],
    ['malformed.option', { key: 'tenant', wait: 1 }], ['fairness.weight', { key: 'tenant', weight: 0 }],
    ['fairness.weight', { key: 'tenant', weight: 1_001 }], ['fairness.weight', { key: 'tenant', weight: null }],
  ])('is refused as %s if it is %j', (expected, fairness) => {
    expect(code(() => jobType('t', { fairness: fairness as never, run: () => null }))).toBe(expected);
  });
});
