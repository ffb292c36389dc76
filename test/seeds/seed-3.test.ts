// Seed 3, "Job state", statement by statement, on SQLite and on PostgreSQL: stages, fates and the events behind them.
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { Fail, fateOf, jobType, RetryAfter, stageHistory, stageOf } from '../../src/index.ts';
import { replay } from '../../src/model/evolve.ts';
import { isOpen } from '../../src/model/job.ts';
import { originOf } from '../../src/store/row.ts';
import { Door, forever, kindsOf, minute, newYear, refused, second, untilTold } from '../engine/api/kit.ts';
import { newToken } from '../http/world.ts';
import { seedStores, type SeedWorld } from './world.ts';

const held = jobType('held', { run: ({ signal, log }) => { log.info('started'); return untilTold(signal); } });
const quick = jobType('quick', { run: () => ({ answer: 42 }) });
const broken = jobType('broken', { run: () => { throw new Fail('no such file', { data: { path: '/x' } }); } });

interface Runs {
  readonly complete: number;
  readonly error: number;
  readonly terminate: number;
  readonly run: number;
  readonly queue: number;
  readonly unrun: number;
}

/** One run in each stage, and one with each fate. */
async function everyStage(world: SeedWorld): Promise<Runs> {
  const engine = await world.start({ types: [held, quick, broken] });
  const runs = {
    complete: (await engine.createJobRun(quick)).id,
    error: (await engine.createJobRun(broken)).id,
    terminate: (await engine.createJobRun(held)).id,
    run: (await engine.createJobRun(held)).id,
    queue: (await engine.createJobRun(quick, { delay: '1h' })).id,
    unrun: (await engine.createJobRun(quick, { delay: '1h' })).id,
  };
  await world.settle();
  await engine.cancelJobRun(runs.terminate, { by: 'ann', why: 'changed my mind' });
  await engine.cancelJobRun(runs.unrun, { by: 'bob', code: 'admin' });
  await world.settle();
  return runs;
}

const jobsOf = async (world: SeedWorld, runs: Runs) =>
  Promise.all(Object.values(runs).map((id: number) => world.engine.get(id)));

const stagesOf = async (world: SeedWorld, id: number): Promise<string[]> =>
  stageHistory(await world.store.history(id)).map(({ type }) => type);

