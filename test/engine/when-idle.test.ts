// `engine.whenIdle`: what it waits for, and that it ends.
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Engine, jobAlert, jobDef, jobType, type EngineOptions } from '../../src/index.ts';
import { systemClock } from '../../src/time/clock.ts';
import { Receiver } from '../alerts/receiver.ts';

function open(options: EngineOptions): Engine {
  const engine = new Engine({ store: 'memory:', ...options });
  onTestFinished(() => engine.close());
  return engine;
}

test('it waits for in-memory runs that a run of the database creates, and for the runs that those create', async () => {
  const done: string[] = [];
  // Long enough for the worker of the other store to find nothing. If it is not, the test shows less, and still passes.
  const lasting = async (work: () => unknown): Promise<void> => {
    await systemClock.sleep(100);
    await work();
  };
  const last = jobType('last', { run: () => lasting(() => done.push('last')) });
  const passing = jobType('passing', { run: () => lasting(() => engine.createJobRun(last)) });
  const inMemory = jobDef('in memory', passing, { inMemory: true });
  const first = jobType('first', { run: () => lasting(() => engine.createJobRun(inMemory)) });
  const engine: Engine = open({ types: [first, last], defs: [inMemory] });
  await engine.createJobRun(first);
  await engine.resume();
  expect(await engine.whenIdle()).toEqual({ succeeded: 3, failed: 0 });
  expect(done).toEqual(['last']);
});

test('it waits for the messages of alerts about the runs that have failed', async () => {
  const to = await new Receiver().listen();
  onTestFinished(() => to.close());
  const broken = jobType('broken', { retry: { attempts: 1 }, run: () => { throw new Error('no'); } });
  const alerts = [jobAlert('broken', { when: 'failed', to: { webhook: `${to.url}/hook` } })];
  const engine = open({ types: [broken], alerts, alertAllow: ['127.0.0.1'] });
  await engine.resume();
  await engine.createJobRun(broken);
  expect(await engine.whenIdle()).toEqual({ succeeded: 1, failed: 1 });
  expect(to.received.map(({ path }) => path)).toEqual(['/hook']);
});

test('of an engine that does not claim, nothing is waited for', async () => {
  const mail = jobType('mail', { run: () => {} });
  const engine = open({ types: [mail] });
  await engine.createJobRun(mail);
  expect(await engine.whenIdle()).toEqual({ succeeded: 0, failed: 0 });
  await engine.resume();
  expect(await engine.whenIdle()).toEqual({ succeeded: 1, failed: 0 });
  await engine.suspend();
  expect(await engine.whenIdle()).toEqual({ succeeded: 1, failed: 0 });
});

test('a batch does not wait for further jobs when there are none', async () => {
  const sizes: number[] = [];
  const index = jobType('index', {
    input: z.object({ tenant: z.string() }),
    batch: { size: 100, wait: '1h', by: 'tenant' },
    runBatch: ({ jobs }) => {
      sizes.push(jobs.length);
      return jobs.map((job) => job.done());
    },
  });
  const engine = open({ types: [index] });
  await engine.createJobRuns(index, ['a', 'b', 'a'].map((tenant) => ({ input: { tenant } })));
  await engine.resume();
  expect(await engine.whenIdle()).toEqual({ succeeded: 3, failed: 0 });
  expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 2]);
});
