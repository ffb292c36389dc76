/** Reading Bedrock jobs. */
import type { Job } from '../../model/job.ts';
import type { Store } from '../../store/store.ts';

/**
 * Whether a job does not exist for Bedrock clients: it is no Bedrock job, or it has succeeded and has no parent.
 * Bedrock deletes a job that has succeeded; here the job stays stored with its history.
 */
export const isGone = (job: Job): boolean =>
  (job.kind !== 'bedrock' && job.kind !== 'mock') ||
  (job.state === 'ended' && job.fate === 'succeeded' && job.parent === null);

export async function queuedJob(store: Store, id: number): Promise<Job | null> {
  const [job] = await store.load([id]);
  return !job || isGone(job) ? null : job;
}
