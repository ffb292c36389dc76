/**
 * Sleeping runs beside as many delayed ones: what they take on the disk, how fast other runs are claimed beside them,
 * what an instance costs that has nothing to do but wait for them, and how fast they are executed when they are due.
 * When it is due, a run of either kind is claimed once, its handler returns, and its end is stored.
 *
 * A sleeping run has been started, and its history says so. Its bytes are therefore also compared with those of runs that
 * were started, too, and whose handlers have delayed them (`Snooze`).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Engine, jobType, Snooze, typed } from '../../src/index.ts';
import type { Database } from '../database.ts';
import { Fixture } from '../fixture.ts';
import { totalUs } from '../stopwatch.ts';
import { measureClaims } from '../workloads/backlog.ts';
import { storeUrl } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import type { BarSizes } from './sizes.ts';

const createBatch = 1_000;
const slots = 50;
/** So many runs at most show how long it takes to put one to sleep. */
const pilotMax = 2_000;

type Kind = 'delayed' | 'sleeping' | 'snoozed';

interface Costs {
  readonly diskBytes: number;
  readonly liveBytes: number;
  readonly claimsPerSecond: number;
  /** CPU of the instance and of the server, in percent of a core. */
  readonly idlePercent: number;
  readonly drainPerSecond: number;
}

export async function sleeping(database: Database, sizes: BarSizes): Promise<readonly Bar[]> {
  const delayed = await costsOf(database, 'delayed', sizes);
  const asleep = await costsOf(database, 'sleeping', sizes);
  const snoozedBytes = await bytesOf(database, 'snoozed', sizes.sleeping);
  const name = sizes.sleeping.toLocaleString('en');
  const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  const compare = (what: string, pick: (costs: Costs) => number, bar: Bar['bar'], text: (value: number) => string): Bar => ({
    database: database.name, unit: '×', bar,
    value: pick(asleep) / pick(delayed),
    title: `${name} sleeping runs, to delayed ones: ${what}`,
    from: `${text(pick(asleep))} and ${text(pick(delayed))}`,
  });
  const perSecond = (rate: number): string => `${rate.toFixed(0)} jobs/s`;
  return [
    // A run that sleeps has a stored step, and a history of its first attempt.
    compare('bytes', ({ liveBytes }) => liveBytes, null, mega),
    {
      database: database.name, unit: '×', bar: { most: 1.5 },
      value: asleep.liveBytes / snoozedBytes,
      title: `${name} sleeping runs, to snoozed ones: bytes`,
      from: `${mega(asleep.liveBytes)} and ${mega(snoozedBytes)}`,
    },
    compare('bytes with dead rows', ({ diskBytes }) => diskBytes, null, mega),
    compare('claims of other runs', ({ claimsPerSecond }) => claimsPerSecond, { least: 0.8 }, perSecond),
    compare('CPU of an idle instance', ({ idlePercent }) => idlePercent, { most: 1.5 }, (value) => `${value.toFixed(2)} %`),
    compare('drain when due', ({ drainPerSecond }) => drainPerSecond, { least: 0.8 }, perSecond),
  ];
}

/** Tries again with more time if the runs were due before all was measured. */
async function costsOf(database: Database, kind: Kind, sizes: BarSizes): Promise<Costs> {
  const expectedMs = await estimateMs(database, kind, sizes.sleeping);
  for (let aheadMs = 1.3 * expectedMs + sizes.idleMs + sizes.spareMs; ; aheadMs *= 2) {
    const costs = await costsIfDueIn(aheadMs, database, kind, sizes);
    if (costs !== null) return costs;
  }
}

