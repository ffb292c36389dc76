// The command line on the output of a run.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { Place } from './stint.ts';

test('the output of a run is printed without what was replaced, from a position on, and followed to its end', async () => {
  using place = new Place();
  const type = jobType('telling', {
    retry: { attempts: 2, base: '1ms' },
    run: async ({ output, run }) => {
      for (const chunk of ['once ', 'upon\n', { attempt: run.attempt }, '\u001b[2J']) await output.write(chunk);
      if (run.attempt < 3) throw new Error('no');
    },
  });
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store, types: [type] });
  await engine.resume();
  const run = await engine.createJobRun(type);
  await run.result().catch(() => {});
  await engine.close();
  const ask = (...flags: string[]) => place.stint('runs', 'output', String(run.id), '--store', store, ...flags);
  const text = (attempt: number): string => `once upon\n{"attempt":${attempt}}\n\\u001b[2J`;
  expect((await ask()).out).toBe(text(2));
  expect((await ask('--after', '2.2')).out).toBe('{"attempt":2}\n\\u001b[2J');
  const { items } = JSON.parse((await ask('--json')).out) as { items: { position: string }[] };
  expect(items.map(({ position }) => position)).toEqual(['1.1', '1.2', '1.3', '1.4', '2.1', '2.2', '2.3', '2.4']);
  const followed = await ask('--follow');
  expect(followed).toMatchObject({ out: text(1) + text(2), code: 3 });
  expect(followed.err).toContain('the handler starts over, fence 2');
  expect((await ask('--after', 'x')).err).toContain('is no position of an output');
});
