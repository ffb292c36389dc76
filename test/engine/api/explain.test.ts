// Nothing is stuck unseen: each reason for which a job is not running, with what it takes to see it.
import { expect, test } from 'vitest';
import { jobDef, jobType, type ReasonCode } from '../../../src/index.ts';
import { apply } from '../../../src/apply.ts';
import { Cluster } from './cluster.ts';
import { Door, hour, newYear, refused, start, untilTold, type TestEngine } from './kit.ts';

const held = jobType('held', { run: ({ signal }) => untilTold(signal) });
const quick = jobType('quick', { run: () => {} });

const codes = async (t: Pick<TestEngine, 'engine'>, { id }: { readonly id: number }): Promise<ReasonCode[]> =>
  (await t.engine.explain(id)).map(({ code }) => code);

test('ended: explain names the fate of the job', async () => {
  const t = await start({ types: [quick] });
  const run = await t.createJobRun(quick);
  await t.drain();
  expect(await run.explain()).toEqual([{ code: 'ended', says: 'it has ended: succeeded' }]);
});

test('running: explain names the holder', async () => {
  const t = await start({ types: [held] });
  const run = await t.createJobRun(held);
  await t.drain();
  expect(await run.explain()).toMatchObject([{ code: 'running', detail: { holder: 'test-1', fence: 1 } }]);
});

test('paused: it is to be resumed', async () => {
  const t = await start({ types: [quick] });
  const run = await t.createJobRun(quick, { delay: '1h' });
  await t.engine.jobs.pause(run.id, { by: 'ann' });
  expect(await codes(t, run)).toEqual(['paused']);
});

test('waits.parent: a child of a job that works', async () => {
  const t = await start({ types: [held] });
  const run = await t.createJobRun(held);
  await t.drain();
  const [child] = await t.engine.jobs.createChildren(run.id, [{ kind: 'task', type: 'held' }], 'ann');
  expect(await t.engine.explain(child!.id)).toMatchObject([{ code: 'waits.parent', detail: { parent: run.id } }]);
});

test('waits.children: explain counts the open children', async () => {
  const many = jobType('many', { taskDetails: () => [1, 2, 3], taskResults: ({ signal }) => untilTold(signal) });
  const t = await start({ types: [many] });
  const run = await t.createJobRun(many);
  await t.drain();
  expect(await run.explain()).toMatchObject([{ code: 'waits.children', detail: { open: 3 } }]);
});

test('not.due: explain names the due time', async () => {
  const t = await start({ types: [quick] });
  const run = await t.createJobRun(quick, { delay: '1h' });
  expect(await run.explain()).toMatchObject([
    { code: 'not.due', says: 'it is due at 2026-01-01T01:00:00.000Z, in 3600 s', detail: { due: newYear + hour } },
  ]);
});

test('parent.cancelled: a task of a run that was cancelled', async () => {
  const many = jobType('many', {
    retry: { base: '10m' }, taskDetails: () => [1], taskResults: () => { throw new Error('no'); },
  });
  const t = await start({ types: [many] });
  const run = await t.createJobRun(many);
  await t.drain();
  // The moment between the note in the run and the end of its tasks.
  await apply(t.engine.jobs.store, run.id, { do: 'cancel', code: 'user' }, { by: 'ann' });
  const { jobs: [task] } = await t.engine.find({ parent: run.id });
  expect(await codes(t, task!)).toEqual(['not.due', 'parent.cancelled']);
});

test('type.unknown: no living instance has its type', async () => {
  const t = await start();
  const run = await t.createJobRun(quick);
  await t.drain();
  expect(await run.explain()).toMatchObject([{ code: 'type.unknown', detail: { type: 'quick' } }]);
});

test('suspended: the instances that know its type take nothing', async () => {
  const t = await start({ types: [quick] });
  await t.engine.suspend();
  const run = await t.createJobRun(quick);
  await t.advance('10s');
  expect(await run.explain()).toMatchObject([{ code: 'suspended', detail: { instances: ['test-1'] } }]);
});

test('leader.only: the instance that leads does not know it', async () => {
  const nightly = jobDef('nightly', quick, { leaderOnly: true });
  const cluster = new Cluster();
  await cluster.join();
  const other = await cluster.join({ defs: [nightly] });
  const run = await other.createJobRun(nightly);
  await cluster.advance('10s');
  expect(await run.explain()).toMatchObject([{ code: 'leader.only', detail: { able: ['b'] } }]);
});

test('limit.full: explain names the admitted jobs', async () => {
  const door = new Door();
  const limited = jobType('limited', { concurrency: 2, run: () => door.pass() });
  const t = await start({ types: [limited] });
  const [a, b, c] = await t.engine.createJobRuns(limited, [{}, {}, {}]);
  await t.drain();
  const [reason] = await c!.explain();
  expect(reason).toMatchObject({ code: 'limit.full', detail: { gate: { type: 'limited', typeMax: 2 } } });
  expect(new Set(reason!.detail!['holders'] as number[])).toEqual(new Set([a!.id, b!.id]));
});

test('slots.busy: every slot of every instance that could is taken', async () => {
  const door = new Door();
  const slow = jobType('slow', { run: () => door.pass() });
  const t = await start({ types: [slow], slots: 1 });
  await t.createJobRun(slow);
  await t.advance('20s');
  const run = await t.createJobRun(slow);
  await t.advance('1s');
  expect(await run.explain()).toMatchObject([
    { code: 'slots.busy', detail: { instances: [{ id: 'test-1', slots: 1, busy: 1 }] } },
  ]);
});

test('about.to.run: nothing holds it back', async () => {
  const cluster = new Cluster();
  const engine = cluster.add();
  // It has just died, and its lease has not lapsed yet.
  cluster.kill(await cluster.join({ types: [quick] }));
  expect(await codes({ engine }, await engine.createJobRun(quick))).toEqual(['about.to.run']);
});

test('explain returns all reasons that apply', async () => {
  const t = await start();
  const run = await t.createJobRun(quick, { delay: '1h' });
  expect(await codes(t, run)).toEqual(['not.due', 'type.unknown']);
});

test('explain refuses an unknown job', async () => {
  const t = await start();
  expect(await refused(t.engine.explain(77))).toBe('unknown.job');
});
