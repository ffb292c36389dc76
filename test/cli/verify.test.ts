// `stint verify` as a user runs it.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { openStore } from '../../src/open/store.ts';
import { Place } from './stint.ts';

test('verify reports the number of violations and prints each one, with exit code 1', async () => {
  using place = new Place();
  const file = join(place.folder, 'jobs.db');
  const url = `sqlite:${file}`;
  const early = await place.stint('verify', '--store', url);
  expect(early).toMatchObject({ code: 2, err: expect.stringMatching(/stint migrate/) as string });

  const store = openStore(url);
  await store.migrate();
  const { id } = await new Jobs(store).create({ type: 'plain' }, 'producer');
  await store.close();
  const sound = await place.stint('verify', '--store', url);
  expect(sound).toMatchObject({ code: 0, out: 'no violations found in 1 job with 1 event\n' });

  const db = new DatabaseSync(file);
  db.exec('UPDATE job SET priority = 77');
  db.close();
  const told = await place.stint('verify', '--store', url);
  expect(told).toMatchObject({ code: 1, out: expect.stringMatching(/^S26 {2}job 1 .*priority is 77/) as string });

  const { code, out } = await place.stint('verify', '--store', url, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ jobs: 1, events: 1, count: 1, violations: [{ invariant: 'S26', job: id }] });
});
