// The command line on jobs that were handed off, on queue positions and on leadership.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { until } from '../http/world.ts';
import { Place } from './stint.ts';

test('a run that was handed off is finished with its token or its id, and instances show the leader', async () => {
  using place = new Place();
  const tokens: string[] = [];
  const approval = jobType('approval', {
    retry: { attempts: 1 },
    run: ({ handOff }) => {
      const handed = handOff();
      tokens.push(handed.token);
      return handed;
    },
  });
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const engine = new Engine({ store, types: [approval] });
  await engine.resume();
  const [byToken, byId] = [await engine.createJobRun(approval), await engine.createJobRun(approval)];
  await until(async () => (await engine.get(byToken.id)).state === 'running' && (await engine.get(byId.id)).state === 'running');
  await until(() => tokens.length === 2);
  const token = tokens.find((one) => one.startsWith(`${byToken.id}.`))!;
  const done = await place.stint('runs', 'complete', token, '--result', '{"ok":true}', '--store', store);
  expect(done).toMatchObject({ code: 0, out: `Run ${byToken.id}: succeeded\n` });
  expect(await byToken.result()).toEqual({ ok: true });
  const failed = await place.stint('runs', 'fail', String(byId.id), '--error', 'no', '--why', 'by phone', '--store', store);
  expect(failed).toMatchObject({ code: 0, out: `Run ${byId.id}: failed\n` });
  expect((await byId.events()).at(-1)).toMatchObject({ kind: 'failed', why: 'by phone' });
  const refused = await place.stint('runs', 'complete', `${byToken.id}.1`, '--store', store);
  expect(refused.code).toBe(2);
  await until(async () => (await engine.instances()).some(({ about }) => about.leads));
  const instances = await place.stint('instances', 'ls', '--store', store);
  expect(instances.out).toMatch(/LEADS[^]*yes +yes/);
  await engine.close();
});

test('a waiting run is shown with its position in the queue', async () => {
  using place = new Place();
  const store = ['--store', 'sqlite:jobs.db'];
  await place.stint('migrate', ...store);
  await place.stint('runs', 'create', 'nobody.knows', '--priority', '5', ...store);
  await place.stint('runs', 'create', 'nobody.knows', ...store);
  expect((await place.stint('runs', 'show', '2', ...store)).out).toContain('1 before it');
  const { out } = await place.stint('runs', 'show', '2', '--json', ...store);
  expect(JSON.parse(out)).toMatchObject({ id: 2, queuePosition: 1 });
});
