// Child runs: a handler starts runs of other types, and goes on when they have ended without holding a slot.
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Engine, jobType, limit, type JobType } from '../../src/index.ts';
import { testEngine } from '../../src/testing/index.ts';
import { systemClock } from '../../src/time/clock.ts';
import { verify } from '../../src/verify.ts';
import { waitMs } from '../support/patience.ts';
import { stores } from '../support/stores.ts';
import { Cluster } from './api/cluster.ts';
import { inProcess, inThread, missing, packing, wrong } from './fixtures/isolated-order.ts';

const amount = z.object({ amount: z.number() });
const charge = jobType('charge', { input: amount, run: ({ input }) => ({ paid: input.amount }) });
const pack = jobType('pack', {
  input: z.object({ item: z.string() }),
  retry: { attempts: 1 },
  run: ({ input: { item } }) => {
    if (item === 'broken') throw new Error('it is broken');
    return { parcel: `parcel of ${item}` };
  },
});
const order = jobType('order', {
  input: z.object({ items: z.array(z.string()) }),
  run: ({ input, children }) => {
    children.add(charge, { input: { amount: input.items.length } });
    for (const item of input.items) children.add(pack, { input: { item } });
    return { at: 'noon' };
  },
  jobResults: ({ children, details }) => ({
    at: details.at,
    paid: children.of(charge)[0]?.result?.paid,
    parcels: children.of(pack).map(({ result, error }) => result?.parcel ?? error?.message),
  }),
});
const types = [charge, pack, order];

test('a run starts children of other types, waits for them without a slot, and gets their results', async () => {
  await using t = await testEngine({ types, slots: 1 });
  const run = await t.createJobRun(order, { input: { items: ['book', 'broken'] } });
  await t.drain();
  expect(await run.result()).toEqual({ at: 'noon', paid: 2, parcels: ['parcel of book', 'it is broken'] });
  const { jobs } = await t.engine.find({ parent: run.id });
  expect(jobs.map(({ kind, type, parent }) => `${kind} ${type} ${parent}`).toSorted()).toEqual([
    `run charge ${run.id}`, `run pack ${run.id}`, `run pack ${run.id}`,
  ]);
  expect((await t.engine.history(run.id)).map(({ kind }) => kind)).toEqual([
    'created', 'claimed', 'planned', 'settled', 'claimed', 'succeeded',
  ]);
});

test('without jobResults the result is what run has returned, after the children have ended', async () => {
  const parent = jobType('parent', {
    run: ({ children }) => {
      children.add(charge, { input: { amount: 1 }, delay: '1h' });
      return 'done';
    },
  });
  await using t = await testEngine({ types: [parent, charge] });
  const run = await t.createJobRun(parent);
  await t.advance('1m');
  expect(await t.engine.explain(run.id)).toMatchObject([{ code: 'waits.children', says: 'it waits for 1 open child run' }]);
  await t.advance('1h');
  expect(await run.result()).toBe('done');
});

/** A type whose runs have children of their own type, down to a depth, and count them. */
function tree(leaf: () => unknown): JobType<{ depth: number }, number> {
  const node: JobType<{ depth: number }, number> = jobType('node', {
    input: z.object({ depth: z.number() }),
    retry: { attempts: 1 },
    run: async ({ input: { depth }, children }): Promise<void> => {
      if (depth === 0) await leaf();
      for (let n = 0; n < 2 && depth > 0; n += 1) children.add(node, { input: { depth: depth - 1 } });
    },
    jobResults: ({ children }) => 1 + children.of(node).reduce((sum, { result }) => sum + (result ?? 0), 0),
  });
  return node;
}

test('children have children, to any level', async () => {
  const node = tree(() => null);
  await using t = await testEngine({ types: [node], slots: 2 });
  const run = await t.createJobRun(node, { input: { depth: 3 } });
  await t.drain();
  expect(await run.result()).toBe(15);
  await t.engine.deleteJobRun(run.id);
  expect((await t.engine.find({})).jobs.filter(({ type }) => type === 'node')).toEqual([]);
});

test('a cancel and a stop reach all levels', async () => {
  for (const act of ['cancel', 'stop'] as const) {
    const node = tree(() => new Promise(() => {}));
    await using t = await testEngine({ types: [node], slots: 3 });
    const run = await t.createJobRun(node, { input: { depth: 3 } });
    await t.advance('1s');
    if (act === 'cancel') await run.cancel({ by: 'test', grace: '1s' });
    else await run.stop({ by: 'test' });
    await t.advance('1m');
    const { jobs } = await t.engine.find({ types: ['node'] }, { limit: 100 });
    expect(new Set(jobs.map((job) => (job.state === 'ended' ? job.fate : job.state)))).toEqual(new Set(['cancelled']));
    expect(await Array.fromAsync(verify(t.engine.jobs.store, { patienceMs: 0 }))).toEqual([]);
  }
});

