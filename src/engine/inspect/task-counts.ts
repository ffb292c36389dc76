/** Task counts: how many tasks a run has, and how they ended; expensive counts are cached. */
import type { Jobs } from '../../jobs.ts';
import { isOpen, type Job } from '../../model/job.ts';
import type { Clock } from '../../time/clock.ts';
import type { TaskCounts } from '../declare/job-type.ts';

export async function countTasks(jobs: Jobs, run: number): Promise<TaskCounts> {
  const tallies = await jobs.count({ parent: run });
  const sum = (standing?: string): number =>
    tallies.reduce(
      (all, tally) => (standing === undefined || tally.standing === standing ? all + tally.count : all), 0,
    );
  return { total: sum(), succeeded: sum('succeeded'), failed: sum('failed'), cancelled: sum('cancelled') };
}

const expensiveMs = 20;
/** A count that took 1 s is cached for 10 s, so watching a run occupies the store for about a tenth of the time. */
const cacheFactor = 10;
const cachedMax = 100;

/** Caches slow counts of open runs: every watcher of a run asks for its count, and counting 100,000 tasks is slow. */
export class TaskCountCache {
  readonly #clock: Clock;
  readonly #expensive = new Map<number, { readonly counts: TaskCounts; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async count(jobs: Jobs, run: Job): Promise<TaskCounts> {
    const start = this.#clock.monotonic();
    const known = this.#expensive.get(run.id);
    if (known && isOpen(run) && start < known.until) return known.counts;
    this.#expensive.delete(run.id);
    const counts = await countTasks(jobs, run.id);
    const end = this.#clock.monotonic();
    const tookMs = end - start;
    if (isOpen(run) && tookMs > expensiveMs) this.#cache(run.id, { counts, until: end + tookMs * cacheFactor });
    return counts;
  }

  #cache(run: number, counted: { readonly counts: TaskCounts; readonly until: number }): void {
    this.#expensive.set(run, counted);
    if (this.#expensive.size > cachedMax) this.#expensive.delete(this.#expensive.keys().next().value!);
  }
}
