// Seed 3, "Job state", statement by statement: stages, fates and the history that tells them.
import { describe, expect, test } from 'vitest';
import { Fail, fateOf, jobType, stageHistory, stageOf, typed } from '../../src/index.ts';
import { replay } from '../../src/model/evolve.ts';
import { isOpen } from '../../src/model/job.ts';
import { originOf } from '../../src/store/row.ts';
import { isLegalHistory, legalHistories, stages } from '../../src/vocabulary/stage.ts';
import { Door, hour, kindsOf, minute, newYear, refusal, start, untilTold, type TestEngine } from '../engine/api/kit.ts';

const held = jobType('held', { run: ({ signal, log }) => { log.info('at work'); return untilTold(signal); } });
const quick = jobType('quick', { run: () => ({ answer: 42 }) });
const broken = jobType('broken', { run: () => { throw new Fail('no such file', { data: { path: '/x' } }); } });

/** One run in each stage and with each fate. */
async function everywhere(): Promise<{ t: TestEngine; runs: Record<string, number> }> {
  const t = await start({ types: [held, quick, broken] });
  const runs: Record<string, number> = {
    complete: (await t.createJobRun(quick)).id,
    error: (await t.createJobRun(broken)).id,
    terminate: (await t.createJobRun(held)).id,
    run: (await t.createJobRun(held)).id,
    queue: (await t.createJobRun(quick, { delay: '1h' })).id,
    unrun: (await t.createJobRun(quick, { delay: '1h' })).id,
  };
  await t.drain();
  await t.engine.cancelJobRun(runs['terminate']!, { by: 'ann', why: 'changed my mind' });
  await t.engine.cancelJobRun(runs['unrun']!, { by: 'bob', code: 'admin' });
  await t.drain();
  return { t, runs };
}

const historyOf = async (t: TestEngine, id: number): Promise<string[]> =>
  stageHistory(await t.engine.history(id)).map(({ type }) => type);

describe('a lifetime', () => {
  test('3.01 "a job has a lifetime"', async () => {
    const { t, runs } = await everywhere();
    for (const id of Object.values(runs)) {
      const { job } = await t.engine.snapshot(id);
      const events = await t.engine.history(id);
      expect(events[0]).toMatchObject({ kind: 'created', at: job.created });
      expect(!isOpen(job)).toBe(job.state === 'ended' && job.endedAt === events.at(-1)!.at);
    }
  });

  test('3.02 "either being managed by the job system (active), or just a record (done)"', async () => {
    const { t, runs } = await everywhere();
    const active = await Promise.all(Object.values(runs).map(async (id) => isOpen((await t.engine.snapshot(id)).job)));
    expect(active).toEqual([false, false, false, true, true, false]);
    await t.advance('30m');
    expect(await historyOf(t, runs['complete']!)).toEqual(['CREATE', 'QUEUE', 'RUN', 'COMPLETE']);
  });

  test('3.03 "we can also use live and dead, or active and inactive"', async () => {
    const { t } = await everywhere();
    const live = await t.engine.find({ standings: ['pending', 'held', 'running'] });
    const dead = await t.engine.find({ standings: ['succeeded', 'failed', 'cancelled'] });
    expect([live.jobs.map(stageOf), dead.jobs.map(stageOf)]).toEqual([['queue', 'run'], Array(4).fill('done')]);
  });

  test('3.04 "when a job is active, it is in one of three basic states: create, queue, run"', async () => {
    const { t, runs } = await everywhere();
    expect(stages).toEqual(['create', 'queue', 'run', 'done']);
    for (const id of Object.values(runs)) {
      const { job } = await t.engine.snapshot(id);
      expect(stageOf(job) === 'done').toBe(!isOpen(job));
    }
  });

  test('3.05 "when first submitted, if accepted, it is created; this state is very short"', async () => {
    const checked = jobType('checked', { input: typed<number>(), run: () => {} });
    const t = await start({ types: [checked] });
    const run = await t.createJobRun(checked, { input: 1 });
    const [created, queued] = stageHistory(await run.events());
    expect([created, queued]).toEqual([{ type: 'CREATE', at: newYear }, { type: 'QUEUE', at: newYear }]);
    expect((await refusal(t.createJobRun(checked, { input: 1, priority: 0.5 }))).code).toBe('malformed.number');
    expect((await t.engine.find({})).jobs).toHaveLength(1);
  });

  test('3.06 "the job is almost immediately placed into an available job queue"', async () => {
    const t = await start({ types: [quick] });
    const run = await t.createJobRun(quick, { delay: '1m' });
    expect(stageOf(await run.get())).toBe('queue');
  });

  test('3.07 "it will remain in the queue until it reaches the front, at which point it is run"', async () => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const t = await start({ types: [slow], slots: 1 });
    const [first, next] = await t.engine.createJobRuns(slow, [{}, {}]);
    await t.advance('30s');
    expect([stageOf(await first!.get()), stageOf(await next!.get())]).toEqual(['run', 'queue']);
    door.open();
    await t.drain();
    expect(await historyOf(t, next!.id)).toEqual(['CREATE', 'QUEUE', 'RUN', 'COMPLETE']);
  });
});

