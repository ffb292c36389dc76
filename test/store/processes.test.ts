// Several processes on one SQLite file: every acknowledged event is stored, and every history replays.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../../src/random.ts';
import { Ledger, type AcknowledgedEvent } from '../../src/conformance/ledger.ts';
import { allJobs, checkInFeedOrder, Racer } from '../../src/conformance/races.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

test('two processes race on one file, and every history replays', async () => {
  await raceOf([{ turns: 800 }, { turns: 800 }]);
});

test('four processes that start on an empty file at once migrate it once and race on it', async () => {
  await raceOf(Array.from({ length: 4 }, () => ({ turns: 300 })));
});

async function raceOf(processes: readonly { turns: number }[]): Promise<void> {
  const path = await freshFile();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const ledger = new Ledger();
  const racing = Promise.all(processes.map(({ turns }, index) => racerProcess(path, seed + index, turns)));
  racing.catch(() => {}); // it is awaited below
  const store = new SqliteStore(path, { durability: 'normal' });
  cleanUps.unshift(() => store.close());
  await store.migrate();
  const here = new Racer('the test', store, ledger, seededRandom(seed - 1));
  await here.begin();
  for (const told of await racing) ledger.take(told);
  await here.drain();
  await check(store, ledger, `seed ${seed}`);
}

async function check(store: Store, ledger: Ledger, hint: string): Promise<void> {
  const jobs = await allJobs(store);
  for (const job of jobs) ledger.checkHistory([job, await store.history(job.id)]);
  ledger.checkNoneIsLost(new Set(jobs.map(({ id }) => id)));
  const { events } = await store.eventsAfter(null, 1_000_000);
  expect(events.length, hint).toBe(ledger.acknowledged().length);
  checkInFeedOrder(events, jobs);
}

async function freshFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-test-'));
  cleanUps.push(() => rm(folder, { recursive: true }));
  return join(folder, 'jobs.db');
}

/** Returns the events that were acknowledged to the process. */
function racerProcess(path: string, seed: number, turns: number): Promise<readonly AcknowledgedEvent[]> {
  const script = join(import.meta.dirname, 'racer.ts');
  const child = spawn(process.execPath, [script, path, String(seed), String(turns)], { stdio: 'pipe' });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as AcknowledgedEvent[]);
      else reject(new Error(`a racer ended with ${code}: ${errors}`));
    });
  });
}
