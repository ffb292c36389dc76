// A crash at every await of `complete`: the table of effects equals the outcomes, none double and none missing.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, type Context, type Job } from '../../src/index.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { verify } from '../../src/verify.ts';
import { newYear } from '../engine/api/kit.ts';
import { CrashingStore } from './crashing-store.ts';

type Complete = Pick<Context, 'complete' | 'run'>;

/** Writes two effects and completes with what it wrote. */
async function shipping({ complete, run }: Complete): Promise<string> {
  const text = `run ${run.id}, attempt ${run.attempt}`;
  return complete(async (tx) => {
    await tx.query('insert into effects values ($1, $2)', [run.id, text]);
    await tx.query('insert into effects values ($1, $2)', [run.id, text]);
    return text;
  });
}

/** The types by how they complete. Each calls `onStart` before. */
const kinds = {
  'a run': (onStart: () => void) => jobType('ship', {
    run: (context) => {
      onStart();
      return shipping(context);
    },
  }),
  'the results of tasks': (onStart: () => void) => jobType('ship', {
    taskDetails: () => [1, 2],
    taskResults: ({ task }) => task,
    jobResults: (context) => {
      onStart();
      return shipping(context);
    },
  }),
};

type TypeOf = (typeof kinds)[keyof typeof kinds];

/** In virtual time: more than a repair takes. */
const patienceMs = 600_000;

interface Outcome {
  readonly isCrashed: boolean;
  readonly job: Job;
  readonly effects: readonly string[];
  readonly violations: readonly unknown[];
}

async function crashAt(at: number, typeOf: TypeOf): Promise<Outcome> {
  const path = join(await folder(), `${at}.db`);
  const own = new DatabaseSync(path);
  own.exec('CREATE TABLE effects(run INTEGER, text TEXT)');
  const clock = new VirtualClock(newYear);
  const open = (): SqliteStore => new SqliteStore(path, { clock, durability: 'normal' });
  const crashing = new CrashingStore(open());
  const first = new Engine({ store: crashing.store, clock, instance: 'first', types: [typeOf(() => crashing.arm(at))] });
  const store = open();
  const second = new Engine({ store, clock, instance: 'second', types: [typeOf(() => {})] });
  const advanceUntil = async (isOver: () => Promise<boolean>): Promise<void> => {
    for (const end = clock.now() + patienceMs; !(await isOver()); ) {
      if (clock.now() > end) throw new Error(`stuck after a crash at await ${at}`);
      await clock.advance(500);
      for (let turns = 0; turns < 6; turns += 1) await turn();
    }
  };
  const isEnded = async (): Promise<boolean> => (await store.load([id]))[0]?.state === 'ended';
  let isResumed = false;
  void first.resume().then(() => (isResumed = true));
  await advanceUntil(async () => isResumed);
  const { id } = await second.createJobRun(typeOf(() => {}));
  await advanceUntil(async () => crashing.isDead || (await isEnded()));
  const isCrashed = crashing.isDead;
  if (isCrashed) void second.resume();
  await advanceUntil(isEnded);
  const effects = own.prepare('SELECT text FROM effects').all().map(({ text }) => String(text));
  const violations = await Array.fromAsync(verify(store, { patienceMs: 0 }));
  const job = (await store.load([id]))[0]!;
  crashing.arm(1); // whatever the engines still do, nothing comes back
  own.close();
  await store.close();
  return { isCrashed, job, effects, violations };
}

let shared: Promise<string> | undefined;

/** A folder for all files of a test. */
function folder(): Promise<string> {
  shared ??= mkdtemp(join(tmpdir(), 'stint-crash-')).then((path) => {
    onTestFinished(async () => {
      shared = undefined;
      await rm(path, { recursive: true });
    });
    return path;
  });
  return shared;
}

test.each(Object.entries(kinds))('%s completes once, wherever the process crashes', async (_, typeOf) => {
  let crashes = 0;
  for (let isCrashed = true; isCrashed; crashes += 1) {
    const outcome = await crashAt(crashes + 1, typeOf);
    ({ isCrashed } = outcome);
    const { job, effects, violations } = outcome;
    expect(job).toMatchObject({ state: 'ended', fate: 'succeeded' });
    const text = JSON.parse(job.state === 'ended' ? job.result! : '') as string;
    expect({ at: crashes + 1, effects, violations }).toEqual({ at: crashes + 1, effects: [text, text], violations: [] });
  }
  expect(crashes).toBeGreaterThan(12);
});
