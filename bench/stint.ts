/** Stint as a target: `Jobs` on a store with default settings. */
import { Jobs } from '../src/jobs.ts';
import type { RunningJob } from '../src/model/job.ts';
import { PostgresStore } from '../src/store/postgres/store.ts';
import { SqliteStore } from '../src/store/sqlite/store.ts';
import type { Store } from '../src/store/store.ts';
import { unfinishedIn } from './unfinished.ts';
import type { Target, Draft, DatabaseName, NameFilter } from './target.ts';

const holder = `bench-${process.pid}`;
const leaseMs = 60_000;

export async function openStint(database: DatabaseName, location: string): Promise<Stint> {
  const store = database === 'sqlite' ? new SqliteStore(location) : new PostgresStore(location);
  await store.migrate();
  return new Stint(store);
}

export class Stint implements Target<RunningJob> {
  readonly #jobs: Jobs;

  constructor(store: Store) {
    this.#jobs = new Jobs(store);
  }

  async create(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 1) await this.#jobs.create(drafts[0]!, holder);
    else await this.#jobs.createMany(drafts, holder);
  }

  claim(names: NameFilter, limit: number): Promise<readonly RunningJob[]> {
    return this.#jobs.claim({ kinds: ['run'], names, limit, holder, leaseMs });
  }

  async finish(jobs: readonly RunningJob[]): Promise<void> {
    const commands = jobs.map((job) => ({ job, command: { do: 'succeed', fence: job.fence } as const }));
    const answers = await this.#jobs.conclude(commands, { by: holder });
    const refused = answers.find((answer) => answer instanceof Error);
    if (refused) throw refused;
  }

  onWake(call: () => void): () => void {
    return this.#jobs.store.onWake(call);
  }

  reserve(count: number): Promise<number> {
    return this.#jobs.store.reserveIds(count);
  }

  unfinished(): Promise<number> {
    return unfinishedIn(this.#jobs.store);
  }

  close(): Promise<void> {
    return this.#jobs.store.close();
  }
}
