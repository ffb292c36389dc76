// A process that waits for the result of a run is woken when another process ends the run: it does not depend on polls.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { systemClock, type Clock } from '../../src/time/clock.ts';
import { migratedDatabase } from '../support/fresh-database.ts';

/** A clock whose timers never fire, so that nothing polls. */
const frozen: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  after: () => () => {},
  sleep: () => new Promise(() => {}),
};

test.each(['SQLite', 'PostgreSQL'])('on %s, a waiting process is woken by the end of a run', async (name) => {
  const url = name === 'SQLite' ? `sqlite:${join(await temporaryFolder(), 'jobs.db')}` : await migratedDatabase();
  const release = Promise.withResolvers<string>();
  const gated = jobType('gated', { run: () => release.promise });
  const opener = jobType('opener', { run: () => release.resolve('done') });
  await using worker = new Engine({ store: url, types: [gated, opener] });
  await worker.resume();
  const { store, watched } = watchingStore(openStore(url));
  await using producer = new Engine({ store, clock: frozen });
  const announced = name === 'SQLite' ? null : await announcement(url);

  const run = await producer.createJobRun(gated);
  const result = run.result();
  await watched;
  await announced?.heard;
  // The worker receives the announcement before the wake for this run, because notifications keep their order.
  await producer.createJobRun(opener);
  expect(await result).toBe('done');
});

test('on PostgreSQL, nothing is sent about ends while no process waits', async () => {
  const url = await migratedDatabase();
  const quick = jobType('quick', { run: () => 1 });
  await using worker = new Engine({ store: url, types: [quick] });
  await worker.resume();
  const { client, payloads } = await listener(url);
  onTestFinished(() => client.end());
  const runs = await worker.createJobRuns(quick, [{}, {}, {}]);
  await using reader = new Engine({ store: url });
  for (const { id } of runs) await until(async () => (await reader.get(id)).state === 'ended');
  await client.query('select 1');
  expect(payloads.filter((text) => /wait|ended/.test(text))).toEqual([]);
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-result-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A store, and a promise that resolves when somebody waits for the end of a job. */
function watchingStore(store: Store): { readonly store: Store; readonly watched: Promise<void> } {
  const { promise: watched, resolve } = Promise.withResolvers<void>();
  const proxy = new Proxy(store, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => {
        if (property === 'onEnd') resolve();
        return (member as (...values: unknown[]) => unknown).apply(target, values);
      };
    },
  });
  return { store: proxy, watched };
}

/** Listens for the notification that announces a waiting process. */
async function announcement(url: string): Promise<{ readonly heard: Promise<void> }> {
  const { client } = await listener(url);
  onTestFinished(() => client.end());
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  client.on('notification', ({ payload = '' }) => {
    if (payload.includes('wait ')) resolve();
  });
  return { heard };
}

async function listener(url: string): Promise<{ readonly client: pg.Client; readonly payloads: string[] }> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  const payloads: string[] = [];
  client.on('notification', ({ payload = '' }) => payloads.push(payload));
  await client.connect();
  await client.query('listen stint_wake');
  return { client, payloads };
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await systemClock.sleep(20);
}