test('a retry reopens the children that failed, on all levels', async () => {
  let isBroken = true;
  const node = tree(() => {
    if (isBroken) throw new Error('broken');
  });
  await using t = await testEngine({ types: [node] });
  const run = await t.createJobRun(node, { input: { depth: 2 } });
  await t.drain();
  expect(await run.result()).toBe(3);
  isBroken = false;
  await t.engine.retryJobRun(run.id);
  await t.drain();
  expect(await run.result()).toBe(7);
});

test('a retry from a step before the children plans them anew, and one from a later step keeps them', async () => {
  let [rounds, isBroken] = [0, false];
  const parent = jobType('parent', {
    retry: { attempts: 1 },
    run: async ({ children, step }) => {
      const count = await step('count', () => ++rounds);
      for (let added = 0; added < count; added++) children.add(charge, { input: { amount: count } });
    },
    jobResults: async ({ children, step }) => {
      const sent = await step('send', () => rounds);
      if (isBroken) throw new Error('broken');
      return { paid: children.of(charge).map(({ result }) => result?.paid), sent };
    },
  });
  await using t = await testEngine({ types: [charge, parent] });
  const run = await t.createJobRun(parent);
  await t.drain();
  expect(await run.result()).toEqual({ paid: [1], sent: 1 });
  isBroken = true;
  await run.retry({ from: 'count' });
  await t.drain();
  expect((await run.steps()).map(({ name, result }) => [name, result])).toEqual([['count', '2'], ['jobResults/send', '2']]);
  [rounds, isBroken] = [5, false];
  await run.retry({ from: 'jobResults/send' });
  await t.drain();
  expect(await run.result()).toEqual({ paid: [2, 2], sent: 5 });
  expect(await Array.fromAsync(verify(t.engine.jobs.store, { patienceMs: 0 }))).toEqual([]);
});

test('a retry from a step before the tasks plans them anew', async () => {
  let rounds = 0;
  const parent = jobType('parent', {
    taskDetails: async ({ step }) => Array.from({ length: await step('count', () => ++rounds) }, (_, index) => index),
    taskResults: ({ task }) => task,
    jobResults: ({ counts }) => counts.total,
  });
  await using t = await testEngine({ types: [parent] });
  const run = await t.createJobRun(parent);
  await t.drain();
  expect(await run.result()).toBe(1);
  await run.retry({ from: 'count' });
  await t.drain();
  expect(await run.result()).toBe(2);
  expect(await Array.fromAsync(verify(t.engine.jobs.store, { patienceMs: 0 }))).toEqual([]);
});

test('a handler that throws has no children, and a crash before the end of the handler leaves none', async () => {
  const cluster = new Cluster();
  let attempts = 0;
  const parent = (kill: () => void) => jobType('parent', {
    retry: { attempts: 3, base: '1s' },
    run: async ({ children }): Promise<number> => {
      children.add(charge, { input: { amount: 1 } });
      attempts += 1;
      if (attempts === 1) throw new Error('not yet');
      if (attempts === 2) {
        kill();
        await new Promise(() => {});
      }
      return attempts;
    },
  });
  const first = cluster.add({ types: [parent(() => cluster.kill(first)), charge] });
  void first.resume();
  const run = await first.createJobRun(parent(() => {}));
  await cluster.advance('1m');
  const next = await cluster.join({ types: [parent(() => {}), charge] });
  await cluster.advance('5m');
  expect(await next.get(run.id)).toMatchObject({ state: 'ended', fate: 'succeeded', result: '3' });
  expect((await next.find({ parent: run.id })).jobs).toHaveLength(1);
});

test('children that could never start, and requests that make no sense, are refused', async () => {
  const own: JobType<undefined> = jobType('own', { concurrency: 1, run: ({ children }) => children.add(own) });
  const wrong = jobType('wrong', { run: ({ children }) => children.add(charge, { amount: 1 } as never) });
  const misfit = jobType('misfit', { retry: { attempts: 1 }, run: ({ children }) => children.add(charge, { input: { amount: 'x' } as never }) });
  await using t = await testEngine({ types: [own, wrong, misfit, charge] });
  for (const [type, message] of [[own, 'limit only one'], [wrong, 'amount'], [misfit, 'charge']] as const) {
    const run = await t.createJobRun(type as typeof wrong);
    await t.drain();
    expect((await t.engine.get(run.id)).error?.message).toContain(message);
  }
});

