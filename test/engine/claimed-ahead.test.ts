// Jobs that an instance claimed ahead do not wait for its long handlers, and are claimed beside commits.
import { expect, onTestFinished, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { Cluster } from './api/cluster.ts';
import { kindsOf, untilTold } from './api/kit.ts';

const quick = jobType('quick', { run: () => 'done' });
const long = jobType('long', { priority: 1, run: ({ signal }) => untilTold(signal) });
const times = (count: number): object[] => Array.from({ length: count }, () => ({}));

test('jobs claimed ahead behind long handlers are released, and an idle instance executes them', async () => {
  const cluster = new Cluster();
  const busy = await cluster.join({ types: [quick, long], slots: 2 });
  await busy.createJobRuns(quick, times(500)); // so quick that many jobs are claimed ahead
  await cluster.advance('1s');
  const producer = cluster.add({ types: [quick, long] });
  await producer.createJobRuns(long, times(2));
  const waiting = await producer.createJobRuns(quick, times(20));
  await cluster.settle();
  expect((await producer.find({ types: ['quick'], standings: ['running'] })).jobs).toHaveLength(20);

  await cluster.join({ types: [quick], slots: 2 });
  await cluster.advance('3s');
  expect(await Promise.all(waiting.map((run) => run.result()))).toEqual(waiting.map(() => 'done'));
  expect(kindsOf(await producer.history(waiting[0]!.id))).toEqual([
    'created', 'claimed', 'released', 'claimed', 'succeeded',
  ]);
});

test('an instance alone keeps a job that it released pending until a slot is free', async () => {
  const cluster = new Cluster();
  const engine = await cluster.join({ types: [quick, long], slots: 1 });
  await engine.createJobRuns(quick, times(500));
  await cluster.advance('1s');
  const producer = cluster.add({ types: [quick, long] });
  const [blocker] = await producer.createJobRuns(long, times(1));
  const [waiting] = await producer.createJobRuns(quick, times(1));
  await cluster.advance('1m');
  expect((await producer.explain(waiting!.id)).map(({ code }) => code)).toEqual(['slots.busy']);
  expect(kindsOf(await producer.history(waiting!.id))).toEqual(['created', 'claimed', 'released']);
  await blocker!.cancel({ by: 'test' });
  await cluster.advance('1s');
  expect(await waiting!.result()).toBe('done');
});

test('released jobs start before jobs that were claimed after them', async () => {
  const started: number[] = [];
  const noted = jobType('noted', { run: ({ run }) => void started.push(run.id) });
  const cluster = new Cluster();
  const engine = await cluster.join({ types: [noted, long], slots: 1 });
  await engine.createJobRuns(noted, times(500));
  await cluster.advance('1s');
  const producer = cluster.add({ types: [noted, long] });
  const [blocker] = await producer.createJobRuns(long, times(1));
  const [first] = await producer.createJobRuns(noted, times(1));
  await cluster.advance('600ms');
  const [second] = await producer.createJobRuns(noted, times(1));
  await cluster.advance('500ms');
  expect(kindsOf(await producer.history(first!.id)).at(-1)).toBe('released');
  await blocker!.cancel({ by: 'test' });
  await cluster.advance('3s');
  expect(started.slice(-2)).toEqual([first!.id, second!.id]);
});

test('while outcomes are being stored, jobs are claimed by 250, until the outcomes of 516 are open', async () => {
  const cluster = new Cluster();
  await cluster.join({ types: [quick], slots: 16 });
  const producer = cluster.add({ types: [quick] });
  await producer.createJobRuns(quick, times(500)); // so quick that many jobs are claimed ahead
  await cluster.advance('1s');
  const stored = Promise.withResolvers<void>();
  onTestFinished(() => stored.resolve());
  const commit = cluster.store.commit.bind(cluster.store);
  cluster.store.commit = async (batch) => {
    if (batch.changes.some(({ after }) => after?.state === 'ended')) await stored.promise;
    return commit(batch);
  };
  await producer.createJobRuns(quick, times(2_000));
  await cluster.settle();
  expect(await countOf(cluster, 'running')).toBe(750);
  stored.resolve();
  await cluster.advance('1s');
  expect(await countOf(cluster, 'succeeded')).toBe(2_500);
});

const countOf = async ({ store }: Cluster, standing: 'running' | 'succeeded'): Promise<number> =>
  (await store.count({ standings: [standing] })).reduce((sum, { count }) => sum + count, 0);
