// Jobs in memory (seed 4): they run like others and are visible, but never reach the database.
import { expect, test } from 'vitest';
import { cron, jobDef, jobType, typed } from '../../../src/index.ts';
import { kindsOf, refused, start, ticksOf, told, untilTold } from './kit.ts';

const firstMemoryId = 2 ** 52;

const echo = jobType('echo', { input: typed<string>(), run: ({ input, log }) => { log.info('heard'); return input; } });
const passing = jobDef('passing', echo, { inMemory: true });
const kept = jobDef('kept', echo);

test('an in-memory run executes, with an id in a range of its own', async () => {
  const t = await start({ defs: [passing] });
  const run = await t.createJobRun(passing, { input: 'hello' });
  await t.drain();
  expect(await run.result()).toBe('hello');
  expect(run.id).toBeGreaterThanOrEqual(firstMemoryId);
});

test('leaves no trace in the database', async () => {
  const t = await start({ defs: [passing] });
  const feed = await t.engine.jobs.store.feedEnd();
  await t.createJobRun(passing, { input: 'hello' });
  await t.advance('1m');
  expect(await t.engine.jobs.store.feedEnd()).toBe(feed);
  expect((await t.engine.jobs.find({ kinds: ['run'] })).jobs).toEqual([]);
});

test('an in-memory run is visible like any other: by its handle, in lists, counts, events, definitions', async () => {
  const t = await start({ defs: [passing, kept] });
  const feed = t.engine.events();
  const first = feed.next();
  const a = await t.createJobRun(passing, { input: 'a' });
  const b = await t.createJobRun(kept, { input: 'b' });
  await t.advance('1s');
  expect(kindsOf(await a.events())).toEqual(['created', 'claimed', 'succeeded']);
  expect((await a.log()).map(({ text }) => text)).toEqual(['heard']);
  const listed = await t.engine.find({ kinds: ['run'] });
  expect(listed.jobs.map(({ id }) => id)).toEqual([a.id, b.id]);
  expect(await t.engine.count({ kinds: ['run'] })).toEqual([
    { kind: 'run', type: 'echo', standing: 'succeeded', count: 2 },
  ]);
  expect((await t.engine.definitions()).map(({ name }) => name).sort()).toEqual(['kept', 'passing']);
  expect((await t.engine.configuration('passing')).lastRun).toBe(a.id);
  const jobs = [(await first).value!.job];
  for (let count = 0; count < 5; count += 1) jobs.push((await feed.next()).value!.job);
  expect(jobs.filter((id) => id === a.id)).toHaveLength(3);
});

test('in-memory runs are listed on pages together with the others, in either order', async () => {
  const t = await start({ defs: [passing, kept] });
  for (const input of ['a', 'b', 'c']) await t.createJobRun(passing, { input });
  for (const input of ['d', 'e', 'f']) await t.createJobRun(kept, { input });
  const inputs = async (order: 'newest' | 'oldest', limit: number): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let after: number | undefined; ; ) {
      const page = await t.engine.find({ kinds: ['run'] }, { order, limit, ...(after === undefined ? {} : { after }) });
      pages.push(page.jobs.map(({ input }) => JSON.parse(input) as string));
      if (page.next === null) return pages;
      after = page.next;
    }
  };
  expect(await inputs('newest', 2)).toEqual([['c', 'b'], ['a', 'f'], ['e', 'd']]);
  expect(await inputs('newest', 3)).toEqual([['c', 'b', 'a'], ['f', 'e', 'd']]);
  expect(await inputs('oldest', 4)).toEqual([['d', 'e', 'f', 'a'], ['b', 'c']]);
  expect(await inputs('oldest', 100)).toEqual([['d', 'e', 'f', 'a', 'b', 'c']]);
});

test('an in-memory definition has schedules that tick, can be disabled and overridden', async () => {
  const ticking = jobDef('ticking', echo, {
    inMemory: true, params: 'tick', schedules: cron('0 * * * *'), retention: '1d',
  });
  const t = await start({ defs: [ticking] });
  await t.advance('1h');
  await t.engine.disable('ticking');
  await t.advance('1h');
  await t.engine.enable('ticking');
  await t.engine.override('ticking', { schedules: [cron('*/30 * * * *')] });
  await t.advance('1h');
  expect((await ticksOf(t.engine, 'ticking')).map(told)).toEqual([
    '2026-01-01T01:00 run', '2026-01-01T02:00 disabled', '2026-01-01T02:30 run', '2026-01-01T03:00 run',
  ]);
  expect((await t.engine.find({ def: 'ticking', kinds: ['run'] })).jobs).toHaveLength(3);
});