test('a child is refused if an ancestor keeps the place that it waits for', async () => {
  const partner = limit('partner');
  const shared = limit('shared', { concurrency: 1 });
  const top: JobType<undefined> = jobType('top', { concurrency: 1, retry: { attempts: 1 }, run: ({ children }) => children.add(middle) });
  const middle: JobType<undefined> = jobType('middle', { retry: { attempts: 1 }, run: ({ children }) => children.add(top) });
  const limited = jobType('limited', { limits: [partner], run: () => null });
  const withTasks = jobType('withTasks', { taskLimits: [shared], taskDetails: () => [1], taskResults: () => null });
  const operated = jobType('operated', { limits: [partner], retry: { attempts: 1 }, run: ({ children }) => children.add(limited) });
  const parent = jobType('parent', { limits: [shared], retry: { attempts: 1 }, run: ({ children }) => children.add(withTasks) });
  await using t = await testEngine({ types: [top, middle, limited, withTasks, operated, parent] });
  await t.engine.defineLimit('partner', { concurrency: 1 }, { by: 'ada' });
  for (const type of [top, operated, parent]) await t.createJobRun(type);
  await t.advance('1h');
  const { jobs } = await t.engine.find({ kinds: ['run', 'task'] });
  expect(jobs.filter(({ state }) => state !== 'ended')).toEqual([]);
  for (const { name } of [middle, operated, parent]) {
    expect(jobs.find(({ type }) => type === name)?.error?.message).toContain('limit only one of them');
  }
});

test('no child is lost beside complete(), or when it is added too late', async () => {
  const leaf = jobType('leaf', { run: () => null });
  const messages: string[] = [];
  const noting = (add: () => void): void => {
    try {
      add();
    } catch (error) {
      messages.push((error as Error).message);
    }
  };
  let add = (): void => {};
  const parent = jobType('parent', {
    retry: { attempts: 1 },
    run: async ({ children, complete }) => {
      add = () => children.add(leaf);
      for (const wrong of ['leaf', null, {}]) noting(() => children.add(wrong as never));
      children.add(leaf);
      await complete(() => null).catch((error: Error) => messages.push(error.message));
    },
  });
  await using t = await testEngine({ types: [parent, leaf] });
  const run = await t.createJobRun(parent);
  await t.drain();
  noting(add);
  expect(messages).toEqual([
    ...Array.from({ length: 3 }, () => 'children.add() needs a job type, as jobType() returns it'),
    `run ${run.id} has added children and cannot be completed by complete()`,
    `run ${run.id} cannot add a child: its handler has returned`,
  ]);
  expect((await t.engine.find({ parent: run.id })).jobs).toHaveLength(1);
});

test('a run that has planned children has the version of the code that planned them', async () => {
  const before = jobType('parent', { input: z.object({ a: z.number() }), run: () => 'old code' });
  const after = jobType('parent', {
    version: 2,
    upgrade: { 1: ({ a }: { a: number }) => ({ b: a }) },
    input: z.object({ b: z.number() }),
    run: ({ input, children }) => children.add(charge, { input: { amount: input.b }, delay: '1h' }),
    jobResults: ({ input }) => input.b,
  });
  await using t = await testEngine({ types: [before, charge] });
  const run = await t.createJobRun(before, { input: { a: 7 }, delay: '1m' });
  await t.restart({ types: [after, charge] });
  await t.advance('2m');
  expect(await t.engine.get(run.id)).toMatchObject({ state: 'held', typeVersion: 2, input: '{"b":7}' });
  await t.advance('1h');
  expect(await t.engine.get(run.id)).toMatchObject({ fate: 'succeeded', result: '7' });
});

test('a run that has planned children gets no new input by a taken key', async () => {
  const parent = jobType('parent', {
    input: amount,
    retry: { attempts: 2, base: '1h' },
    run: ({ input, children }) => children.add(charge, { input }),
    jobResults: (): null => {
      throw new Error('not yet');
    },
  });
  await using t = await testEngine({ types: [parent, charge] });
  const run = await t.createJobRun(parent, { input: { amount: 1 }, unique: 'order' });
  await t.advance('1m');
  await t.createJobRun(parent, { input: { amount: 2 }, unique: { key: 'order', onTaken: 'update' } });
  expect(await t.engine.get(run.id)).toMatchObject({ state: 'pending', input: '{"amount":1}' });
});

