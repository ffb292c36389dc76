// stint import, on tables as pg-boss has them: the proofs of test/import use the packages themselves.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { Place } from './stint.ts';

const tables = `
  create schema boss;
  create table boss.job (id uuid, name text, priority int default 0, data jsonb, state text default 'created', retry_limit int default 2,
    retry_count int default 0, singleton_key text, start_after timestamptz default '2020-01-01T00:00Z', created_on timestamptz default now(),
    started_on timestamptz, blocked bool default false, blocking bool default false);
  create table boss.schedule (name text, key text default '', kind text default 'cron', cron text, timezone text default 'UTC', data jsonb,
    options jsonb);
  insert into boss.job (id, name, data, state) values
    ('00000000-0000-0000-0000-000000000001', 'mail', '{"to":"a"}', 'created'),
    ('00000000-0000-0000-0000-000000000002', 'mail', '{"to":2}', 'retry'),
    ('00000000-0000-0000-0000-000000000003', 'mail', '{"to":"c"}', 'active'),
    ('00000000-0000-0000-0000-000000000004', 'my thumbs', '{}', 'created'),
    ('00000000-0000-0000-0000-000000000005', 'mail', '{"to":"e"}', 'completed');
  insert into boss.schedule (name, key, kind, cron, timezone, data) values
    ('mail', '', 'cron', '0 3 * * *', 'Europe/Berlin', '{"to":"all"}'), ('mail', 'bad', 'cron', '0 99 * * *', 'UTC', '{"to":"all"}'),
    ('mail', 'rule', 'rrule', 'FREQ=DAILY', 'UTC', '{"to":"all"}');`;

const jobs = `
import { jobType } from '${new URL('../../src/index.ts', import.meta.url).href}';
const schema = { '~standard': { version: 1, vendor: 'test', validate: (value) =>
  (typeof value?.to === 'string' ? { value } : { issues: [{ message: 'to must be a text' }] }) } };
export const mail = jobType('mail', { input: schema, run: () => null });
`;

async function fixture(place: Place) {
  const url = await freshDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(tables);
  await client.end();
  writeFileSync(join(place.folder, 'jobs.mjs'), jobs);
  await place.stint('migrate', '--store', 'sqlite:jobs.db');
  const words = ['import', 'pg-boss', '--from', url, '--schema', 'boss', '--store', 'sqlite:jobs.db', '--jobs', 'jobs.mjs'];
  const runs = async () => (JSON.parse((await place.stint('runs', 'ls', '--json', '--store', 'sqlite:jobs.db')).out) as { items: object[] }).items;
  return { url, runs, stint: (...more: string[]) => place.stint(...words, ...more) };
}

