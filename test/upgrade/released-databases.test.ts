// Databases that a released version has written: they migrate, everything in them is as before, and their jobs run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, typed, type Event, type Job, type LogLine, type Progress } from '../../src/index.ts';
import { startBedrock } from '../../src/server.ts';
import { PostgresStore } from '../../src/store/postgres/store.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { systemClock, type Clock } from '../../src/time/clock.ts';
import { verify } from '../../src/verify.ts';
import { Client } from '../bedrock/client.ts';
import { freshDatabase } from '../support/fresh-database.ts';

/** What the version that wrote a database read from it. */
interface Written {
  readonly at: number;
  /** The token of the run that was handed off. */
  readonly token: string;
  readonly jobs: readonly WrittenJob[];
}

interface WrittenJob {
  readonly job: Job;
  readonly history: readonly Event[];
  readonly log: readonly LogLine[];
  readonly progress: Progress | null;
}

interface Released {
  readonly name: string;
  /** The version of the schema. */
  readonly schema: number;
  readonly written: Written;
  open(clock: Clock): Promise<Store>;
}

const fileOf = (name: string): Buffer => readFileSync(new URL(`0.1.0/${name}`, import.meta.url));
const writtenIn = (name: string): Written => JSON.parse(gunzipSync(fileOf(name)).toString()) as Written;

const sqlite: Released = {
  name: 'a SQLite file of version 0.1.0',
  schema: 7,
  written: writtenIn('written-sqlite.json.gz'),
  open: async (clock) => {
    const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'jobs.db');
    writeFileSync(path, gunzipSync(fileOf('jobs.db.gz')));
    return new SqliteStore(path, { clock });
  },
};

const postgres: Released = {
  name: 'a PostgreSQL database of version 0.1.0',
  schema: 6,
  written: writtenIn('written-postgres.json.gz'),
  open: async (clock) => {
    const url = await freshDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(fileOf('postgres.sql').toString());
    await client.end();
    return new PostgresStore(url, { clock });
  },
};

const closed: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closed.splice(0).reverse()) await close();
});