describe('fates', () => {
  test('3.08 "at any stage the job may be stopped for three basic reasons: its fate"', async () => {
    const { t, runs } = await everywhere();
    const fates = await Promise.all(Object.entries(runs).map(
      async ([name, id]) => `${name} ${fateOf((await t.engine.snapshot(id)).job)}`,
    ));
    expect(fates).toEqual([
      'complete complete', 'error error', 'terminate terminate', 'run null', 'queue null', 'unrun terminate',
    ]);
  });

  test('3.09 "a job may only complete while in the run stage"', async () => {
    const { t, runs } = await everywhere();
    for (const history of legalHistories) if (history.includes('COMPLETE')) expect(history).toContain('RUN');
    expect(await historyOf(t, runs['complete']!)).toEqual(['CREATE', 'QUEUE', 'RUN', 'COMPLETE']);
    expect((await refusal(t.engine.jobs.succeed(runs['queue']!, 1, { by: 'ann' }))).code).toBe('lost.lease');
  });

  test('3.10 "a job may enter the error state from any stage"', async () => {
    const { t, runs } = await everywhere();
    expect(await historyOf(t, runs['error']!)).toEqual(['CREATE', 'QUEUE', 'RUN', 'ERROR']);
    // Handed out once to a worker that was lost, back in the queue, and given up there.
    const { id } = await t.engine.jobs.create({ type: 'elsewhere', policy: { handOutsMax: 1 } }, 'ann');
    const hand = () => t.engine.jobs.claim({
      holder: 'ann', leaseMs: 1000, kinds: ['run'], names: { exact: ['elsewhere'] }, limit: 1,
    });
    await hand();
    await t.advance('10s');
    expect((await t.engine.stage(id)).stage).toBe('queue');
    await hand();
    expect((await t.engine.stage(id)).done).toMatchObject({ fate: 'error', reason: 'crashed' });
    expect(legalHistories).toContainEqual(['CREATE', 'QUEUE', 'ERROR']);
    // While it is created there is nothing to record: who asked is told instead.
    expect(await refusal(t.createJobRun(quick, { delay: 'soon' as never }))).toMatchObject(
      { code: 'malformed.duration' },
    );
  });

  test('3.11 "a job in the error state has error information: an error id, message, and associated data"', async () => {
    const { t, runs } = await everywhere();
    expect((await t.engine.stage(runs['error']!)).done).toEqual({
      at: newYear, fate: 'error', code: 0, reason: 'unknown', message: 'no such file', data: { path: '/x' },
    });
  });

  test('3.12 "terminated by the end user, an administrator, or some software process"', async () => {
    const { t, runs } = await everywhere();
    expect((await t.engine.stage(runs['terminate']!)).done).toMatchObject({
      fate: 'terminate', code: 0, reason: 'user', message: 'changed my mind', by: 'ann',
    });
    expect((await t.engine.stage(runs['unrun']!)).done).toMatchObject({ code: 1, reason: 'admin', by: 'bob' });
    const late = await t.createJobRun(held, { startBy: '1s', dueTime: newYear - minute });
    await t.advance('2s');
    expect((await t.engine.stage(late.id)).done).toMatchObject({ code: 2, reason: 'automation' });
  });

  test('3.13 "then, at some point, the job ends, or is done"', async () => {
    const { t, runs } = await everywhere();
    await t.engine.cancelJobRun(runs['run']!);
    await t.advance('2h');
    for (const id of Object.values(runs)) expect((await t.engine.stage(id)).stage).toBe('done');
  });
});

