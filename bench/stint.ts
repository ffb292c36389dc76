/** Stint as a contender: the door of jobs on a store, with the settings that a user gets. */
import { Jobs } from '../src/jobs.ts';
import type { RunningJob } from '../src/model/job.ts';
import { PostgresStore } from '../src/store/postgres/store.ts';
import { SqliteStore } from '../src/store/sqlite/store.ts';
import type { Store } from '../src/store/store.ts';
import { unfinishedIn } from './unfinished.ts';
import type { Contender, Draft, EngineName, Names } from './contender.ts';

const holder = `bench-${process.pid}`;
const leaseMs = 60_000;

export async function openStint(engine: EngineName, at: string): Promise<Stint> {
  const store = engine === 'sqlite' ? new SqliteStore(at) : new PostgresStore(at);
  await store.migrate();
  return new Stint(store);
}

export class Stint implements Contender<RunningJob> {
  readonly #jobs: Jobs;

  constructor(store: Store) {
    this.#jobs = new Jobs(store);
  }

  async create(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 1) await this.#jobs.create(drafts[0]!, holder);
    else await this.#jobs.createMany(drafts, holder);
  }

  claim(names: Names, limit: number): Promise<readonly RunningJob[]> {
    return this.#jobs.claim({ kinds: ['run'], names, limit, holder, leaseMs });
  }

  async finish(jobs: readonly RunningJob[]): Promise<void> {
    const asks = jobs.map((job) => ({ job, command: { do: 'succeed', fence: job.fence } as const }));
    const answers = await this.#jobs.conclude(asks, { by: holder });
    const refused = answers.find((answer) => answer instanceof Error);
    if (refused) throw refused;
  }

  onWake(call: () => void): () => void {
    return this.#jobs.store.onWake(call);
  }

  reserve(count: number): Promise<number> {
    return this.#jobs.store.reserve(count);
  }

  unfinished(): Promise<number> {
    return unfinishedIn(this.#jobs.store);
  }

  close(): Promise<void> {
    return this.#jobs.store.close();
  }
}
