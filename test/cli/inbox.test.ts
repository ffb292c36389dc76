// The inbox in the command line: refused requests are listed with their reason, retried and removed.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { until } from '../http/world.ts';
import { Place } from './stint.ts';

test('stint inbox lists refused requests, and retries and removes them', async () => {
  using place = new Place();
  const store = `sqlite:${join(place.folder, 'jobs.db')}`;
  const mail = jobType('mail', { run: () => 'sent' });
  const engine = new Engine({ store, types: [mail] });
  await engine.resume();
  const [id] = await engine.jobs.store.enqueue([{ type: 'mail', input: null, options: '{"priority":"high"}' }]);
  await until(async () => (await engine.inboxRequests({ standing: 'refused' })).length === 1);
  await engine.close();
  const stint = (...words: string[]) => place.stint('inbox', ...words, '--store', store);

  const listed = await stint('ls', '--refused');
  expect(listed.out).toMatch(/mail .*malformed\.number +priority must be a whole number/);
  expect(await stint('retry', String(id))).toMatchObject({ code: 0, out: `Request ${id} waits again.\n` });
  const waiting = JSON.parse((await stint('ls', '--json')).out) as { items: { id: number; refused: unknown }[] };
  expect(waiting.items).toMatchObject([{ id, refused: null }]);
  expect(await stint('rm', String(id))).toMatchObject({ code: 0, out: `Request ${id} removed.\n` });
  const gone = await stint('rm', String(id));
  expect(gone.code).not.toBe(0);
  expect(gone.err).toContain(`there is no request ${id} in the inbox`);
});