test('a child run is neither deleted without its run nor followed', async () => {
  await using t = await testEngine({ types });
  const run = await t.createJobRun(order, { input: { items: [] } });
  await t.drain();
  const [child] = (await t.engine.find({ parent: run.id })).jobs;
  await expect(t.engine.deleteJobRun(child!.id)).rejects.toMatchObject({ code: 'wrong.state' });
  await expect(t.createJobRun(charge, { input: { amount: 1 }, after: [child!.id] })).rejects.toMatchObject({ code: 'malformed.flow' });
});

describe.each(stores.filter(({ name }) => name !== 'memory'))('on $name', (kind) => {
  test('children of several levels end before their run', async () => {
    const node = tree(() => null);
    const opened = await kind.open(systemClock);
    const engine = new Engine({ store: opened.store, types: [node] });
    onTestFinished(async () => {
      await engine.close({ patience: '1s' });
      await opened.close();
    });
    await engine.resume();
    const run = await engine.createJobRun(node, { input: { depth: 3 } });
    expect(await run.result({ timeout: `${waitMs}ms` })).toBe(15);
    expect(await Array.fromAsync(verify(opened.store))).toEqual([]);
    await engine.deleteJobRun(run.id);
    expect((await engine.find({ types: ['node'] })).jobs).toEqual([]);
  });
});

const orders = jobType('orders', {
  input: z.object({ items: z.array(z.string()) }),
  batch: { size: 10, wait: '1m' },
  retry: { attempts: 1 },
  runBatch: ({ jobs }) => jobs.map((job) => {
    for (const item of job.input.items) job.children.add(pack, { input: { item } });
    return job.input.items.includes('nothing') ? job.failed(new Error('nothing to pack')) : job.done({ size: job.input.items.length });
  }),
  jobResults: ({ children, details }) => ({ ...details, parcels: children.of(pack).map(({ result }) => result?.parcel) }),
});

test('jobs of a batch add children, and each goes on when its own have ended, at once', async () => {
  await using t = await testEngine({ types: [orders, pack], slots: 1 });
  const runs = await t.engine.createJobRuns(orders, [['a', 'b'], [], ['nothing']].map((items) => ({ input: { items } })));
  await t.advance('1m');
  expect(await runs[0]!.result()).toEqual({ size: 2, parcels: ['parcel of a', 'parcel of b'] });
  expect(await runs[1]!.result()).toEqual({ size: 0, parcels: [] });
  expect(await runs[2]!.get()).toMatchObject({ fate: 'failed', error: { message: 'nothing to pack' } });
  expect((await t.engine.find({ kinds: ['run'], types: ['pack'] })).jobs).toHaveLength(2);
  expect((await t.engine.history(runs[0]!.id)).map(({ kind }) => kind)).toEqual([
    'created', 'claimed', 'planned', 'settled', 'claimed', 'succeeded',
  ]);
  for await (const found of verify(t.engine.jobs.store)) expect(found).toBeNull();
});

test.each([inThread, inProcess])('the handler of $name adds children, and their results are gathered in the engine', async (type) => {
  await using engine = new Engine({ store: 'memory:', types: [packing, type] });
  await engine.resume();
  const run = await engine.createJobRun(type, { input: { items: ['lamp', 'book'] } });
  expect(await run.result()).toEqual({ at: 'noon', parcels: ['parcel of lamp', 'parcel of book'] });
  expect((await engine.find({ parent: run.id })).jobs.map(({ tags }) => tags)).toContainEqual({ item: 'lamp' });
  const none = await engine.createJobRun(type, { input: { items: [] } });
  expect(await none.result()).toEqual({ at: 'noon', parcels: [] });
});

test('an isolated handler can only add children of types that its engine has', async () => {
  await using engine = new Engine({ store: 'memory:', types: [missing, wrong] });
  await engine.resume();
  const errorOf = async (type: JobType<unknown, unknown>): Promise<string> => {
    const run = await engine.createJobRun(type);
    await run.result().catch(() => null);
    return (await run.get()).error!.message;
  };
  expect(await errorOf(missing)).toBe('this engine has no job type unknown: pass it in types');
  expect(await errorOf(wrong)).toBe('children.add() needs a job type, as jobType() returns it');
});
