/** What a forced stop came to. */
import type { Jobs } from '../../jobs.ts';
import type { Job } from '../../model/job.ts';

export interface StopAnswer {
  readonly job: Job;
  /**
   * `terminated`: its code runs in a thread or process of its own and is ended. `disowned`: its code was told, may go on,
   * and can change nothing any more. `idle`: nothing was running.
   */
  readonly how: 'terminated' | 'disowned' | 'idle';
}

/** What stopping this job now comes to. Those who hold it say whether they isolate its type; who asks need not know it. */
export async function stopWouldBe(jobs: Jobs, id: number): Promise<StopAnswer['how']> {
  const job = await jobs.get(id);
  if (!job || !(await isWorkedOn(jobs, job))) return 'idle';
  // Preparing and gathering are not isolated.
  if (job.state === 'running' && job.phase !== 'run') return 'disowned';
  const now = jobs.store.now();
  const living = (await jobs.store.instances()).filter(({ leaseUntil }) => leaseUntil > now);
  return living.some(({ about }) => about.isolated?.includes(job.type)) ? 'terminated' : 'disowned';
}

/** Whether a handler is at work on the job itself or on one of its tasks. */
async function isWorkedOn(jobs: Jobs, { id, state }: Job): Promise<boolean> {
  if (state === 'running') return true;
  return state === 'held' && (await jobs.count({ parent: id, standings: ['running'] })).length > 0;
}