describe('stages', () => {
  test('3.14 "accept/create, queue, run, done: the job is done forever"', async () => {
    const { t, runs } = await everywhere();
    expect(await historyOf(t, runs['complete']!)).toEqual(['CREATE', 'QUEUE', 'RUN', 'COMPLETE']);
    const before = await t.engine.history(runs['complete']!);
    await t.advance('2h');
    expect(await t.engine.history(runs['complete']!)).toEqual(before);
  });

  test('3.15 "a job may jump from any lifecycle state to done"', async () => {
    const { t, runs } = await everywhere();
    expect(await historyOf(t, runs['unrun']!)).toEqual(['CREATE', 'QUEUE', 'TERMINATE']);
    expect(await historyOf(t, runs['terminate']!)).toEqual(['CREATE', 'QUEUE', 'RUN', 'TERMINATE']);
  });

  test('3.16 "each stage is associated with certain information, cumulative: time created"', async () => {
    const { t, runs } = await everywhere();
    for (const id of Object.values(runs)) expect((await t.engine.stage(id)).create).toEqual({ at: newYear });
    const info = await t.engine.stage(runs['complete']!);
    expect([info.queue, info.run, info.done].every((stage) => stage !== null)).toBe(true);
  });

  test('3.17 "time queued, queue position"', async () => {
    const t = await start({ types: [quick] });
    await t.engine.suspend();
    const runs = await t.engine.createJobRuns(quick, [{}, {}, { priority: 1 }, {}]);
    await t.advance('1s');
    const positions = await Promise.all(runs.map(async ({ id }) => (await t.engine.stage(id)).queue));
    expect(positions).toEqual([1, 2, 0, 3].map((position) => ({ at: newYear, position })));
    await t.engine.resume();
    await t.drain();
    expect((await t.engine.stage(runs[0]!.id)).queue).toEqual({ at: newYear, position: null });
  });

  test('3.18 "time run, log entries"', async () => {
    const chatty = jobType('chatty', {
      run: ({ log, signal }) => { log.info('one'); log.error('two'); return untilTold(signal); },
    });
    const t = await start({ types: [chatty] });
    const run = await t.createJobRun(chatty, { delay: '1h' });
    expect((await t.engine.stage(run.id)).run).toBeNull();
    await t.advance('1h1s');
    const info = await t.engine.stage(run.id);
    expect(info.run?.at).toBe(newYear + hour);
    expect(info.run?.log.map(({ level, text }) => `${level} ${text}`)).toEqual(['info one', 'error two']);
  });

  test('3.19 "time done, fate: success (result data), error (code, message, data), terminate (code)"', async () => {
    const { t, runs } = await everywhere();
    const done = async (name: string) => (await t.engine.stage(runs[name]!)).done;
    expect(await done('complete')).toEqual({ at: newYear, fate: 'complete', result: '{"answer":42}' });
    expect(await done('error')).toMatchObject({
      at: newYear, fate: 'error', code: 0, message: 'no such file', data: { path: '/x' },
    });
    expect(await done('terminate')).toMatchObject({ at: newYear, fate: 'terminate', code: 0 });
    expect(await done('run')).toBeNull();
  });
});

describe('history', () => {
  test('3.20 "job state is recorded as a sequence of job state change events"', async () => {
    const { t, runs } = await everywhere();
    expect(kindsOf(await t.engine.history(runs['terminate']!))).toEqual([
      'created', 'claimed', 'cancelAsked', 'cancelled',
    ]);
    const flaky = jobType('flaky', {
      retry: { base: '1s' },
      taskDetails: () => [1, 2],
      taskResults: ({ run, task }) => { if (task === 2 && run.attempt === 1) throw new Error('not yet'); },
    });
    await t.restart({ types: [flaky, held, quick] });
    const run = await t.createJobRun(flaky);
    await t.advance('1m');
    await run.retry();
    await t.advance('1m');
    const { jobs } = await t.engine.find({}, { limit: 1000 });
    expect(jobs.length).toBeGreaterThan(6);
    for (const { id } of jobs) expect(isLegalHistory(stageHistory(await t.engine.history(id)))).toBe(true);
  });

  test('3.21 "upstream, job state is stored as mutable": here it follows from the events', async () => {
    const { t, runs } = await everywhere();
    for (const id of Object.values(runs)) {
      const { job } = await t.engine.snapshot(id);
      // The result lies beside the history.
      expect(replay(originOf(job), await t.engine.history(id))).toEqual({ ...job, result: null });
    }
  });
});
