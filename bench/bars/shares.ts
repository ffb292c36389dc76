/** Runs of a type with fairness, of which as many wait under many keys as under few: a claim must not cost more. */
import { Engine, jobType } from '../../src/index.ts';
import type { Database } from '../database.ts';
import { Fixture } from '../fixture.ts';
import { median } from '../median.ts';
import { storeUrl } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import { timed } from './beside.ts';
import type { BarSizes } from './sizes.ts';

const slots = 10;
const createBatch = 1_000;

export async function shares(database: Database, sizes: BarSizes): Promise<readonly Bar[]> {
  const { fewShares, manyShares, sharedRuns, rounds } = sizes;
  const few = await SharedRuns.open(database, fewShares, manyShares);
  const many = await SharedRuns.open(database, manyShares, manyShares);
  try {
    await few.execute(sharedRuns); // Warms the JIT compiler.
    await many.execute(sharedRuns);
    const pairs: (readonly [number, number])[] = [];
    for (let round = 0; round < rounds; round += 1) pairs.push([await few.execute(sharedRuns), await many.execute(sharedRuns)]);
    const perRun = (side: 0 | 1): string => (median(pairs.map((pair) => pair[side])) / sharedRuns).toFixed(2);
    return [{
      database: database.name, unit: '×', bar: { most: 1.5 }, value: median(pairs.map(([a, b]) => b / a)),
      title: `runs of ${manyShares.toLocaleString('en')} waiting fairness keys, to ${fewShares} keys`,
      from: `${perRun(1)} ms and ${perRun(0)} ms per run`,
    }];
  } finally {
    await Promise.all([few.close(), many.close()]);
  }
}

interface Tenant {
  readonly tenant: string;
}

/** An engine beside runs that wait, which executes some of them at a time. */
class SharedRuns {
  readonly #fixture: Fixture;
  readonly #engine: Engine;
  #left = 0;
  #done = Promise.withResolvers<void>();
  readonly #work = jobType('work', {
    fairness: { key: (input: unknown) => (input as Tenant).tenant },
    run: () => {
      this.#left -= 1;
      if (this.#left === 0) this.#done.resolve();
    },
  });

  private constructor(fixture: Fixture) {
    this.#fixture = fixture;
    this.#engine = new Engine({ store: storeUrl(fixture.scratch.address), types: [this.#work], slots });
  }

  /** Creates this many runs, spread over the keys. */
  static async open(database: Database, keys: number, runs: number): Promise<SharedRuns> {
    const opened = new SharedRuns(await Fixture.open(await database.createScratch('ours', false), 0));
    for (let from = 0; from < runs; from += createBatch) {
      const count = Math.min(createBatch, runs - from);
      await opened.#engine.createJobRuns(opened.#work, Array.from({ length: count }, (_, index) =>
        ({ input: { tenant: `tenant ${(from + index) % keys}` } })));
    }
    return opened;
  }

  /** Returns how many ms it takes to execute this many runs. */
  async execute(count: number): Promise<number> {
    this.#left = count;
    this.#done = Promise.withResolvers<void>();
    const took = await timed(async () => {
      await this.#engine.resume();
      await this.#done.promise;
    });
    await this.#engine.suspend();
    return took;
  }

  async close(): Promise<void> {
    await this.#engine.close();
    await this.#fixture.close();
  }
}
