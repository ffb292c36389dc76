/** What a forced stop came to. */
import type { Jobs } from '../jobs.ts';
import type { Job } from '../model/job.ts';

export interface StopAnswer {
  readonly job: Job;
  /**
   * `terminated`: its code runs in a thread or process of its own and is ended. `disowned`: its code was told, may go on,
   * and can change nothing any more. `idle`: nothing was running.
   */
  readonly how: 'terminated' | 'disowned' | 'idle';
}

/** Whether a handler is at work on the job itself or on one of its tasks. */
export async function isWorkedOn(jobs: Jobs, id: number): Promise<boolean> {
  const job = await jobs.get(id);
  if (job?.state === 'running') return true;
  return job?.state === 'held' && (await jobs.count({ parent: id, standings: ['running'] })).length > 0;
}
