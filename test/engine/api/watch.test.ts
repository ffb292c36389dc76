// Watching a run: its states, its tasks, its progress and its log, as they change.
import { expect, test } from 'vitest';
import { jobType, runState, type RunUpdate } from '../../../src/index.ts';
import { Door, second, start, untilTold, type TestEngine } from './kit.ts';

/** Everything that is seen of a run while time passes. */
async function watched(
  t: TestEngine,
  sights: AsyncGenerator<RunUpdate>,
  duration: '5s' | '20s' = '5s',
): Promise<RunUpdate[]> {
  const seen: RunUpdate[] = [];
  const watching = (async () => { for await (const sight of sights) seen.push(sight); })();
  await t.advance(duration);
  await watching;
  return seen;
}

test('a watch yields the current run, each change, and ends with the run', async () => {
  const slow = jobType('slow', { run: () => t.clock.sleep(2 * second) });
  const t = await start({ types: [slow] });
  const run = await t.createJobRun(slow, { delay: '1s' });
  const seen = await watched(t, run.watch());
  expect(seen.map(({ job }) => runState(job))).toEqual(['PENDING', 'RUNNING', 'DONE']);
});

test('a watch of an ended run yields one update', async () => {
  const quick = jobType('quick', { run: ({ log }) => log.info('quick') });
  const t = await start({ types: [quick] });
  const run = await t.createJobRun(quick);
  await t.drain();
  const seen = await watched(t, run.watch());
  expect(seen.map(({ job, log }) => [runState(job), log.length])).toEqual([['DONE', 1]]);
});

test('a watch yields progress as it grows, and the last progress stays', async () => {
  const staged = jobType('staged', {
    run: async ({ progress }) => {
      progress.startingProcess('all of it');
      progress.startingStage('numbers', { total: 3 });
      await progress.runStage([1, 2, 3], (item) => `number ${item}`, () => t.clock.sleep(second));
      progress.completedProcess('done');
    },
  });
  const t = await start({ types: [staged] });
  const run = await t.createJobRun(staged);
  const seen = await watched(t, run.watch());
  const items = seen.map(
    ({ progress }) => progress?.processes[0]?.stages[0]?.items.filter(({ status }) => status === 'SUCCESS').length ?? 0,
  );
  expect(new Set(items)).toEqual(new Set([0, 1, 2, 3]));
  const { progress } = await t.engine.snapshot(run.id);
  expect(progress?.processes[0]).toMatchObject({
    description: 'all of it', status: 'SUCCESS', summary: 'done', stages: [
      { description: 'numbers', total: 3, status: 'SUCCESS' },
    ],
  });
});

