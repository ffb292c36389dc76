// Types with runBatch: one call handles many jobs, and each job keeps its own outcome.
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  Engine, Fail, jobDef, jobType, limit, openStore, Snooze, type BatchJob, type BatchSettings,
} from '../../../src/index.ts';
import { Jobs } from '../../../src/jobs.ts';
import { seededRandom } from '../../../src/random.ts';
import { Refusal } from '../../../src/refusal.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { Cluster } from './cluster.ts';
import { forever, kindsOf, newYear, start, untilTold } from './kit.ts';

interface Numbered {
  readonly n: number;
}

const numbered = z.object({ n: z.number() });
const silent = { info: () => {}, warn: () => {}, error: () => {} };
const inputs = (count: number) => Array.from({ length: count }, (_, n) => ({ input: { n } }));

/** A type that notes which jobs were together, and doubles their numbers. */
function doubling(batch: BatchSettings<{ n: number; tenant?: string | undefined }>) {
  const calls: number[][] = [];
  const type = jobType('double', {
    batch,
    input: z.object({ n: z.number(), tenant: z.string().optional() }),
    runBatch: ({ jobs }) => {
      calls.push(jobs.map(({ input }) => input.n));
      return jobs.map((job) => job.done(job.input.n * 2));
    },
  });
  return { type, calls };
}

test('jobs that are due together are handled in batches of at most the size, each with its own result', async () => {
  const { type, calls } = doubling({ size: 10 });
  const t = await start({ types: [type] });
  const runs = await t.engine.createJobRuns(type, inputs(25));
  await t.drain();
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual(runs.map((_, n) => n * 2));
  expect(calls.map((call) => call.length).toSorted((a, b) => b - a)).toEqual([10, 10, 5]);
  expect(calls.flat().toSorted((a, b) => a - b)).toEqual(runs.map((_, n) => n));
  expect(kindsOf(await t.engine.history(runs[0]!.id))).toEqual(['created', 'claimed', 'succeeded']);
});

test('a batch takes one slot', async () => {
  let together = 0;
  let most = 0;
  const type = jobType('slow', {
    batch: { size: 5 },
    runBatch: async ({ jobs }) => {
      most = Math.max(most, ++together);
      await t.clock.sleep(1_000);
      together -= 1;
      return jobs.map((job) => job.done());
    },
  });
  const t = await start({ types: [type], slots: 2 });
  const runs = await t.engine.createJobRuns(type, inputs(20));
  await t.advance('1m');
  expect(most).toBe(2);
  expect((await t.engine.find({ standings: ['succeeded'] })).jobs).toHaveLength(runs.length);
});

test('a concurrency limits the jobs of all batches together', async () => {
  const sizes: number[] = [];
  const type = jobType('limited', {
    batch: { size: 10 },
    concurrency: 3,
    runBatch: async ({ jobs }) => {
      sizes.push(jobs.length);
      await t.clock.sleep(100);
      return jobs.map((job) => job.done());
    },
  });
  const t = await start({ types: [type], slots: 4 });
  await t.engine.createJobRuns(type, inputs(9));
  await t.advance('10s');
  expect(sizes).toEqual([3, 3, 3]);
});

test('runs that are kept in memory are handled in batches too', async () => {
  const { type, calls } = doubling({ size: 5 });
  const def = jobDef('counted', type, { params: { n: 1 }, inMemory: true, overlap: 'allow' });
  const t = await start({ types: [type], defs: [def] });
  const runs = await Promise.all([1, 2, 3].map(() => t.createJobRun(def)));
  await t.drain();
  expect(calls.flat()).toEqual([1, 1, 1]);
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual([2, 2, 2]);
});

test('a batch that is not full starts when its first job has waited for as long as the type says', async () => {
  const { type, calls } = doubling({ size: 3, wait: '10s' });
  const t = await start({ types: [type] });
  const first = await t.createJobRun(type, { input: { n: 1 } });
  await t.advance('6s');
  await t.createJobRun(type, { input: { n: 2 } });
  await t.advance('3s');
  expect(calls).toEqual([]);
  expect(await t.engine.explain(first.id)).toMatchObject([{
    code: 'batch.gathering', detail: { size: 3, until: newYear + 10_000 },
  }]);
  await t.advance('2s');
  expect(calls).toEqual([[1, 2]]);
  await t.engine.createJobRuns(type, inputs(3));
  await t.advance('1s');
  expect(calls).toEqual([[1, 2], [0, 1, 2]]);
});

