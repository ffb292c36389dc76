/** Reading queued jobs. */
import type { Job } from '../../model/job.ts';
import type { Store } from '../../store/store.ts';

/** A queued job that has finished and has no parent does not exist any more for the queue; its history stays. */
export const isGone = (job: Job): boolean =>
  (job.kind !== 'bedrock' && job.kind !== 'mock') ||
  (job.state === 'ended' && job.fate === 'succeeded' && job.parent === null);

export async function queuedJob(store: Store, id: number): Promise<Job | null> {
  const [job] = await store.load([id]);
  return !job || isGone(job) ? null : job;
}