describe.each([sqlite, postgres])('$name', (released) => {
  const { written } = released;
  const find = (where: (job: Job) => boolean): readonly Job[] => written.jobs.map(({ job }) => job).filter(where);
  const idOf = (name: string): number => find(({ tags }) => tags?.['case'] === name)[0]!.id;
  const bedrockId = (type: string): number => find((job) => job.type === type)[0]!.id;

  test('is migrated with every job, history, log and progress as before, and verify finds nothing', async () => {
    const store = await released.open(clockFrom(written.at));
    closed.push(() => store.close());
    expect(await store.migrate()).toMatchObject({ from: released.schema });
    expect((await store.find({}, { limit: 1_000 })).jobs).toHaveLength(written.jobs.length);
    for (const { job, history, log, progress } of written.jobs) {
      expect((await store.load([job.id]))[0]).toMatchObject({ ...job });
      expect(await store.history(job.id)).toEqual(history);
      expect(await store.log(job.id)).toMatchObject(log.map((line) => ({ ...line })));
      expect(JSON.parse((await store.progress(job.id)) ?? 'null')).toEqual(progress);
    }
    expect(await Array.fromAsync(verify(store, { patienceMs: 0 }))).toEqual([]);
  });

  test('is migrated by an engine, which executes all jobs that waited or were under way', async () => {
    const digest = find(({ kind, state, plan }) => kind === 'def' && state === 'pending' && plan!.schedules.length > 0)
      .toSorted((one, other) => one.due - other.due)[0]!;
    const store = await released.open(clockFrom(digest.due + 1_000));
    const engine = new Engine({ store, types, retention: null, lease: '1s' });
    closed.push(() => engine.close());
    await engine.resume();

    const resultOf = (name: string): Promise<unknown> => engine.run(idOf(name)).result();
    expect(await resultOf('pending')).toEqual({ hello: 'Grace' });
    expect(await resultOf('waits for a retry')).toBe('attempt 2');
    expect(await resultOf('running')).toBe('attempt 2');
    expect(await resultOf('tasks open')).toEqual({ links: 33, failed: 1 });
    expect(await resultOf('planning')).toBe(3);
    for (const { id } of find(({ type }) => type === 'limited')) expect(await engine.run(id).result()).toBe('done');
    for (const name of ['too late', 'cancel asked']) {
      await expect(resultOf(name)).rejects.toMatchObject({ name: 'RunCancelled' });
    }
    // Tokens of that version have no random bits, so an operator completes what was handed off.
    await expect(engine.complete(written.token, 'approved')).rejects.toMatchObject({ code: 'malformed.id' });
    await engine.completeJobRun(idOf('handed off'), 'approved');
    expect(await resultOf('handed off')).toBe('approved');
    await engine.resumeJobRun(idOf('paused'));
    expect(await resultOf('paused')).toEqual({ hello: 'Edsger' });
    expect(await resultOf('succeeded')).toEqual({ hello: 'Ada' });

    for (const [key, name] of [['while open', 'delayed'], ['for a long time', 'key kept']] as const) {
      const again = await engine.createJobRun(greet, { input: { name: 'again' }, unique: key });
      expect([again.outcome, again.id]).toEqual(['existing', idOf(name)]);
    }
    expect(await engine.explain(idOf('delayed'))).toMatchObject([{ code: 'not.due' }]);
    await expect.poll(async () => (await engine.find({ def: 'digest' })).jobs).toMatchObject([
      { state: 'ended', fate: 'succeeded', tags: { from: 'a schedule' }, tick: { def: digest.id, nominal: digest.due } },
    ]);
    expect((await engine.definition('by hand')).spec).toMatchObject({ priority: 9 });

    const bedrock = await startBedrock({ engine, port: 0 });
    closed.push(() => bedrock.close());
    const client = await Client.connect(bedrock.port);
    const handedOut = async (name: string): Promise<object> =>
      JSON.parse((await client.ask('GetJob', { name })).body) as object;
    expect(await handedOut('b/queued')).toMatchObject({ jobID: bedrockId('b/queued'), data: { n: 1 } });
    expect(await handedOut('b/child')).toMatchObject({ data: { second: true } });
    const [, second] = find(({ type }) => type === 'b/child');
    for (const id of [second!.id, bedrockId('b/running'), bedrockId('b/retry')]) {
      expect(await client.ask('FinishJob', { jobID: id })).toMatchObject({ status: '200 OK' });
    }
    const finishedChildJobs = [{ data: { done: true } }, { data: { second: true } }];
    expect(await handedOut('b/parent')).toMatchObject({ jobID: bedrockId('b/parent'), finishedChildJobs });
    expect(await client.ask('GetJob', { name: 'b/repeat' })).toMatchObject({ status: '404 No job found' });
    client.socket.end();

    await engine.suspend();
    expect(await Array.fromAsync(verify(store, { patienceMs: 0 }))).toEqual([]);
  });
});

/** Real time, from another moment on: no verdict depends on the day on which the test runs. */
function clockFrom(start: number): Clock {
  const offset = start - systemClock.now();
  return { ...systemClock, now: () => systemClock.now() + offset };
}

const attemptOf = { run: ({ run }: { readonly run: { readonly attempt: number } }) => `attempt ${run.attempt}` };

const greet = jobType('greet', {
  input: typed<{ name: string }>(),
  run: ({ input }) => ({ hello: input.name }),
});

/** The types of make.ts, whose handlers end now. */
const types = [
  greet,
  jobType('later', attemptOf),
  jobType('forever', attemptOf),
  jobType('limited', {
    input: typed<{ customer: string }>(),
    concurrency: 3,
    limit: { key: ({ customer }) => customer, concurrency: 1 },
    run: () => 'done',
  }),
  jobType('approve', { run: () => 'approved without asking' }),
  jobType('crawl', {
    input: typed<{ pages: number }>(),
    taskConcurrency: 4,
    taskDetails: ({ input }) => Array.from({ length: input.pages }, (_, index) => ({ page: index + 1 })),
    taskKey: ({ page }) => `page ${page}`,
    taskResults: ({ task }) => ({ links: task.page }),
    jobResults: async ({ tasks, counts }) => {
      let links = 0;
      for await (const { result } of tasks) links += result?.links ?? 0;
      return { links, failed: counts.failed };
    },
  }),
  jobType('planning', { taskDetails: () => [1, 2, 3], taskResults: ({ task }) => task, jobResults: ({ counts }) => counts.total }),
];
