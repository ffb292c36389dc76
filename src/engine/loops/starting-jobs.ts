/**
 * Starting jobs: jobs that have a slot and whose attempts have not begun, because something is stored or read before. If
 * the lease may have lapsed meanwhile, other instances may have claimed them: they are released instead.
 */
import type { RunningJob } from '../../model/job.ts';
import type { MaybePromise } from '../../time/maybe-promise.ts';
import { jobsOf, withdrawn, type SlotWork } from '../attempt/job-batch.ts';
import type { InstanceLease } from './lease.ts';

export class StartingJobs {
  readonly #lease: InstanceLease;
  readonly #release: (job: RunningJob) => Promise<void>;
  readonly #work = new Set<SlotWork>();

  /** `release` must not reject. */
  constructor(lease: InstanceLease, release: (job: RunningJob) => Promise<void>) {
    this.#lease = lease;
    this.#release = release;
  }

  /** The claimer must not mistake these jobs for claims that this instance does not know. */
  get jobs(): readonly RunningJob[] {
    return [...this.#work].flatMap(jobsOf);
  }

  /** Calls `start` after `before`, which must not reject. */
  async startAfter(work: SlotWork, before: () => Promise<void>, start: () => MaybePromise<void>): Promise<void> {
    const epochBefore = this.#lease.epoch;
    this.#work.add(work);
    await before();
    this.#work.delete(work);
    if (this.#lease.epoch === epochBefore) await start();
    else await Promise.all(withdrawn(work).map(this.#release));
  }
}
