// The command line on the steps of a run.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Engine, jobType } from '../../src/index.ts';
import { Place } from './stint.ts';

test('the steps of a run are printed with their results', async () => {
  using place = new Place();
  const type = jobType('stepping', { run: ({ step }) => step('plan', () => ({ parts: 2 })) });
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store, types: [type] });
  await engine.resume();
  const run = await engine.createJobRun(type);
  await run.result();
  await engine.close();
  const { out } = await place.stint('runs', 'steps', String(run.id), '--store', store);
  expect(out).toMatch(/^1 +step +plan .*\{"parts":2\}$/m);
  const { items } = JSON.parse((await place.stint('runs', 'steps', String(run.id), '--json', '--store', store)).out);
  expect(items).toMatchObject([{ n: 1, name: 'plan', kind: 'step' }]);
});

test('the questions of runs are listed and answered', async () => {
  using place = new Place();
  const type = jobType('asking', { run: ({ waitFor }) => waitFor('ok', { ask: 'May it?', schema: z.boolean() }) });
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  await using engine = new Engine({ store, types: [type] });
  await engine.resume();
  const run = await engine.createJobRun(type);
  await expect.poll(async () => (await engine.openQuestions()).questions.length).toBe(1);
  expect((await place.stint('runs', 'questions', '--store', store)).out).toMatch(/^1 +asking +ok +operator .*May it\?$/m);
  expect((await place.stint('runs', 'ls', '--store', store)).out).toMatch(/asking .*when answered/);
  const wrong = await place.stint('runs', 'answer', String(run.id), 'ok', '"yes"', '--store', store);
  expect(wrong.err).toContain('does not match its schema');
  expect((await place.stint('runs', 'answer', String(run.id), 'ok', 'true', '--by', 'ada', '--store', store)).out).toContain(`Run ${run.id}: pending`);
  expect(await run.result()).toBe(true);
  expect((await run.events()).find(({ kind }) => kind === 'answered')).toMatchObject({ by: 'ada' });
});