async function costsIfDueIn(aheadMs: number, database: Database, kind: Kind, sizes: BarSizes): Promise<Costs | null> {
  const fixture = await Fixture.open(await database.createScratch('ours', false), 0);
  try {
    const dueMs = Date.now() + aheadMs;
    await prepare(fixture, kind, sizes.sleeping, () => Math.max(1, dueMs - Date.now()));
    await fixture.scratch.cleanUp();
    const diskBytes = await fixture.scratch.bytes();
    const claims = await measureClaims(fixture, sizes.claimsBeside);
    if (Date.now() + 2 * sizes.idleMs > dueMs) return null;
    const idlePercent = await idle(fixture, sizes.idleMs);
    await fixture.scratch.compact();
    const liveBytes = await fixture.scratch.bytes();
    await wait(Math.max(0, dueMs - Date.now()));
    const drainPerSecond = await drain(fixture, sizes.sleeping);
    return { diskBytes, liveBytes, claimsPerSecond: claims.readings[0]!.value, idlePercent, drainPerSecond };
  } finally {
    await fixture.close();
  }
}

/** What the runs take on the disk. */
async function bytesOf(database: Database, kind: Kind, count: number): Promise<number> {
  const fixture = await Fixture.open(await database.createScratch('ours', false), 0);
  try {
    await prepare(fixture, kind, count, () => hourMs);
    await fixture.scratch.compact();
    return await fixture.scratch.bytes();
  } finally {
    await fixture.close();
  }
}

/** How long it takes to prepare the runs, by a part of them in a database of its own. */
async function estimateMs(database: Database, kind: Kind, count: number): Promise<number> {
  const pilot = Math.min(pilotMax, count);
  const fixture = await Fixture.open(await database.createScratch('ours', false), 0);
  try {
    return ((await prepare(fixture, kind, pilot, () => hourMs)) * count) / pilot;
  } finally {
    await fixture.close();
  }
}

const hourMs = 3_600_000;

/** The type of all kinds. `delayMs`: how long a run sleeps from the start of its handler on. */
const nap = (delayMs: () => number, onStart: () => void, onEnd: () => void) => jobType('nap', {
  input: typed<Kind>(),
  run: async ({ input, sleep }) => {
    onStart();
    if (input === 'sleeping') await sleep('nap', `${Math.ceil(delayMs())}ms`);
    if (input === 'snoozed') throw new Snooze(`${Math.ceil(delayMs())}ms`);
    onEnd();
  },
});

/** Creates runs that are due later, or puts runs to sleep; returns the time that it takes. */
async function prepare({ scratch }: Fixture, kind: Kind, count: number, delayMs: () => number): Promise<number> {
  const allStarted = Promise.withResolvers<void>();
  let left = count;
  const type = nap(delayMs, () => {
    left -= 1;
    if (left === 0) allStarted.resolve();
  }, () => {});
  await using engine = new Engine({ store: storeUrl(scratch.address), types: [type], slots });
  const start = performance.now();
  for (let from = 0; from < count; from += createBatch) {
    const delay = kind === 'delayed' ? { delay: `${Math.ceil(delayMs())}ms` as const } : {};
    const runs = Array.from({ length: Math.min(createBatch, count - from) }, () => ({ input: kind, ...delay }));
    await engine.createJobRuns(type, runs);
  }
  if (kind !== 'delayed') {
    await engine.resume();
    await allStarted.promise;
  }
  await engine.close();
  return performance.now() - start;
}

/** The CPU of an instance whose runs all sleep, and of the server, in percent of a core. */
async function idle({ scratch }: Fixture, ms: number): Promise<number> {
  await using engine = new Engine({ store: storeUrl(scratch.address), types: [nap(() => 1, () => {}, () => {})], slots });
  await engine.resume();
  await wait(ms / 5);
  const read = (): number => totalUs(process.cpuUsage()) + (scratch.serverCpuUs() ?? 0);
  const before = read();
  await wait(ms);
  return (read() - before) / (ms * 10);
}

async function drain(fixture: Fixture, count: number): Promise<number> {
  const drained = Promise.withResolvers<void>();
  let left = count;
  const type = nap(() => 1, () => {}, () => {
    left -= 1;
    if (left === 0) drained.resolve();
  });
  await using engine = new Engine({ store: storeUrl(fixture.scratch.address), types: [type], slots });
  const watch = fixture.stopwatch();
  await watch.time(async () => {
    await engine.resume();
    await drained.promise;
  });
  return watch.rate(count).readings[0]!.value;
}
