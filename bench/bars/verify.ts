/**
 * A check of all invariants beside a working engine: how long it takes and how much memory, and what it costs the engine:
 * how fast runs are drained, and how long a single run waits for its handler. The check has a process of its own.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Engine, jobType, typed } from '../../src/index.ts';
import type { Database } from '../database.ts';
import { Fixture } from '../fixture.ts';
import { median } from '../median.ts';
import { storeUrl } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import { percentile } from './beside.ts';
import type { BarSizes } from './sizes.ts';
import { fill } from './verified-jobs.ts';
import type { Verified } from './verify-worker.ts';

const slots = 50;
/** How many runs are drained at a time. */
const drained = 1_000;
/** Between two single runs. */
const pauseMs = 20;

export async function verify(database: Database, { verified: count, verifiedMade, besideMs }: BarSizes): Promise<readonly Bar[]> {
  const fixture = await Fixture.open(await database.createScratch('ours', false), 0);
  try {
    await fill(fixture, count, verifiedMade);
    await fixture.scratch.cleanUp();
    const url = storeUrl(fixture.scratch.address);
    await using work = await Work.open(url);
    const drains = await work.compare(url, besideMs, () => work.drainRate());
    await drains.check.kill();
    const starts = await work.compare(url, besideMs, () => work.startMs());
    const { seconds, peakMB, violations, jobs, events } = await starts.check.verified;
    const of = { database: database.name, bar: null };
    const name = `verify of ${count.toLocaleString('en')} jobs`;
    const rates = [median(drains.beside), median(drains.alone)] as const;
    const ms = (share: number): readonly [number, number] => [percentile(starts.beside, share), percentile(starts.alone, share)];
    const [p50, p99] = [ms(0.5), ms(0.99)];
    return [
      { ...of, title: name, value: seconds, unit: 's', from: `${jobs} jobs with ${events} events, beside an engine that works` },
      { ...of, title: `${name}: peak memory`, value: peakMB, unit: 'MB', bar: { most: 600 }, from: 'resident, of the process' },
      { ...of, title: `${name}: false findings`, value: violations, unit: 'violations', bar: { most: 0 }, from: 'of a store that only Stint has written' },
      {
        ...of, title: `drain beside ${name}, to without`, value: rates[0] / rates[1], unit: '×', bar: { least: 0.5 },
        from: `${rates[0].toFixed(0)} and ${rates[1].toFixed(0)} jobs/s`,
      },
      {
        ...of, title: `start of a single run beside ${name}, to without, p50`, value: p50[0] / p50[1], unit: '×', bar: { most: 2 },
        from: `p50 ${p50.map((each) => each.toFixed(2)).join(' and ')} ms; p99 ${p99.map((each) => each.toFixed(1)).join(' and ')} ms`,
      },
    ];
  } finally {
    await fixture.close();
  }
}

interface Compared {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  /** The check that ran beside. It may still run. */
  readonly check: Check;
}

/** An engine that executes runs which do nothing. */
class Work {
  readonly #engine: Engine;
  readonly #onStart: (index: number) => void;
  #started: (index: number) => void = () => {};

  private constructor(url: string) {
    this.#onStart = (index) => this.#started(index);
    this.#engine = new Engine({ store: url, types: [this.#type], slots });
  }

  readonly #type = jobType('work', { input: typed<number>(), run: ({ input }) => this.#onStart(input) });

  static async open(url: string): Promise<Work> {
    const work = new Work(url);
    await work.#engine.resume();
    for (let rounds = 0; rounds < 5; rounds += 1) await work.drainRate(); // Warms the JIT compiler.
    return work;
  }

  /** Measures for some time without a check, and as long beside one. */
  async compare(url: string, forMs: number, measure: () => Promise<number>): Promise<Compared> {
    const alone = await repeat(measure, () => false, forMs);
    const check = new Check(url);
    await check.begun;
    const beside = await repeat(measure, () => check.isOver, forMs);
    return { alone, beside, check };
  }

  /** Returns the rate at which runs are created and executed. */
  async drainRate(): Promise<number> {
    let left = drained;
    const done = Promise.withResolvers<void>();
    this.#started = () => {
      left -= 1;
      if (left === 0) done.resolve();
    };
    const begun = performance.now();
    await this.#engine.createJobRuns(this.#type, Array.from({ length: drained }, (_, input) => ({ input })));
    await done.promise;
    return (drained / (performance.now() - begun)) * 1000;
  }

  /** Returns how long it takes from the call that creates a run to its handler. */
  async startMs(): Promise<number> {
    await wait(pauseMs);
    const started = Promise.withResolvers<void>();
    this.#started = () => started.resolve();
    const begun = performance.now();
    await this.#engine.createJobRun(this.#type, { input: 0 });
    await started.promise;
    return performance.now() - begun;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#engine.close();
  }
}

/** Measures until it is over or the time has passed, at least once. */
async function repeat(measure: () => Promise<number>, isOver: () => boolean, forMs: number): Promise<readonly number[]> {
  const end = performance.now() + forMs;
  const measured = [await measure()];
  while (performance.now() < end && !isOver()) measured.push(await measure());
  return measured;
}

/** A check in a process of its own. */
class Check {
  /** When it begins to read. */
  readonly begun: Promise<unknown>;
  readonly verified: Promise<Verified>;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #isOver = false;

  constructor(url: string) {
    this.#process = fork(new URL('./verify-worker.ts', import.meta.url), [url]);
    this.#exited = once(this.#process, 'exit');
    const messages = on(this.#process, 'message');
    const failed = this.#exited.then(() => Promise.reject(new Error('the check ended without a result')));
    const next = async (): Promise<unknown> => {
      const { value } = await Promise.race([messages.next(), failed]);
      return (value as readonly unknown[])[0];
    };
    this.begun = next();
    this.verified = this.#result(next);
    this.verified.catch(() => {});
  }

  async #result(next: () => Promise<unknown>): Promise<Verified> {
    try {
      await this.begun;
      return (await next()) as Verified;
    } finally {
      this.#isOver = true;
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }
}
