/** Measures a store with jobs of a temporary type, and removes them afterwards. */
import { Refusal } from '../refusal.ts';
import { openStandings } from '../store/query.ts';
import { jobType, type JobType } from '../engine/declare/job-type.ts';
import { Engine } from '../open.ts';
import { storeUrl } from '../open/store-url.ts';
import { systemRandom } from '../random.ts';
import { systemClock } from '../time/clock.ts';
import { printJson, printLine, printTable, styled } from './print.ts';
import { openCurrent, type CommonFlags } from './session.ts';
import { shownUrl } from './shown-url.ts';

export interface BenchOptions extends CommonFlags {
  readonly jobs: string;
  readonly slots: string;
}

interface BenchResults {
  readonly jobs: number;
  readonly createOneMs: Latencies;
  readonly createPerSecond: number;
  readonly runPerSecond: number;
  readonly startMs: Latencies;
}

interface Latencies {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

const createBatch = 500;
const singles = 100;

export async function bench({ store, json, ...options }: BenchOptions): Promise<void> {
  const url = storeUrl(store);
  const jobs = whole('--jobs', options.jobs, 1_000_000);
  await (await openCurrent(url)).close();
  const work = new BenchWork();
  const engine = new Engine({
    store: url,
    types: [work.type],
    slots: whole('--slots', options.slots, 10_000),
    lease: '30s',
  });
  try {
    await engine.ready();
    const results = await measure(engine, work, jobs);
    if (json) printJson(results);
    else print(results, shownUrl(url));
  } finally {
    await remove(engine, work);
    await engine.close();
  }
}

class BenchWork {
  readonly startedAt = new Map<number, number>();
  readonly type: JobType<unknown>;
  #onStart = (): void => {};

  constructor() {
    this.type = jobType(`stint.bench.${systemRandom.hex(4)}`, {
      run: ({ run }) => {
        this.startedAt.set(run.id, systemClock.monotonic());
        this.#onStart();
      },
    });
  }

  /** Resolves when `startedAt` has `count` jobs, including those that started before this call. */
  until(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onStart = () => {
        if (this.startedAt.size >= count) resolve();
      };
      this.#onStart();
    });
  }
}

async function measure(engine: Engine, work: BenchWork, jobs: number): Promise<BenchResults> {
  const createOneMs = await latenciesOf(singles, async () => void (await engine.createJobRun(work.type, { input: null })));
  const createStart = systemClock.monotonic();
  for (let made = 0; made < jobs; made += createBatch) {
    await engine.createJobRuns(
      work.type,
      Array.from({ length: Math.min(createBatch, jobs - made) }, () => ({ input: null })),
    );
  }
  const createPerSecond = perSecond(jobs, createStart);
  const runStart = systemClock.monotonic();
  await engine.resume();
  await untilEnded(engine, work, singles + jobs);
  const runPerSecond = perSecond(singles + jobs, runStart);
  const startMs = await latenciesOf(singles, async () => {
    const { size } = work.startedAt;
    await engine.createJobRun(work.type, { input: null });
    await work.until(size + 1);
  });
  return { jobs, createOneMs, createPerSecond, runPerSecond, startMs };
}

async function untilEnded(engine: Engine, work: BenchWork, count: number): Promise<void> {
  await work.until(count);
  for (;;) {
    const open = await engine.count({ types: [work.type.name], standings: openStandings });
    if (open.length === 0) return;
    await systemClock.sleep(5);
  }
}

async function latenciesOf(times: number, act: () => Promise<void>): Promise<Latencies> {
  const took: number[] = [];
  for (let count = 0; count < times; count++) {
    const start = systemClock.monotonic();
    await act();
    took.push(systemClock.monotonic() - start);
  }
  took.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(took[Math.min(times - 1, Math.floor(times * share))]! * 100) / 100;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

async function remove(engine: Engine, work: BenchWork): Promise<void> {
  for (;;) {
    const { jobs } = await engine.find({ types: [work.type.name] }, { limit: 1000 });
    if (jobs.length === 0) return;
    await Promise.all(
      jobs.map(async (job) => {
        if (job.state !== 'ended') await engine.stopJobRun(job.id);
        await engine.deleteJobRun(job.id);
      }),
    );
  }
}

const perSecond = (count: number, start: number): number =>
  Math.round(count / ((systemClock.monotonic() - start) / 1000));

function print({ jobs, createOneMs, createPerSecond, runPerSecond, startMs }: BenchResults, url: string): void {
  printLine(styled('bold', `${jobs} jobs on ${url}`));
  const times = ({ p50, p95, p99 }: Latencies): string => `p50 ${p50} ms   p95 ${p95} ms   p99 ${p99} ms`;
  printTable(
    ['MEASUREMENT', 'RESULT'],
    [
      ['create, one at a time', times(createOneMs)],
      [`create, ${createBatch} at a time`, `${createPerSecond} jobs/s`],
      ['claim, run and finish', `${runPerSecond} jobs/s`],
      ['from create to start', times(startMs)],
    ],
  );
}

function whole(flag: string, text: string, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number > 0 && number <= max) return number;
  throw new Refusal('malformed.number', `${flag} must be an integer from 1 to ${max}`, {});
}
