// The progress of runs with steps: shown from the stored steps, and stored only if it says more than these.
import { expect, test } from 'vitest';
import { jobType, type RunHandle } from '../../src/index.ts';
import type { Context } from '../../src/engine/handler/context.ts';
import type { Progress } from '../../src/model/progress.ts';
import { Door, newYear, start, type TestEngine } from './api/kit.ts';

const stagesOf = (progress: Progress | null) => progress?.processes.flatMap(({ stages }) => stages)
  .map(({ description, status, summary }) => [description, status, summary]);

const shown = async (t: TestEngine, { id }: RunHandle<unknown>): Promise<Progress | null> => (await t.engine.snapshot(id)).progress;
const stored = (t: TestEngine, { id }: RunHandle<unknown>): Promise<string | null> => t.engine.jobs.store.progress(id);

test('a run that sleeps shows its steps, and stores no progress', async () => {
  const type = jobType('sleeper', {
    run: async ({ step, sleep }) => {
      await step('before', () => 1);
      await sleep('nap', '1h');
      await step('after', () => 2);
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  const asleep = await shown(t, run);
  expect(stagesOf(asleep)).toEqual([
    ['before', 'SUCCESS', null],
    ['nap', 'SUCCESS', `sleeps until ${new Date(newYear + 3_600_000).toISOString()}`],
  ]);
  expect(asleep).toMatchObject({ fence: 1, processes: [{ status: 'SUCCESS', startedAt: newYear }] });
  await t.advance('1m');
  expect(await shown(t, run)).toEqual(asleep);
  await t.advance('1h');
  const ended = await shown(t, run);
  expect(stagesOf(ended)).toEqual([
    ['before', 'SUCCESS', 'stored by an earlier attempt'],
    ['nap', 'SUCCESS', 'the sleep is over'],
    ['after', 'SUCCESS', null],
  ]);
  expect(ended).toMatchObject({ fence: 2, processes: [{ status: 'SUCCESS', completedAt: newYear + 3_600_000 }] });
  expect(await stored(t, run)).toBeNull();
});

test('a question that waits for its answer is shown, and then its answer', async () => {
  const type = jobType('asker', { run: ({ waitFor }) => waitFor('ok') });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  expect(stagesOf(await shown(t, run))).toEqual([['ok', 'SUCCESS', 'waits for an answer']]);
  await t.answer(run, 'ok', true);
  await t.advance('1m');
  expect(stagesOf(await shown(t, run))).toEqual([['ok', 'SUCCESS', 'answered']]);
  expect(await stored(t, run)).toBeNull();
});

test('a step that takes long is shown while it runs, and its end is stored, too', async () => {
  const door = new Door();
  const type = jobType('slow', { run: ({ step }) => step('work', () => door.pass()) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect(stagesOf(await shown(t, run))).toEqual([['work', 'RUNNING', null]]);
  door.open();
  await t.advance('1s');
  expect(stagesOf(await shown(t, run))).toEqual([['work', 'SUCCESS', null]]);
  expect(await stored(t, run)).toContain('"work"');
});

test('what a later attempt has reached is shown, not the stored progress of an earlier one', async () => {
  const door = new Door();
  const type = jobType('slow-then-asleep', {
    run: async ({ step, sleep }) => {
      await step('work', () => door.pass());
      await sleep('nap', '1h');
      await step('more', () => 1);
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  door.open();
  await t.advance('1m');
  expect(await stored(t, run)).toContain('sleeps until');
  await t.advance('1h');
  expect(stagesOf(await shown(t, run))).toEqual([
    ['work', 'SUCCESS', 'stored by an earlier attempt'],
    ['nap', 'SUCCESS', 'the sleep is over'],
    ['more', 'SUCCESS', null],
  ]);
});

test('after a failed attempt, the steps of the one that succeeds are shown', async () => {
  const type = jobType('retried', {
    retry: { attempts: 2, base: '1s' },
    run: async ({ step, run }) => {
      await step('first', () => 1);
      await step('second', () => (run.attempt === 1 ? Promise.reject(new Error('no')) : 2));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  expect(await stored(t, run)).toContain('ERROR');
  const progress = await shown(t, run);
  expect(stagesOf(progress)).toEqual([['first', 'SUCCESS', 'stored by an earlier attempt'], ['second', 'SUCCESS', null]]);
  expect(progress).toMatchObject({ fence: 2, processes: [{ status: 'SUCCESS' }] });
});

test.for([
  ['a failed step', async ({ step }) => void (await step('no', () => Promise.reject(new Error('no'))))],
  ['a failed step that the handler catches', async ({ step }) => {
    await step('no', () => Promise.reject(new Error('no'))).catch(() => {});
    await step('yes', () => 1);
  }],
  ['steps that run together', async ({ step }) => void (await Promise.all([step('a', () => 1), step('b', () => 2)]))],
  ['a stage of the handler', async ({ step, progress }) => {
    progress.startingStage('mine');
    progress.completedStage('done');
    await step('a', () => 1);
  }],
  ['an error of the handler after its steps', async ({ step }) => {
    await step('a', () => 1);
    throw new Error('no');
  }],
] satisfies [string, (context: Context) => Promise<void>][])(
  'the progress of a run with %s is stored',
  async ([, run]) => {
    const type = jobType('other', { retry: { attempts: 1 }, run });
    const t = await start({ types: [type] });
    const created = await t.createJobRun(type);
    await t.advance('1m');
    expect(JSON.stringify(await shown(t, created))).toBe(await stored(t, created));
  },
);
