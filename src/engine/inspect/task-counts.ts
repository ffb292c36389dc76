/**
 * Tallies: how the tasks of open runs stand. Counting a hundred thousand takes a while and is asked for by everyone who
 * watches, so that a count which was dear is told again for some time, to all who ask.
 */
import type { Jobs } from '../../jobs.ts';
import { isOpen, type Job } from '../../model/job.ts';
import type { Clock } from '../../time/clock.ts';
import type { TaskCounts } from '../declare/job-type.ts';
import { countTasks } from '../work/phases.ts';

const dearMs = 20;
/** A count is told for so many times as long as it took: watching takes a tenth of the time at most. */
const worth = 10;
const rememberedMax = 100;

export class Tallies {
  readonly #clock: Clock;
  readonly #dear = new Map<number, { readonly counts: TaskCounts; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of(jobs: Jobs, run: Job): Promise<TaskCounts> {
    const start = this.#clock.monotonic();
    const known = this.#dear.get(run.id);
    if (known && isOpen(run) && start < known.until) return known.counts;
    this.#dear.delete(run.id);
    const counts = await countTasks(jobs, run.id);
    const end = this.#clock.monotonic();
    if (isOpen(run) && end - start > dearMs) this.#remember(run.id, { counts, until: end + (end - start) * worth });
    return counts;
  }

  #remember(run: number, counted: { readonly counts: TaskCounts; readonly until: number }): void {
    this.#dear.set(run, counted);
    if (this.#dear.size > rememberedMax) this.#dear.delete(this.#dear.keys().next().value!);
  }
}
