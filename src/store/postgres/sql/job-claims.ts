/**
 * Remembers in which claim each running job was read, so that a change of the job finds it without a search. A job runs
 * in a claim, a row that many jobs share, or has a row of its own. What is remembered may be outdated, like the job
 * itself: the statement that uses it checks it.
 */
import type { Job } from '../../../model/job.ts';

export class JobClaims {
  readonly #numbers = new WeakMap<Job, number>();

  /**
   * Returns the number of the claim in which the job ran when it was read; 0: it had a row of its own; undefined: this
   * process did not read the job from the store.
   */
  of(job: Job): number | undefined {
    return job.state === 'running' ? this.#numbers.get(job) : 0;
  }

  record(job: Job, claim: number): void {
    if (job.state === 'running') this.#numbers.set(job, claim);
  }

  forget(job: Job): void {
    this.#numbers.delete(job);
  }
}
