// The command line on the steps of a run.
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
