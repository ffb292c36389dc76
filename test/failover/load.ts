// A steady load for the proofs of failover: two engines that work, and producers that note what was acknowledged.
import { Engine, jobType } from '../../src/index.ts';
import type { Job } from '../../src/model/job.ts';
import { openStore } from '../../src/open/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { verify, violationText, type Start } from '../../src/verify.ts';
import type { Figures } from '../support/figures.ts';
import { slowness, waitMs } from '../support/patience.ts';

const producers = 4;
const pauseMs = 20;

/** The lease of the engines, and the time within which work must go on after it. */
export const leaseMs = 5_000 * slowness;
export const recoveryMaxMs = leaseMs + 5_000 * slowness;

export class Load {
  readonly acknowledged = new Set<number>();
  readonly refused: unknown[] = [];
  readonly #type = jobType('work', {
    run: ({ run, fence }) => {
      this.#started.add(run.id);
      this.#starts.push({ job: run.id, fence });
    },
  });
  readonly #started = new Set<number>();
  /** Every call of the handler. */
  readonly #starts: Start[] = [];
  readonly #engines: readonly Engine[];
  readonly #producing: Promise<unknown>;
  #isOver = false;
  #outcome: { readonly lost: number } | null = null;

  private constructor(url: string) {
    const options = { store: url, types: [this.#type], lease: `${leaseMs}ms` } as const;
    this.#engines = [new Engine(options), new Engine(options)];
    this.#producing = Promise.all(Array.from({ length: producers }, (_, index) => this.#produce(index % 2)));
  }

  static async on(url: string): Promise<Load> {
    const store = openStore(url);
    await store.migrate();
    await store.close();
    const load = new Load(url);
    await Promise.all(load.#engines.map((engine) => engine.resume()));
    await load.untilAcknowledged(100);
    return load;
  }

  /** Waits until so many more runs were acknowledged. */
  async untilAcknowledged(more: number): Promise<void> {
    const goal = this.acknowledged.size + more;
    await until(() => this.acknowledged.size >= goal, `${goal} acknowledged runs`);
  }

  /** How long from now on until a run starts that was acknowledged since. */
  async untilStart(): Promise<number> {
    const begun = systemClock.monotonic();
    const before = new Set(this.acknowledged);
    const fresh = (): ReadonlySet<number> => this.acknowledged.difference(before);
    await until(() => !fresh().isDisjointFrom(this.#started), 'the start of a run');
    return systemClock.monotonic() - begun;
  }

  /** Ends the load; returns what is wrong with the store after all runs have ended. */
  async end(directUrl: string): Promise<string[]> {
    this.#isOver = true;
    await this.#producing;
    const store = openStore(directUrl);
    try {
      const ids = [...this.acknowledged];
      await until(async () => (await store.count({ standings: ['pending', 'running'] })).length === 0, 'the last run');
      await Promise.all(this.#engines.map((engine) => engine.close()));
      const found = new Map((await loadAll(ids, (some) => store.load(some))).map((job) => [job.id, job]));
      const isDone = (job?: Job): boolean => job?.state === 'ended' && job.fate === 'succeeded';
      const lost = ids.filter((id) => !isDone(found.get(id)));
      const wrong = lost.map((id) => `run ${id} was acknowledged and has not succeeded`);
      const evidence = { acknowledged: ids, starts: this.#starts };
      for await (const violation of verify(store, { evidence, patienceMs: 0 })) wrong.push(violationText(violation));
      this.#outcome = { lost: lost.length };
      return wrong;
    } finally {
      await store.close();
    }
  }

  /** What came of the load, after its end. `resumedMs`: how long no run started. */
  figures(name: string, resumedMs: readonly number[]): Figures {
    const twice = this.#starts.length - new Set(this.#starts.map(({ job, fence }) => `${job} ${fence}`)).size;
    const named = (what: string): string => `${name}: ${what}`;
    return {
      [named('acknowledged')]: this.acknowledged.size,
      [named('lost')]: this.#outcome?.lost ?? 'unknown',
      [named('started twice under one claim')]: twice,
      [named('starts')]: this.#starts.length,
      [named('refused')]: this.refused.length,
      [named('seconds until a start')]: resumedMs.map((ms) => (ms / 1000).toFixed(1)).join(' and '),
    };
  }

  async #produce(engine: number): Promise<void> {
    while (!this.#isOver) {
      try {
        this.acknowledged.add((await this.#engines[engine]!.createJobRun(this.#type)).id);
      } catch (error) {
        this.refused.push(error);
      }
      await systemClock.sleep(pauseMs);
    }
  }
}

async function loadAll<T>(
  ids: readonly number[],
  load: (some: readonly number[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += 500) found.push(...(await load(ids.slice(at, at + 500))));
  return found;
}

async function until(isReached: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = systemClock.monotonic() + waitMs;
  while (!(await isReached())) {
    if (systemClock.monotonic() > deadline) throw new Error(`waited ${waitMs} ms for ${what}`);
    await systemClock.sleep(10);
  }
}
