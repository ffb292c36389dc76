/** The attempts that this process is executing, by job. */
import type { RunningJob } from '../../model/job.ts';
import type { Random } from '../../random.ts';
import type { Holding } from '../../store/store.ts';
import { Attempt } from './attempt.ts';

export class Attempts {
  readonly #random: Random;
  readonly #byJob = new Map<number, Attempt>();
  #started = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get size(): number {
    return this.#byJob.size;
  }

  /** How many attempts have started so far. */
  get started(): number {
    return this.#started;
  }

  values(): Iterable<Attempt> {
    return this.#byJob.values();
  }

  has(id: number): boolean {
    return this.#byJob.has(id);
  }

  get(id: number): Attempt | undefined {
    return this.#byJob.get(id);
  }

  /**
   * Returns the attempt of the job under this fence. Undefined: the job has no attempt here, or its attempt has another
   * fence and so belongs to another claim.
   */
  under({ id, fence }: Holding): Attempt | undefined {
    const attempt = this.#byJob.get(id);
    return attempt?.holding.fence === fence ? attempt : undefined;
  }

  start(job: RunningJob): Attempt {
    const attempt = new Attempt(job, this.#random);
    this.#byJob.set(job.id, attempt);
    this.#started += 1;
    return attempt;
  }

  /** Removes this attempt; a newer attempt of the same job stays. */
  remove(attempt: Attempt): void {
    if (this.#byJob.get(attempt.job.id) === attempt) this.#byJob.delete(attempt.job.id);
  }
}
