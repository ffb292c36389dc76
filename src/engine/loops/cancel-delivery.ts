/**
 * Cancel delivery: aborts the attempts of cancelled jobs, ends cancelled jobs that wait for others of their batch, and
 * stops jobs whose grace period has passed.
 */
import { stopJob } from '../../jobs/operate.ts';
import type { Jobs } from '../../jobs.ts';
import type { RunningJob } from '../../model/job.ts';
import type { Holding } from '../../store/store.ts';
import type { Attempts } from '../attempt/attempts.ts';
import type { Gathering } from './gathering.ts';

export interface CancelDeliveryParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly attempts: Attempts;
  readonly gathering: Gathering;
  /** Releases a job that has not started. Must not reject. */
  readonly release: (job: RunningJob) => Promise<void>;
}

export class CancelDelivery {
  readonly #parts: CancelDeliveryParts;

  constructor(parts: CancelDeliveryParts) {
    this.#parts = parts;
  }

  async deliver(ids: readonly number[]): Promise<void> {
    const { jobs: { store }, attempts } = this.#parts;
    for (const { id, fence, state, cancel } of await store.load(ids)) {
      if (cancel === null || state === 'ended') continue;
      await this.#endGathered({ id, fence });
      attempts.get(id)?.cancel(cancel.why ?? `cancelled by ${cancel.by}`);
      if (cancel.stopAt !== null && cancel.stopAt <= store.now()) await this.#stop(id);
    }
  }

  /** Releases the job if it is gathered. A job that was asked to cancel ends with its release. */
  async #endGathered(holding: Holding): Promise<void> {
    const { gathering, release } = this.#parts;
    const job = gathering.remove(holding);
    if (job !== null) await release(job);
  }

  async #stop(id: number): Promise<void> {
    const { jobs, by, attempts } = this.#parts;
    await stopJob(jobs.store, id, { by, code: 'automation', why: 'did not give up in time' });
    attempts.get(id)?.revoke();
  }
}