test('a dry run shows what would be created, exists, is refused and is left out, and creates nothing', async () => {
  using place = new Place();
  const { stint, runs } = await fixture(place);
  const { code, out } = await stint('--dry-run', '--refused', 'refused.json');
  expect(code).toBe(3);
  expect(out).toMatch(/^mail +mail +1 +0 +1$/m);
  expect(out).toMatch(/^my thumbs +my thumbs +0 +0 +1$/m);
  expect(out).toContain('Left out: 1 job of mail: a worker executes it');
  expect(out).toMatch(/Refused: job 0{8}-.*2 of mail: malformed\.input: .*to must be a text/);
  expect(out).toContain('of my thumbs: malformed.name: cannot use "my thumbs" as the name of a job type');
  expect(out).toMatch(/Refused: schedule mail bad: malformed\.cron: /);
  expect(out).toMatch(/Refused: schedule mail rule: malformed\.schedule: it is an RRULE/);
  expect(out).toMatch(/^\+ mail$/m);
  expect(out).toContain('Plan: 1 to create, 0 to change, 0 to delete, 0 unchanged');
  expect(out).toContain('Would create 1 run for jobs of pg-boss');
  const refused = readFileSync(join(place.folder, 'refused.json'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as object);
  expect(refused).toMatchObject([{ queue: 'mail', code: 'malformed.input' }, { queue: 'my thumbs', code: 'malformed.name' }]);
  expect(await runs()).toEqual([]);
});

test('an import needs a confirmation, creates each run once, and gives queues the types that were named', async () => {
  using place = new Place();
  const { stint, runs } = await fixture(place);
  const unconfirmed = await stint();
  expect([unconfirmed.code, unconfirmed.err]).toEqual([2, expect.stringContaining('confirm the plan with --yes')]);
  expect(await runs()).toEqual([]);
  const more = ['--yes', '--include-active', '--type', 'my thumbs=images.thumb', '--by', 'ops'];
  const imported = await stint(...more);
  expect(imported.code).toBe(3);
  expect(imported.out).toContain('Created 3 runs for jobs of pg-boss');
  expect(imported.out).toContain('No code has declared these types yet: images.thumb');
  const found = await runs();
  expect(found).toHaveLength(3);
  expect(found).toContainEqual(expect.objectContaining({ type: 'mail', dueAt: Date.UTC(2020, 0, 1) }));
  expect((await stint(...more)).out).toContain('Created 0 runs for jobs of pg-boss');
  expect((await stint(...more, '--source', 'another')).out).toContain('Created 3 runs');
  const defs = await place.stint('defs', 'export', '--store', 'sqlite:jobs.db');
  expect(defs.out).toContain('zone: Europe/Berlin');
});

test('only jobs, only schedules, or only some queues are imported on request', async () => {
  using place = new Place();
  const { stint } = await fixture(place);
  const answer = async (...more: string[]) => JSON.parse((await stint('--dry-run', '--json', ...more)).out) as { queues: { queue: string }[]; schedules: object | null };
  expect(await answer('--only', 'jobs')).toMatchObject({ schedules: null, queues: [{ queue: 'mail' }, { queue: 'my thumbs' }] });
  expect(await answer('--only', 'schedules')).toMatchObject({ queues: [], schedules: { refused: [{}, {}] } });
  expect(await answer('--queue', 'my thumbs')).toMatchObject({ queues: [{ queue: 'my thumbs' }], schedules: null });
});

test('wrong options, a wrong schema and a database that cannot be reached are refused', async () => {
  using place = new Place();
  const { url, stint } = await fixture(place);
  expect(await stint('--only', 'both')).toMatchObject({ code: 2, err: expect.stringContaining('--only must be jobs or schedules') as string });
  expect(await stint('--type', 'mail')).toMatchObject({ code: 2, err: expect.stringContaining('--type must be queue=type') as string });
  expect(await stint('--refused', 'no/such/folder', '--dry-run')).toMatchObject({ code: 2, err: expect.stringContaining('cannot write') as string });
  const without = ['--store', 'sqlite:jobs.db', '--dry-run'];
  expect(await place.stint('import', 'pg-boss', '--from', url, ...without))
    .toMatchObject({ code: 2, err: expect.stringContaining('the schema pgboss has no table job of pg-boss') as string });
  expect(await place.stint('import', 'graphile-worker', '--from', url, ...without))
    .toMatchObject({ code: 2, err: expect.stringContaining('has no table _private_jobs') as string });
  const unreachable = await place.stint('import', 'pg-boss', '--from', 'postgres://127.0.0.1:1/x', ...without);
  expect(unreachable.err).toContain('cannot connect to the database of --from');
  expect(unreachable.code).not.toBe(0);
  expect(await place.stint('import', 'bullmq', '--from', 'redis://127.0.0.1:1', ...without))
    .toMatchObject({ code: 2, err: expect.stringContaining('npm install ioredis') as string });
});

test('the name of a queue may have an equals sign', async () => {
  using place = new Place();
  const { url, stint } = await fixture(place);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`update boss.job set name = 'a=b' where name = 'my thumbs'`);
  await client.end();
  const { out } = await stint('--dry-run', '--json', '--queue', 'a=b', '--type', 'a=b=images.thumb');
  expect(JSON.parse(out)).toMatchObject({ queues: [{ queue: 'a=b', type: 'images.thumb' }], refusedCount: 0 });
});
