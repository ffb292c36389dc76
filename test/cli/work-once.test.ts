// `stint work --once`: works until nothing that is due can start, and says by its exit code whether something failed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { Place } from './stint.ts';

const jobs = `
import { every, jobDef, jobType } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
export const mail = jobType('mail', { run: () => 'sent' });
export const squares = jobType('squares', { *taskDetails() { yield 1; yield 2; }, taskResults: ({ task }) => task, jobResults: () => 0 });
export const later = jobType('later', { run: () => { throw new Error('later'); } });
export const broken = jobType('broken', { run: () => { throw new Error('no'); } });
export const limited = jobType('limited', { concurrency: 1, run: () => {} });
`;

const names = ['mail', 'squares', 'limited', 'other'];
const [mail, squares, limited, other] = names.map((name) => jobType(name, { run: () => {} }));
// A run has the retries of the program that created it.
const later = jobType('later', { retry: { attempts: 2, base: '1h', backoff: 'fixed' }, run: () => {} });
const broken = jobType('broken', { retry: { attempts: 1 }, run: () => {} });

async function world(place: Place, store: string) {
  writeFileSync(join(place.folder, 'jobs.ts'), jobs);
  const engine = new Engine({ store, types: [mail!, squares!, later, broken, limited!, other!] });
  const states = async (): Promise<Record<string, string[]>> => {
    const { jobs: found } = await engine.find({ kinds: ['run'], types: [...names, 'later', 'broken'] }, { order: 'oldest' });
    const all = Object.groupBy(found, ({ type }) => type);
    return Object.fromEntries(Object.entries(all).map(([type, runs]) => [type, runs!.map((run) => (run.state === 'ended' ? run.fate : run.state))]));
  };
  const once = (...words: string[]) => place.stint('work', '--once', '--jobs', 'jobs.ts', '--store', store, ...words);
  return { engine, states, once };
}

const stores: [string, (place: Place) => Promise<string>][] = [
  ['SQLite', async (place) => `sqlite:${join(place.folder, 'jobs.db')}`],
  ['PostgreSQL', async () => migratedDatabase()],
];

test.each(stores)('on %s, it executes all due runs of its types, with their tasks, and leaves the others', async (_name, open) => {
  using place = new Place();
  const { engine, states, once } = await world(place, await open(place));
  await Promise.all(Array.from({ length: 50 }, () => engine.createJobRun(mail!)));
  await engine.createNamed({ type: 'squares' }, {});
  for (const type of [limited!, limited!, other!]) await engine.createJobRun(type);
  await engine.createJobRun(mail!, { delay: '1h' });
  await engine.jobs.store.enqueue([{ type: 'mail', input: null, options: '{}' }]);
  const ended = await once();
  expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/Nothing that is due can start: \d+ jobs succeeded, 0 failed/) as unknown });
  const { mail: mails, ...rest } = await states();
  expect(mails!.filter((state) => state === 'succeeded')).toHaveLength(51);
  expect(mails!.filter((state) => state === 'pending')).toHaveLength(1);
  expect(rest).toEqual({ squares: ['succeeded'], limited: ['succeeded', 'succeeded'], other: ['pending'] });
  await engine.close();
}, 60_000);

test('it exits with 3 if a run has failed for good, not if it waits for its retry, and with 0 if nothing is due', async () => {
  using place = new Place();
  const { engine, states, once } = await world(place, `sqlite:${join(place.folder, 'jobs.db')}`);
  expect((await once()).code).toBe(0);
  await engine.createJobRun(later);
  expect((await once()).code).toBe(0);
  await engine.createJobRun(broken);
  expect(await once()).toMatchObject({ code: 3, out: expect.stringContaining('0 jobs succeeded, 1 failed') as unknown });
  expect(await states()).toEqual({ later: ['pending'], broken: ['failed'] });
  await engine.close();
});

test('it does not wait for paused types or limits, and refuses a share of the work', async () => {
  using place = new Place();
  const { engine, states, once } = await world(place, `sqlite:${join(place.folder, 'jobs.db')}`);
  await engine.createJobRun(mail!);
  await engine.pauseType('mail', { by: 'ada', why: 'broken' });
  expect((await once()).code).toBe(0);
  expect(await states()).toEqual({ mail: ['pending'] });
  expect(await once('--canary', '0.5')).toMatchObject({ code: 2, err: expect.stringContaining('use only one of --once and --canary') as unknown });
  await engine.close();
});