test('jobs of one batch have the same value of batch.by', async () => {
  const { type, calls } = doubling({ size: 10, wait: '1s', by: 'tenant' });
  const t = await start({ types: [type] });
  const tenants = ['a', 'b', 'a', 'c', 'b', 'a'];
  await t.engine.createJobRuns(type, tenants.map((tenant, n) => ({ input: { n, tenant } })));
  await t.advance('2s');
  expect(new Set(calls.map(String))).toEqual(new Set(['0,2,5', '1,4', '3']));
});

test('the oldest batch starts early while more jobs wait than the free slots can gather', async () => {
  const { type, calls } = doubling({ size: 10, wait: '1h', by: 'tenant' });
  const t = await start({ types: [type], slots: 1 });
  await t.engine.createJobRuns(type, Array.from({ length: 30 }, (_, n) => ({ input: { n, tenant: String(n) } })));
  await t.advance('10s');
  expect(calls.flat()).toEqual(Array.from({ length: 21 }, (_, n) => n));
  await t.advance('1h');
  expect(calls).toHaveLength(30);
});

test('each job has its own fate: failed ones are retried, permanent failures and unnamed jobs are not lost', async () => {
  const seen: number[] = [];
  const type = jobType('mixed', {
    batch: { size: 10 },
    input: numbered,
    retry: { attempts: 2, base: '1s' },
    runBatch: ({ jobs }) => jobs.flatMap((job) => {
      seen.push(job.input.n);
      if (job.input.n === 0) return [job.done('fine')];
      if (job.input.n === 1) return job.run.attempt === 1 ? [job.failed(new Error('later'))] : [job.done('second')];
      if (job.input.n === 2) return [job.failed(new Fail('never'))];
      if (job.input.n === 3) return seen.length < 6 ? [job.failed(new Snooze('1m'))] : [job.done('rested')];
      return [];
    }),
  });
  const t = await start({ types: [type] });
  const runs = await t.engine.createJobRuns(type, inputs(5));
  await t.advance('5m');
  const jobs = await Promise.all(runs.map(({ id }) => t.engine.get(id)));
  expect(jobs.map((job) => (job.state === 'ended' ? job.fate : job.state))).toEqual([
    'succeeded', 'succeeded', 'failed', 'succeeded', 'failed',
  ]);
  expect(jobs[2]!.error?.message).toBe('never');
  expect(jobs[4]!.error?.message).toBe(`runBatch returned no outcome for job ${runs[4]!.id}`);
  expect(jobs[4]!.attempt).toBe(2);
});

test('an error of the handler, or an answer that is no list of outcomes, fails every job of the batch', async () => {
  const answers = [() => { throw new Error('search is down'); }, () => 'done', () => [{ job: 1 }]];
  for (const answer of answers) {
    const type = jobType('bad', { batch: { size: 3 }, retry: { attempts: 1 }, runBatch: answer as never });
    const t = await start({ types: [type] });
    await t.engine.createJobRuns(type, inputs(3));
    await t.drain();
    expect((await t.engine.find({ standings: ['failed'] })).jobs).toHaveLength(3);
  }
});

test('each job gets its own outcome, in whatever order the handler returns them', async () => {
  const type = jobType('unordered', {
    input: numbered,
    batch: { size: 4 },
    runBatch: ({ jobs: [first, second, ...others] }) =>
      [first!, ...others.toReversed(), second!].map((job) => job.done(job.input.n)),
  });
  const t = await start({ types: [type] });
  const runs = await t.engine.createJobRuns(type, inputs(4));
  await t.drain();
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual([0, 1, 2, 3]);
});