test('an in-memory run can be created from a definition that was not declared before', async () => {
  const t = await start({ types: [echo] });
  const run = await t.createJobRun(jobDef('on the fly', echo, { inMemory: true }), { input: 'now' });
  await t.drain();
  expect(await run.result()).toBe('now');
});

test('an in-memory run can be cancelled and retried', async () => {
  const held = jobType('held', { run: ({ signal }) => untilTold(signal) });
  const def = jobDef('held', held, { inMemory: true });
  const t = await start({ defs: [def] });
  const run = await t.createJobRun(def);
  await t.drain();
  await run.cancel();
  await t.drain();
  expect(await run.get()).toMatchObject({ state: 'ended', fate: 'cancelled' });
  await run.retry();
  await t.drain();
  expect((await run.explain())[0]?.code).toBe('running');
});

test('the audit lists the deletion of an in-memory run like other actions on it', async () => {
  const t = await start({ defs: [passing] });
  const run = await t.createJobRun(passing, { input: 'hello', delay: '1h' });
  await run.cancel({ by: 'ann' });
  await t.engine.deleteJobRun(run.id, { by: 'ann', why: 'not needed' });
  expect(await refused(run.get())).toBe('unknown.job');
  const { records } = await t.engine.jobs.audited({ job: run.id });
  expect(records).toMatchObject([
    { action: 'delete', def: 'passing', by: 'ann', why: 'not needed', before: { standing: 'cancelled' }, after: null },
    { action: 'cancel' },
  ]);
  expect(await refused(t.engine.deleteJobRun(run.id, { by: 'ann' }))).toBe('unknown.job');
});

test('an in-memory run can have tasks', async () => {
  const sum = jobType('sum', {
    taskDetails: () => [1, 2, 3],
    taskResults: ({ task }) => task,
    jobResults: async ({ tasks }) => { let all = 0; for await (const { result } of tasks) all += result!; return all; },
  });
  const def = jobDef('sum', sum, { inMemory: true });
  const t = await start({ defs: [def] });
  const run = await t.createJobRun(def);
  await t.drain();
  expect(await run.result()).toBe(6);
});

test('an in-memory run is lost with the process', async () => {
  const t = await start({ defs: [passing] });
  const run = await t.createJobRun(passing, { input: 'hello' });
  await t.drain();
  t.crash();
  await t.restart();
  expect(await refused(run.get())).toBe('unknown.job');
});

test('ended in-memory runs are deleted after an hour', async () => {
  const t = await start({ defs: [passing] });
  const run = await t.createJobRun(passing, { input: 'hello' });
  await t.drain();
  await t.advance('59m');
  expect((await run.get()).state).toBe('ended');
  await t.advance('3m');
  expect(await refused(run.get())).toBe('unknown.job');
});

test('of due jobs in memory and in the database, the one that has been due longest is shown', async () => {
  const t = await start({ defs: [passing, kept] });
  await t.engine.suspend();
  for (const [first, second] of [[passing, kept], [kept, passing]] as const) {
    const older = await t.createJobRun(first, { input: 'a' });
    await t.advance('1s');
    const newer = await t.createJobRun(second, { input: 'b' });
    await t.advance('1s');
    expect((await t.engine.oldestDue(['echo'])).get('echo')?.id).toBe(older.id);
    for (const { id } of [older, newer]) await t.engine.cancelJobRun(id);
  }
});

test('the idempotency keys of an in-memory run do not occur again after a restart, although its id does', async () => {
  const keys: string[] = [];
  const paid = jobType('paid', {
    run: ({ idempotencyKey, step }) => step('pay', (facts) => void keys.push(idempotencyKey, facts.idempotencyKey)),
  });
  const defs = [jobDef('paid', paid, { inMemory: true })];
  const ids: number[] = [];
  const t = await start({ defs });
  for (let starts = 0; starts < 2; starts += 1) {
    ids.push((await t.createJobRun(defs[0]!)).id);
    await t.advance('1s');
    await t.restart();
  }
  expect(new Set(ids).size).toBe(1);
  expect(new Set(keys).size).toBe(4);
});
