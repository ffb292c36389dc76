/** Delivers cancels: aborts the attempts of cancelled jobs, and stops jobs that did not give up in time. */
import { stopJob } from '../../jobs/operate.ts';
import type { Jobs } from '../../jobs.ts';
import type { Attempt } from '../work/attempt.ts';

export interface CancelDeliveryParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly attempts: ReadonlyMap<number, Attempt>;
}

export async function deliverCancels(parts: CancelDeliveryParts, ids: readonly number[]): Promise<void> {
  const { jobs, attempts } = parts;
  for (const job of await jobs.store.load(ids)) {
    if (job.cancel === null || job.state === 'ended') continue;
    attempts.get(job.id)?.cancel(job.cancel.why ?? `cancelled by ${job.cancel.by}`);
    if (job.cancel.stopAt !== null && job.cancel.stopAt <= jobs.store.now()) await stop(parts, job.id);
  }
}

/** The grace period has passed: the job ends, even if its handler is still running. */
async function stop({ jobs, by, attempts }: CancelDeliveryParts, id: number): Promise<void> {
  await stopJob(jobs.store, id, { by, code: 'automation', why: 'did not give up in time' });
  attempts.get(id)?.revoke();
}
