import { expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { testEngine } from '../../src/testing/index.ts';

test('S13: a run that names two of its tasks alike fails at once, with the name, and stores none of them', async () => {
  const twins = jobType('twins', {
    taskDetails: () => ['ann', 'bob', 'ann'],
    taskKey: (task) => task,
    taskResults: () => null,
  });
  await using engine = await testEngine({ types: [twins] });
  const run = await engine.createJobRun(twins);
  await engine.drain();
  const [job] = await engine.runs(twins);
  const message = expect.stringMatching(/two tasks.*"ann"/) as string;
  expect(job).toMatchObject({ id: run.id, fate: 'failed', attempt: 1, error: { message } });
  expect((await engine.engine.snapshot(run.id)).tasks.total).toBe(0);
});