test('two outcomes for one job fail it, since either could be the wrong one', async () => {
  const type = jobType('twice', {
    batch: { size: 2 },
    retry: { attempts: 1 },
    runBatch: ({ jobs }) => jobs.flatMap((job) => [job.done(), job.failed('no')]),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect((await t.engine.get(run.id)).error?.message).toBe(`runBatch returned several outcomes for job ${run.id}`);
});

test('an input that no longer fits is refused alone, and the batch handles the others', async () => {
  const [before] = [jobType('index', { run: () => null })];
  const after = doublingNamed('index');
  const t = await start({ types: [before] });
  await t.engine.suspend();
  const producer = t.engine;
  const runs = await producer.createJobRuns(before, [{ input: { n: 1 } }, { input: { n: 'x' } }, { input: { n: 3 } }]);
  await t.advance('1s'); // the build of the next program is the newer one
  await t.restart({ types: [after] });
  await t.drain();
  const jobs = await Promise.all(runs.map(({ id }) => t.engine.get(id)));
  expect(jobs.map((job) => (job.state === 'ended' ? job.fate : job.state))).toEqual(['succeeded', 'failed', 'succeeded']);
});

function doublingNamed(name: string) {
  return jobType(name, {
    batch: { size: 10 }, input: numbered, runBatch: ({ jobs }) => jobs.map((job) => job.done(job.input.n * 2)),
  });
}

test('an empty batch.by is refused', () => {
  expect(() => jobType('odd', { batch: { size: 2, by: '' }, runBatch: () => [] })).toThrow('neither a path');
});

test('an error of batch.by fails its job alone', async () => {
  const type = jobType('grouped', {
    batch: {
      size: 5,
      by: ({ n }: Numbered) => {
        if (n === 1) throw new Fail('no tenant');
        return 'one';
      },
    },
    input: numbered,
    runBatch: ({ jobs }) => jobs.map((job) => job.done()),
  });
  const t = await start({ types: [type] });
  const runs = await t.engine.createJobRuns(type, inputs(3));
  await t.drain();
  const jobs = await Promise.all(runs.map(({ id }) => t.engine.get(id)));
  expect(jobs.map((job) => job.error?.message ?? null)).toEqual([null, 'no tenant', null]);
});

test('a job that is cancelled is told alone; the signal of the batch aborts when all its jobs are', async () => {
  const told: string[] = [];
  const type = jobType('held', {
    batch: { size: 2 },
    runBatch: async ({ jobs, signal }) => {
      for (const job of jobs) job.signal.addEventListener('abort', () => told.push(`job ${job.run.id}`));
      signal.addEventListener('abort', () => told.push('batch'));
      return untilTold(signal);
    },
  });
  const t = await start({ types: [type] });
  const [first, second] = await t.engine.createJobRuns(type, inputs(2));
  await t.advance('1s');
  await first!.cancel({ by: 'test' });
  await t.advance('1s');
  expect(told).toEqual([`job ${first!.id}`]);
  await second!.cancel({ by: 'test' });
  await t.advance('1s');
  expect(told.toSorted()).toEqual(['batch', `job ${first!.id}`, `job ${second!.id}`]);
  await t.drain();
  expect((await t.engine.find({ standings: ['cancelled'] })).jobs).toHaveLength(2);
});

test('runs that are cancelled or stopped while their batch is gathered do not reach the handler', async () => {
  const { type, calls } = doubling({ size: 10, wait: '6s' });
  const t = await start({ types: [type] });
  const [first, second, third] = await t.engine.createJobRuns(type, inputs(3));
  await t.advance('1s');
  await first!.cancel({ by: 'test' });
  await second!.stop({ by: 'test' });
  await t.advance('10s');
  expect(calls).toEqual([[2]]);
  const cancelled = (await t.engine.find({ standings: ['cancelled'] })).jobs.map(({ id }) => id);
  expect(new Set(cancelled)).toEqual(new Set([first!.id, second!.id]));
  expect(await third!.result()).toBe(4);
});

test('a run that is cancelled while its batch is gathered ends at once', async () => {
  const { type, calls } = doubling({ size: 10, wait: '1h' });
  const t = await start({ types: [type] });
  const [first] = await t.engine.createJobRuns(type, inputs(3));
  await t.advance('1s');
  await first!.cancel({ by: 'test' });
  await t.advance('1s');
  expect(await t.engine.get(first!.id)).toMatchObject({ state: 'ended', fate: 'cancelled' });
  await t.advance('1h');
  expect(calls).toEqual([[1, 2]]);
});

test('a batch starts no later than one of its jobs may start', async () => {
  const { type, calls } = doubling({ size: 10, wait: '1h' });
  const t = await start({ types: [type] });
  await t.createJobRun(type, { input: { n: 1 } });
  await t.advance('1s');
  const run = await t.createJobRun(type, { input: { n: 2 }, startBy: '10s' });
  await t.advance('1s');
  expect(await t.engine.explain(run.id)).toMatchObject([{ code: 'batch.gathering', detail: { until: newYear + 11_000 } }]);
  await t.advance('10s');
  expect(calls).toEqual([[1, 2]]);
});

test('a batch starts when its limits let no further job join it', async () => {
  const sizes: number[] = [];
  const type = (name: string, limits: object) => jobType(name, {
    batch: { size: 10, wait: '1h', by: 'tenant' }, input: z.object({ tenant: z.string() }), ...limits,
    runBatch: ({ jobs }) => jobs.map((job) => job.done(sizes.push(jobs.length))),
  });
  const types = [
    type('limited', { concurrency: 3 }), type('keyed', { limit: { key: 'tenant', concurrency: 2 } }),
    type('named', { limits: [limit('db', { concurrency: 4 })] }),
    type('named-by-key', { limits: [limit('tenant', { key: 'tenant', concurrency: 1 })] }),
  ];
  const t = await start({ types, slots: 4 });
  for (const each of types) {
    await t.engine.createJobRuns(each, Array.from({ length: 6 }, () => ({ input: { tenant: 'a' } })));
    await t.advance('10s');
  }
  expect(sizes.slice(0, 12)).toEqual([3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2]);
  expect(sizes.slice(12)).toEqual([4, 4, 4, 4, 1, 1, 1, 1, 1, 1]);
});

test('a crash of the worker does not count for jobs that it has only gathered', async () => {
  const { type, calls } = doubling({ size: 10, wait: '2s' });
  const cluster = new Cluster();
  const dying = await cluster.join({ types: [type] });
  const run = await dying.createJobRun(type, { input: { n: 1 } });
  await cluster.advance('1s');
  cluster.kill(dying);
  const next = await cluster.join({ types: [type] });
  await cluster.advance('5m');
  expect(kindsOf(await next.history(run.id))).toEqual(['created', 'claimed', 'released', 'claimed', 'succeeded']);
  expect(calls).toEqual([[1]]);
});

test('batches that start together tell the store by one heartbeat', async () => {
  const { type, calls } = doubling({ size: 2, wait: '2s', by: ({ n }) => String(n) });
  const t = await start({ types: [type], slots: 30 });
  await t.engine.createJobRuns(type, inputs(30));
  await t.advance('1900ms');
  const { store } = t.engine.jobs;
  const beat = store.beat.bind(store);
  const answer = Promise.withResolvers<void>();
  let beats = 0;
  store.beat = async (given) => {
    beats += 1;
    await answer.promise;
    return beat(given);
  };
  await t.advance('200ms');
  answer.resolve();
  await t.advance('100ms');
  expect(calls).toHaveLength(30);
  expect(beats).toBeLessThan(5);
});

test('a crash counts for jobs whose handler was called, even if they were gathered before', async () => {
  const cluster = new Cluster();
  const type = (kill: () => void) => jobType('poison', {
    batch: { size: 10, wait: '2s' },
    runBatch: () => {
      kill();
      return forever();
    },
  });
  const dying = cluster.add({ types: [type(() => cluster.kill(dying))] });
  void dying.resume();
  const run = await dying.createJobRun(type(() => {}));
  await cluster.advance('10s');
  const next = await cluster.join({ types: [type(() => {})] });
  await cluster.advance('1m');
  expect(await next.get(run.id)).toMatchObject({ crashes: 1 });
});

/** An engine with a batch of three jobs that waits for the one that `isLate` names: its middleware takes five seconds. */
async function waitingBatch(isLate: number) {
  const clock = new VirtualClock(newYear);
  const store = openStore('memory:', { clock });
  const seen: number[] = [];
  const type = jobType('late', {
    batch: { size: 3 },
    input: numbered,
    timeout: '2s',
    retry: { attempts: 1 },
    runBatch: ({ jobs }) => jobs.map((job) => {
      seen.push(job.input.n);
      return job.done();
    }),
  });
  const work = async ({ input }: { input: unknown }, next: () => unknown) => {
    if ((input as Numbered).n === isLate) await clock.sleep(5_000);
    return next();
  };
  const engine = new Engine({ store, clock, types: [type], middleware: [{ work }], random: seededRandom(1), logger: silent });
  await engine.resume();
  const runs = await engine.createJobRuns(type, inputs(3));
  await clock.advance(100);
  const states = async () => (await store.load(runs.map(({ id }) => id)))
    .map((job) => (job.state === 'ended' ? job.fate : job.state));
  expect(await states()).toEqual(['running', 'running', 'running']);
  return { clock, store, engine, runs, states, seen };
}

test.each([0, 1, 2])('jobs that time out while their batch waits for number %i do not reach the handler', async (late) => {
  const { clock, engine, states, seen } = await waitingBatch(late);
  await clock.advance(20_000);
  expect(seen).toEqual([]);
  expect(await states()).toEqual(['failed', 'failed', 'failed']);
  await engine.close();
});

test.each([0, 1, 2])('jobs that are lost while their batch waits for number %i do not reach the handler', async (late) => {
  const { clock, store, engine, runs, states, seen } = await waitingBatch(late);
  const others = new Jobs(store);
  for (const { id } of runs) await others.stop(id, { by: 'somebody' });
  await clock.advance(20_000);
  expect(seen).toEqual([]);
  expect(await states()).toEqual(['cancelled', 'cancelled', 'cancelled']);
  await engine.close();
});

test.each([0, 1, 2])('closing the engine while a batch waits for number %i calls no handler', async (late) => {
  const { clock, engine, seen } = await waitingBatch(late);
  const closed = engine.close({ patience: '1s' });
  await clock.advance(20_000);
  await closed;
  expect(seen).toEqual([]);
});

test('the jobs of one batch time out one by one, each after its own timeout', async () => {
  const type = jobType('slow', {
    batch: { size: 3, wait: '1s' },
    retry: { attempts: 1 },
    runBatch: async ({ jobs }) => {
      await t.clock.sleep(60_000);
      return jobs.map((job) => job.done());
    },
  });
  const defs = [5, 90, 30].map((seconds) => jobDef(`slow-${seconds}`, type, { timeout: `${seconds}s` }));
  const t = await start({ types: [type], defs });
  const runs = await Promise.all(defs.map((def) => t.createJobRun(def)));
  const states = async () => (await Promise.all(runs.map(({ id }) => t.engine.get(id))))
    .map((job) => (job.state === 'ended' ? job.error?.message ?? job.fate : job.state));
  await t.advance('10s');
  const late = (seconds: number): string => `the attempt took longer than ${seconds * 1_000} ms`;
  expect(await states()).toEqual([late(5), 'running', 'running']);
  await t.advance('30s');
  expect(await states()).toEqual([late(5), 'running', late(30)]);
  await t.advance('1m');
  expect(await states()).toEqual([late(5), 'succeeded', late(30)]);
});

test('middleware that does not call the handler ends its job alone', async () => {
  const { type, calls } = doubling({ size: 3 });
  const work = async ({ input }: { input: unknown }, next: () => unknown) => {
    if ((input as Numbered).n === 1) throw new Fail('not today');
    return next();
  };
  const t = await start({ types: [type], middleware: [{ work }] });
  const runs = await t.engine.createJobRuns(type, inputs(3));
  await t.drain();
  expect(calls).toEqual([[0, 2]]);
  const jobs = await Promise.all(runs.map(({ id }) => t.engine.get(id)));
  expect(jobs.map((job) => job.error?.message ?? null)).toEqual([null, 'not today', null]);
});

test('batches and single jobs take turns when few slots are free', async () => {
  const ended: string[] = [];
  const single = jobType('single', { run: async () => { await t.clock.sleep(1_500); ended.push('single'); } });
  const many = jobType('many', { batch: { size: 10 }, runBatch: ({ jobs }) => jobs.map((job) => job.done(ended.push('batch'))) });
  const t = await start({ types: [single, many], slots: 1 });
  await t.engine.createJobRuns(single, inputs(100));
  await t.engine.createJobRuns(many, inputs(10));
  await t.advance('18s');
  expect(ended).toContain('batch');
  expect(ended).toContain('single');
});

test('a batch of crashed jobs that are all cancelled does not hold back others that crashed', async () => {
  const { type, calls } = doubling({ size: 4, wait: '1m', by: 'tenant' });
  const cluster = new Cluster();
  const dying = await cluster.join({ types: [type] });
  const gathered = (tenant: string) => dying.createJobRun(type, { input: { n: 1, tenant } });
  const runs = [await gathered('a'), await gathered('b')];
  await cluster.advance('100ms');
  cluster.kill(dying);
  const next = await cluster.join({ types: [type] });
  const held = async () => {
    const jobs = await Promise.all(runs.map(({ id }) => next.get(id)));
    return jobs.find((job) => job.state === 'running' && job.lease.holder === 'b');
  };
  while ((await held()) === undefined) await cluster.advance('100ms');
  await next.cancelJobRun((await held())!.id);
  await cluster.advance('5m');
  expect((await next.find({ standings: ['cancelled', 'succeeded'] })).jobs).toHaveLength(2);
  expect(calls).toEqual([[1]]);
});

test('crashed jobs of one type wait for those of another only shortly, however long their types gather', async () => {
  const gathered = (name: string) => jobType(name, {
    batch: { size: 4, wait: '30m' }, runBatch: ({ jobs }) => jobs.map((job) => job.done()),
  });
  const types = [gathered('one'), gathered('other')];
  const cluster = new Cluster();
  const dying = await cluster.join({ types });
  for (const type of types) await dying.createJobRun(type);
  await cluster.advance('100ms');
  cluster.kill(dying);
  const next = await cluster.join({ types });
  await cluster.advance('5m');
  const { jobs } = await next.find({ standings: ['succeeded'] });
  expect(jobs.map(({ type }) => type).sort()).toEqual(['one', 'other']);
});

test('jobs that are gathered are released when the engine closes, and their attempts do not count', async () => {
  const { type } = doubling({ size: 10, wait: '10m' });
  const cluster = new Cluster();
  const closing = await cluster.join({ types: [type] });
  const run = await closing.createJobRun(type, { input: { n: 1 } });
  await cluster.advance('1s');
  expect((await closing.get(run.id)).state).toBe('running');
  const closed = closing.close();
  await cluster.advance('1s');
  await closed;
  const next = await cluster.join({ types: [type] });
  await cluster.advance('11m');
  expect(kindsOf(await next.history(run.id))).toEqual(['created', 'claimed', 'released', 'claimed', 'succeeded']);
});

test('after crashes of the worker, batches are halved until the job that causes them is alone', async () => {
  const cluster = new Cluster();
  const poison = 37;
  const sizes: number[] = [];
  const type = (kill: () => void) => jobType('poisoned', {
    batch: { size: 64, wait: '2m' },
    input: numbered,
    retry: { crashes: 1 },
    runBatch: ({ jobs }) => {
      if (!jobs.some(({ input }) => input.n === poison)) return jobs.map((job) => job.done(job.run.attempt));
      sizes.push(jobs.length);
      kill();
      return forever();
    },
  });
  const producer = cluster.add({ types: [type(() => {})] });
  const runs = await producer.createJobRuns(type(() => {}), inputs(64));
  for (let crash = 0; crash < 8; crash += 1) {
    const engine = cluster.add({ types: [type(() => cluster.kill(engine))], slots: 4 });
    void engine.resume();
    await cluster.advance('10m');
    cluster.kill(engine);
    await cluster.advance('10m');
  }
  expect(sizes.every((size, crash) => size <= Math.max(1, 64 / 2 ** crash)), sizes.join()).toBe(true);
  expect(sizes.at(-1)).toBe(1);
  const fates = await Promise.all(runs.map(async ({ id }) => (await producer.get(id))));
  expect(fates.filter((job) => job.state === 'ended' && job.fate === 'failed').map(({ id }) => id)).toEqual([
    runs[poison]!.id,
  ]);
  expect(fates.filter((job) => job.state === 'ended' && job.fate === 'succeeded')).toHaveLength(63);
});

test('batch settings that make no sense are refused', () => {
  const runBatch = ({ jobs }: { jobs: readonly BatchJob<unknown>[] }) => jobs.map((job) => job.done());
  const wrong: readonly object[] = [
    { batch: { size: 0 }, runBatch }, { batch: { size: 1_001 }, runBatch }, { batch: { size: 2.5 }, runBatch },
    { batch: { size: 2, wait: '2h' }, runBatch }, { batch: { size: 2, wait: 'soon' }, runBatch },
    { batch: { size: 2, by: 7 }, runBatch }, { batch: { size: 2, max: 3 }, runBatch }, { batch: null, runBatch },
    { runBatch }, { batch: { size: 2 }, run: () => null }, { batch: { size: 2 }, runBatch, run: () => null },
    { batch: { size: 2 }, runBatch, isolate: 'thread', module: import.meta.url },
  ];
  for (const options of wrong) expect(() => jobType('wrong', options as never), JSON.stringify(options)).toThrow(Refusal);
});
