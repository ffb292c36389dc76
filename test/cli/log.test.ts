// The command line on the log of a run: all of its lines, and which attempt has written each.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { Place } from './stint.ts';

test('the log of a run is printed whole, with the fence of each line if there was more than one attempt', async () => {
  using place = new Place();
  const linesEach = 800;
  const wordy = jobType('wordy', {
    retry: { attempts: 2, base: '1ms' },
    run: ({ fence, log }) => {
      for (let n = 1; n <= linesEach; n++) log.info(`line ${n}`);
      if (fence === 1) throw new Error('once more');
    },
  });
  const plain = jobType('plain', { run: ({ log }) => log.info('only') });
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store, types: [plain, wordy] });
  await engine.resume();
  const [run, other] = [await engine.createJobRun(wordy), await engine.createJobRun(plain)];
  await Promise.all([run.result(), other.result()]);
  await engine.close();

  const lines = (await place.stint('runs', 'log', String(run.id), '--store', store)).out.trimEnd().split('\n');
  const numbers = Array.from({ length: linesEach }, (_, index) => index + 1);
  const expected = [1, 2].flatMap((fence) => numbers.map((n) => `info  fence ${fence} line ${n}`));
  expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual(expected);
  const { items } = JSON.parse((await place.stint('runs', 'log', String(run.id), '--json', '--store', store)).out);
  expect(items).toHaveLength(2 * linesEach);
  expect(items.at(-1)).toMatchObject({ fence: 2, text: `line ${linesEach}` });
  expect((await place.stint('runs', 'log', String(other.id), '--store', store)).out).toMatch(/^\S+ info {2}only\n$/);
});
