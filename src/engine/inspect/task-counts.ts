/**
 * Task counts of open runs. Counting a hundred thousand tasks takes a while, and every watcher needs the count, so an
 * expensive count is cached for ten times as long as it took.
 */
import type { Jobs } from '../../jobs.ts';
import { isOpen, type Job } from '../../model/job.ts';
import type { Clock } from '../../time/clock.ts';
import type { TaskCounts } from '../declare/job-type.ts';
import { countTasks } from '../work/phases.ts';

const expensiveMs = 20;
/** A count is cached for this many times as long as it took: watching takes a tenth of the time at most. */
const cacheFactor = 10;
const cachedMax = 100;

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
    if (isOpen(run) && end - start > expensiveMs) this.#cache(run.id, { counts, until: end + (end - start) * cacheFactor });
    return counts;
  }

  #cache(run: number, counted: { readonly counts: TaskCounts; readonly until: number }): void {
    this.#expensive.set(run, counted);
    if (this.#expensive.size > cachedMax) this.#expensive.delete(this.#expensive.keys().next().value!);
  }
}