test('a watch yields each log line once, in order, including the last', async () => {
  const chatty = jobType('chatty', {
    run: async ({ log }) => {
      for (let line = 1; line <= 5; line += 1) {
        log.info(`line ${line}`);
        await t.clock.sleep(400);
      }
      log.error('the last');
    },
  });
  const t = await start({ types: [chatty] });
  const run = await t.createJobRun(chatty);
  const seen = await watched(t, run.watch());
  const lines = seen.flatMap(({ log }) => log.map(({ text }) => text));
  expect(lines).toEqual(['line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'the last']);
  expect(seen.filter(({ log }) => log.length > 0).length).toBeGreaterThan(2);
  expect((await run.log({ after: 5 })).map(({ level, text }) => [level, text])).toEqual([['error', 'the last']]);
});

test('a watch yields a long log completely, in several updates', async () => {
  const chatty = jobType('chatty', {
    run: ({ log }) => { for (let line = 0; line < 2500; line += 1) log.debug(String(line)); },
  });
  const t = await start({ types: [chatty] });
  const run = await t.createJobRun(chatty);
  await t.drain();
  const seen = await watched(t, run.watch());
  expect(seen.length).toBeGreaterThan(2);
  const lines = seen.flatMap(({ log }) => log);
  expect(lines.map(({ n }) => n)).toEqual(lines.map((_, index) => index + 1));
});

test('the tasks of a run are counted as they end', async () => {
  const many = jobType('many', {
    taskDetails: () => [1, 2, 3],
    taskResults: ({ task }) => t.clock.sleep(task * second),
  });
  const t = await start({ types: [many] });
  const run = await t.createJobRun(many);
  const seen = await watched(t, run.watch());
  expect([...new Set(seen.map(({ tasks }) => tasks.succeeded))]).toEqual([0, 1, 2, 3]);
});

test('a watcher on another process sees the same, a little later', async () => {
  const door = new Door();
  const slow = jobType('slow', { run: () => door.pass() });
  const t = await start({ types: [slow] });
  const { id } = await t.createJobRun(slow);
  await t.drain();
  t.crash();
  await t.restart();
  door.open();
  const seen = await watched(t, t.engine.run(id).watch(), '20s');
  expect([seen[0], seen.at(-1)].map((sight) => sight?.job.state)).toEqual(['running', 'ended']);
});

test('the progress of a task is its own', async () => {
  const many = jobType('many', {
    taskDetails: () => ['a', 'b'],
    taskResults: ({ task, progress, signal }) => {
      progress.startingProcess(`task ${task}`);
      return untilTold(signal);
    },
  });
  const t = await start({ types: [many] });
  const run = await t.createJobRun(many);
  await t.advance('1s');
  const { jobs } = await t.engine.find({ parent: run.id }, { order: 'oldest' });
  const told = await Promise.all(jobs.map(
    async ({ id }) => (await t.engine.snapshot(id)).progress?.processes[0]?.description,
  ));
  expect(told).toEqual(['task a', 'task b']);
});

test('figures: how the tasks of a run stand, and how long it took', async () => {
  const many = jobType('many', {
    jobDetails: () => t.clock.sleep(2 * second),
    taskDetails: () => [1, 2, 3, 4],
    taskResults: async ({ task }) => { await t.clock.sleep(task * second); if (task === 4) throw new Error('no'); },
    retry: { attempts: 1 },
    jobResults: () => t.clock.sleep(3 * second),
  });
  const t = await start({ types: [many] });
  const run = await t.createJobRun(many);
  await t.advance('4500ms');
  expect(await t.engine.stats(run.id)).toEqual({
    tasksByState: { PENDING: 0, RUNNING: 2, DONE: 2, CANCELLED: 0 },
    tasksTotal: 4,
    tasksSucceeded: 2,
    tasksFailed: 0,
    percentDone: 50,
    percentSuccess: null,
    totalMs: null,
    prepareMs: 2 * second,
    finalizeMs: null,
  });
  await t.advance('10s');
  expect(await t.engine.stats(run.id)).toMatchObject({
    tasksByState: { DONE: 4 }, tasksFailed: 1, percentDone: 100, percentSuccess: 75,
    totalMs: 9 * second, finalizeMs: 3 * second,
  });
});

test('a run whose handler does not await a stage fails, and says what to do', async () => {
  const hasty = jobType('hasty', {
    retry: { attempts: 1 },
    run: ({ progress }) => {
      void progress.runStage([1, 2, 3], String, () => t.clock.sleep(second));
      return 'done';
    },
  });
  const t = await start({ types: [hasty] });
  const run = await t.createJobRun(hasty);
  await t.advance('1m');
  expect((await run.get()).error?.message).toMatch(/^the handler returned while a stage was running: await/);
});

test('log lines and the progress tree tell which claim wrote them, after a crash too', async () => {
  const isReported = [true, false, true];
  const fragile = jobType('fragile', {
    run: ({ fence, log, progress, signal }) => {
      log.info(`claim ${fence}`);
      if (isReported[fence - 1]) progress.startingStage(`stage of claim ${fence}`);
      return untilTold(signal);
    },
  });
  const t = await start({ types: [fragile] });
  const run = await t.createJobRun(fragile);
  const seen: unknown[] = [];
  for (let claim = 1; claim <= 3; claim++) {
    await t.advance('1m');
    const { job, progress } = await t.engine.snapshot(run.id);
    const stages = progress?.processes.flatMap(({ stages: all }) => all.map(({ description }) => description));
    seen.push([job.fence, progress?.fence, stages]);
    t.crash();
    await t.restart();
  }
  expect(seen).toEqual([[1, 1, ['stage of claim 1']], [2, 1, ['stage of claim 1']], [3, 3, ['stage of claim 3']]]);
  expect((await run.log()).map(({ text, fence }) => [text, fence])).toEqual([['claim 1', 1], ['claim 2', 2], ['claim 3', 3]]);
});
