/** The files of a new project: a job type with a schedule, and a test of both. */

export const jobsModule = `// The jobs of this project. \`npx stint dev\` restarts when you edit this file.
import { cron, jobDef, jobType, typed } from 'stint';

export const greet = jobType('greet', {
  input: typed<{ name: string }>(),
  run: ({ input, log }) => {
    log.info(\`greeting \${input.name}\`);
    return { greeting: \`Hello, \${input.name}!\` };
  },
});

export const everyMorning = jobDef('greet every morning', greet, {
  params: { name: 'world' },
  schedules: cron('0 9 * * *', { zone: 'UTC' }),
});
`;

export const jobsTest = `// Run it with: node --test
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEngine } from 'stint/testing';
import { everyMorning, greet } from './jobs.ts';

test('greets by name', async (context) => {
  const t = await testEngine({ types: [greet] });
  context.after(() => t.close());
  const run = await t.createJobRun(greet, { input: { name: 'Ada' } });
  await t.drain();
  assert.deepEqual(await run.result(), { greeting: 'Hello, Ada!' });
});

test('greets every morning', async (context) => {
  const t = await testEngine({ defs: [everyMorning], now: '2026-01-01T12:00:00Z' });
  context.after(() => t.close());
  await t.advance('2d');
  assert.equal((await t.runs(everyMorning)).length, 2);
});
`;