describe.concurrent.each(seedStores)('on $name', ({ test }) => {
  test('3.01 the life of a job begins with its first event and ends with its last', async ({ world }) => {
    const runs = await everyStage(world);
    for (const job of await jobsOf(world, runs)) {
      const events = await world.store.history(job.id);
      expect(events[0]).toMatchObject({ n: 1, kind: 'created', at: job.created });
      expect(events.slice(1).map(({ kind }) => kind)).not.toContain('created');
      expect(job.state === 'ended' ? job.endedAt : null).toBe(isOpen(job) ? null : events.at(-1)!.at);
    }
  });

  test('3.02 a job is active until it is done; a done job is a record that stays as it is', async ({ world }) => {
    const runs = await everyStage(world);
    expect((await jobsOf(world, runs)).map(isOpen)).toEqual([false, false, false, true, true, false]);
    const done = [runs.complete, runs.error, runs.terminate, runs.unrun];
    const before = await Promise.all(done.map((id) => world.engine.get(id)));
    await world.start({ types: [held, quick, broken] });
    await world.advance('1m');
    expect(await Promise.all(done.map((id) => world.engine.get(id)))).toEqual(before);
  });

  test('3.03 active and inactive jobs can be listed separately', async ({ world }) => {
    await everyStage(world);
    const active = await world.engine.find({ standings: ['pending', 'held', 'running'] });
    const inactive = await world.engine.find({ standings: ['succeeded', 'failed', 'cancelled'] });
    expect([active.jobs.map(stageOf), inactive.jobs.map(stageOf)]).toEqual([['queue', 'run'], Array(4).fill('done')]);
  });

  test('3.04 an active job is in the queue or runs, and is never seen in create', async ({ world }) => {
    const flaky = jobType('flaky', {
      retry: { base: '1s' },
      taskDetails: () => [1, 2],
      taskResults: ({ run, task }) => { if (task === 2 && run.attempt === 1) throw new Error('not yet'); },
    });
    const engine = await world.start({ types: [flaky, quick] });
    const reader = await world.reader();
    const seen = new Map<number, Set<string>>();
    world.afterEachCall(engine, async () => {
      for (const job of (await reader.find({ kinds: ['run', 'task'] })).jobs) {
        const stages = seen.get(job.id) ?? new Set();
        seen.set(job.id, stages.add(stageOf(job)));
      }
    });
    await engine.createJobRun(flaky, { delay: '1s' });
    const paused = await engine.createJobRun(quick, { delay: '1h' });
    await engine.pauseJobRun(paused.id);
    await world.advance('20s');
    expect([...seen.values()].map((stages) => [...stages])).toEqual(expect.arrayContaining([['queue', 'run', 'done']]));
    for (const [id, stages] of seen) {
      expect([...stages], `job ${id}`).toEqual(id === paused.id ? ['queue'] : ['queue', 'run', 'done']);
    }
  });

  test('3.05 an HTTP request that is accepted creates a job; one that is refused leaves none', async ({ world }) => {
    const checked = jobType('checked', { input: z.object({ year: z.number() }), run: () => {} });
    await world.add({ types: [checked] });
    const ask = await world.listen();
    const refusedOnes = [
      { type: 'checked', input: { year: 'soon' } },
      { type: 'checked', input: { year: 1 }, priority: 0.5 },
      { input: 1 },
    ];
    const statuses = await Promise.all(refusedOnes.map(async (body) => (await ask('POST', '/runs', body)).status));
    expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
    expect(await world.runs()).toEqual([]);
    const accepted = await ask('POST', '/runs', { type: 'checked', input: { year: 2026 } });
    expect([accepted.status, accepted.body.outcome]).toEqual([201, 'created']);
    const [run] = await world.runs();
    // Creation takes no time of its own: the job was queued in the same commit.
    expect(stageHistory(await world.store.history(run!.id))).toEqual([
      { type: 'CREATE', at: newYear }, { type: 'QUEUE', at: newYear },
    ]);
    expect([run!.id, run!.created]).toEqual([accepted.body.id, newYear]);
  });

  test('3.06 a job is in the queue as soon as its creation has been answered', async ({ world }) => {
    await world.add({ types: [quick] });
    const ask = await world.listen();
    const { body } = await ask('POST', '/runs', { type: 'quick' });
    expect(body.run.words.stage).toBe('queue');
    expect((await world.engine.stage(body.id)).queue).toEqual({ at: newYear, position: 0 });
  });

  test('3.07 a job stays in the queue until it is the first, and then it runs', async ({ world }) => {
    const door = new Door();
    const started: number[] = [];
    const slow = jobType('slow', { run: ({ run }) => { started.push(run.id); return door.pass(); } });
    await world.start({ types: [slow], slots: 1 });
    const first = await world.createJobRun(slow);
    const [last, urgent] = await world.engine.createJobRuns(slow, [{}, { priority: 1 }]);
    const runs = [first, urgent!, last!];
    await world.advance('10s');
    const stages = async () => Promise.all(runs.map(async ({ id }) => stageOf(await world.engine.get(id))));
    expect(await stages()).toEqual(['run', 'queue', 'queue']);
    door.open();
    await world.advance('10s');
    expect(await stages()).toEqual(Array(3).fill('done'));
    expect(started).toEqual(runs.map(({ id }) => id));
  });

  test('3.08 a job that stopped has one of three fates, and an active one has none', async ({ world }) => {
    const runs = await everyStage(world);
    expect((await jobsOf(world, runs)).map(fateOf)).toEqual([
      'complete', 'error', 'terminate', null, null, 'terminate',
    ]);
  });

  test('3.09 only a job that runs can complete', async ({ world }) => {
    const runs = await everyStage(world);
    expect(await stagesOf(world, runs.complete)).toEqual(['CREATE', 'QUEUE', 'RUN', 'COMPLETE']);
    const { jobs } = world.engine;
    for (const id of [runs.queue, runs.unrun, runs.error]) {
      const { fence } = await world.engine.get(id);
      expect(await refused(jobs.succeed(id, Math.max(1, fence), { by: 'ann' }, '1'))).toBe('lost.lease');
    }
    expect(await stagesOf(world, runs.queue)).toEqual(['CREATE', 'QUEUE']);
  });

  test('3.10 a job can fail while it runs and while it waits in the queue', async ({ world }) => {
    const runs = await everyStage(world);
    expect(await stagesOf(world, runs.error)).toEqual(['CREATE', 'QUEUE', 'RUN', 'ERROR']);
    // A worker that may be handed the job once takes it and disappears.
    const { jobs } = world.engine;
    const { id } = await jobs.create({ type: 'elsewhere', policy: { handOutsMax: 1 } }, 'ann');
    const claim = () => jobs.claim({
      holder: 'ann', leaseMs: second, kinds: ['run'], names: { exact: ['elsewhere'] }, limit: 1,
    });
    expect(await claim()).toHaveLength(1);
    await world.advance('10s');
    expect((await world.engine.stage(id)).stage).toBe('queue');
    expect(await claim()).toEqual([]);
    expect((await world.engine.stage(id)).done).toMatchObject({ fate: 'error', reason: 'crashed' });
    expect(kindsOf(await world.store.history(id))).toEqual(['created', 'claimed', 'lapsed', 'failed']);
    // A request that cannot become a job is refused: there is no job that could fail in create.
    expect(await refused(world.createJobRun(quick, { delay: 'soon' as never }))).toBe('malformed.duration');
  });

  test('3.11 a failed job has an error id, a message and data', async ({ world }) => {
    const runs = await everyStage(world);
    expect((await world.engine.stage(runs.error)).done).toEqual({
      at: newYear, fate: 'error', code: 0, reason: 'unknown', message: 'no such file', data: { path: '/x' },
    });
    const slow = jobType('slow', { timeout: '1s', retry: { attempts: 1 }, run: () => forever() });
    const engine = await world.start({ types: [slow] });
    const late = await engine.createJobRun(slow);
    await world.advance('5s');
    expect((await engine.stage(late.id)).done).toMatchObject({ fate: 'error', code: 3, reason: 'timed out' });
  });

  test('3.11 the error id that an application gives to its error is kept', async ({ world }) => {
    const reading = jobType('reading', {
      run: () => { throw Object.assign(new Error('no such file'), { code: 'ENOENT' }); },
      retry: { attempts: 1 },
    });
    await world.start({ types: [reading] });
    const run = await world.createJobRun(reading);
    await world.settle();
    expect((await world.engine.stage(run.id)).done).toMatchObject({ id: 'ENOENT' });
    const ask = await world.listen();
    expect((await ask('GET', `/runs/${run.id}`)).body.error).toMatchObject({ code: 'unknown', id: 'ENOENT' });
  });

  test('3.12 a terminated job names its reason: a user, an administrator or a program', async ({ world }) => {
    const runs = await everyStage(world);
    expect((await world.engine.stage(runs.terminate)).done).toMatchObject({
      fate: 'terminate', code: 0, reason: 'user', message: 'changed my mind', by: 'ann',
    });
    expect((await world.engine.stage(runs.unrun)).done).toMatchObject({ code: 1, reason: 'admin', by: 'bob' });
    const late = await world.createJobRun(held, { startBy: '1s', dueTime: newYear - minute });
    await world.advance('2s');
    expect((await world.engine.stage(late.id)).done).toMatchObject({ code: 2, reason: 'automation', by: 'a' });
    const family = jobType('family', { taskDetails: () => [1], taskResults: ({ signal }) => untilTold(signal) });
    const engine = await world.start({ types: [family] });
    const run = await engine.createJobRun(family);
    await world.settle();
    await run.cancel({ by: 'ann' });
    await world.advance('5s');
    const [task] = await world.tasks(run);
    expect((await engine.stage(task!.id)).done).toMatchObject({ code: 3, reason: 'parent' });
  });

  test('3.12 a user who cancels over HTTP is named as the one who terminated the job', async ({ world }) => {
    const operator = newToken({ name: 'olga', role: 'operator' });
    await world.start({ types: [held] });
    const ask = await world.listen({ tokens: [operator.record] });
    const run = await world.createJobRun(held);
    await world.settle();
    expect((await ask('POST', `/runs/${run.id}/cancel`, { why: 'not needed' }, operator.token)).status).toBe(200);
    await world.advance('5s');
    expect((await world.engine.stage(run.id)).done).toMatchObject({
      fate: 'terminate', reason: 'user', message: 'not needed', by: expect.stringContaining('olga'),
    });
  });

  test('3.12 a cancel over HTTP by an administrator has its own code', async ({ world }) => {
    const admin = newToken({ name: 'ada', role: 'admin' });
    await world.start({ types: [held] });
    const ask = await world.listen({ tokens: [admin.record] });
    const run = await world.createJobRun(held, { delay: '1h' });
    await ask('POST', `/runs/${run.id}/cancel`, {}, admin.token);
    expect((await world.engine.stage(run.id)).done).toMatchObject({ fate: 'terminate', code: 1, reason: 'admin' });
  });

  test('3.13 every job is done at some point', async ({ world }) => {
    const runs = await everyStage(world);
    await world.engine.cancelJobRun(runs.run);
    await world.engine.editJobRun(runs.queue, { due: newYear });
    await world.advance('5s');
    expect((await jobsOf(world, runs)).map(stageOf)).toEqual(Array(6).fill('done'));
  });

  test('3.14 nothing but a retry by an operator opens a done job, and its history stays', async ({ world }) => {
    const runs = await everyStage(world);
    const { engine } = world;
    const act = { by: 'ann' };
    for (const id of [runs.complete, runs.error, runs.terminate]) {
      const before = await engine.get(id);
      const asked = [
        engine.cancelJobRun(id), engine.stopJobRun(id), engine.pauseJobRun(id), engine.resumeJobRun(id),
        engine.jobs.succeed(id, before.fence, act, '1'), engine.jobs.release(id, before.fence, act),
        engine.jobs.fail(id, before.fence, { code: 'unknown', message: '' }, act),
      ];
      const codes = await Promise.all(asked.map(refused));
      expect(codes).toEqual([...Array<string>(4).fill('wrong.state'), ...Array<string>(3).fill('lost.lease')]);
      expect(await engine.get(id)).toEqual(before);
    }
    await world.advance('1m');
    expect(await stagesOf(world, runs.complete)).toEqual(['CREATE', 'QUEUE', 'RUN', 'COMPLETE']);
    await engine.retryJobRun(runs.complete, act);
    await world.advance('10s');
    expect(kindsOf(await world.store.history(runs.complete))).toEqual([
      'created', 'claimed', 'succeeded', 'reopened', 'claimed', 'succeeded',
    ]);
  });

  test('3.15 a job can be done from the queue and from the run stage', async ({ world }) => {
    const runs = await everyStage(world);
    expect(await stagesOf(world, runs.unrun)).toEqual(['CREATE', 'QUEUE', 'TERMINATE']);
    expect(await stagesOf(world, runs.terminate)).toEqual(['CREATE', 'QUEUE', 'RUN', 'TERMINATE']);
  });

  test('3.16 what is known of a stage stays known in the later ones', async ({ world }) => {
    const chatty = jobType('chatty', {
      run: async ({ log }) => { log.info('started'); await world.clock.sleep(10 * second); return 'result'; },
    });
    const engine = await world.start({ types: [chatty] });
    const run = await engine.createJobRun(chatty, { delay: '10s' });
    const known: string[][] = [];
    for (let count = 0; count < 3; count += 1) {
      const { stage, ...info } = await engine.stage(run.id);
      const parts = Object.entries(info).flatMap(([name, part]) => (part ? `${name} ${part.at - newYear}` : []));
      known.push([stage, ...parts]);
      await world.advance('10s');
    }
    expect(known).toEqual([
      ['queue', 'create 0', 'queue 0'],
      ['run', 'create 0', 'queue 0', 'run 10000'],
      ['done', 'create 0', 'queue 0', 'run 10000', 'done 20000'],
    ]);
    expect((await engine.stage(run.id)).run!.log).toHaveLength(1);
  });

  test('3.17 a waiting job has the time at which it was queued and its position in the queue', async ({ world }) => {
    const engine = await world.add({ types: [quick] });
    const runs = await engine.createJobRuns(quick, [{}, {}, { priority: 1 }, {}]);
    await world.advance('1s');
    const places = await Promise.all(runs.map(async ({ id }) => (await engine.stage(id)).queue));
    expect(places).toEqual([1, 2, 0, 3].map((position) => ({ at: newYear, position })));
    await world.passing(engine.resume());
    await world.settle();
    expect((await engine.stage(runs[0]!.id)).queue).toEqual({ at: newYear, position: null });
  });

  test('3.18 a job that runs has the time of its start and its log', async ({ world }) => {
    const chatty = jobType('chatty', {
      run: ({ log, signal }) => { log.info('one'); log.error('two'); return untilTold(signal); },
    });
    const engine = await world.start({ types: [chatty] });
    const run = await engine.createJobRun(chatty, { delay: '10s' });
    expect((await engine.stage(run.id)).run).toBeNull();
    await world.advance('11s');
    const info = await engine.stage(run.id);
    expect(info.run?.at).toBe(newYear + 10 * second);
    expect(info.run?.log.map(({ level, text }) => `${level} ${text}`)).toEqual(['info one', 'error two']);
  });

  test('3.19 a done job has the time of its end, its fate, and the details of that fate', async ({ world }) => {
    const runs = await everyStage(world);
    const done = async (name: keyof Runs) => (await world.engine.stage(runs[name])).done;
    expect(await done('complete')).toEqual({ at: newYear, fate: 'complete', result: '{"answer":42}' });
    expect(await done('error')).toEqual({
      at: newYear, fate: 'error', code: 0, reason: 'unknown', message: 'no such file', data: { path: '/x' },
    });
    expect(await done('terminate')).toMatchObject({
      at: newYear, fate: 'terminate', code: 0, message: 'changed my mind',
    });
    expect([await done('run'), await done('queue')]).toEqual([null, null]);
  });

  test('3.20 every stored change of a job is the outcome of one more event of its history', async ({ world }) => {
    const flaky = jobType('flaky', {
      retry: { base: '1s' },
      taskDetails: () => [1, 2],
      taskResults: ({ run, task }) => { if (task === 2 && run.attempt === 1) throw new RetryAfter('1s'); },
    });
    const engine = await world.start({ types: [flaky, held] });
    const reader = await world.reader();
    const seen = new Map<string, object>();
    world.afterEachCall(engine, async () => {
      const { jobs } = await reader.find({ kinds: ['run', 'task'] }, { limit: 1000 });
      for (const job of jobs) seen.set(`${job.id} ${job.version}`, { ...job, result: null });
    });
    const run = await engine.createJobRun(flaky, { delay: '1s' });
    const other = await engine.createJobRun(held, { delay: '1s' });
    await world.advance('10s');
    await run.retry();
    await other.cancel();
    await world.advance('10s');
    expect(kindsOf(await other.events())).toEqual(['created', 'claimed', 'cancelAsked', 'cancelled']);
    expect(seen.size).toBeGreaterThan(20);
    for (const [key, row] of seen) {
      const [id, version] = key.split(' ').map(Number) as [number, number];
      const events = (await reader.history(id)).slice(0, version);
      expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1));
      expect(replay(originOf(row as never), events), key).toEqual(row);
    }
  });

  test('3.21 the stored row of a job is what its events make of it', async ({ world }) => {
    const runs = await everyStage(world);
    for (const job of await jobsOf(world, runs)) {
      // The result is stored beside the history.
      expect(replay(originOf(job), await world.store.history(job.id))).toEqual({ ...job, result: null });
    }
  });
});
