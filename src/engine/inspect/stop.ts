/** The effect of a stop on the handler of a job: its code is ended, may continue without the job, or is not running. */
import type { Jobs } from '../../jobs.ts';
import { isHandedOff, type Job } from '../../model/job.ts';
import { pagesOf } from '../../store/paging.ts';
import { isLive } from '../../store/store.ts';

export interface StopAnswer {
  readonly job: Job;
  /**
   * `terminated`: the handler is isolated, and its thread or process is ended. `disowned`: the handler's signal is
   * aborted; its code may continue, but cannot change the job. `idle`: no handler was running.
   */
  readonly how: 'terminated' | 'disowned' | 'idle';
}

/** Returns the effect that a stop would have now. Whether the type is isolated is read from the live instances. */
export async function stopEffect(jobs: Jobs, id: number): Promise<StopAnswer['how']> {
  const job = await jobs.get(id);
  if (!job || !(await hasRunningHandler(jobs, job))) return 'idle';
  // Planning and gathering are not isolated.
  if (job.state === 'running' && job.phase !== 'run') return 'disowned';
  const now = jobs.store.now();
  const live = (await jobs.store.instances()).filter((each) => isLive(each, now));
  return live.some(({ about }) => about.isolated?.includes(job.type)) ? 'terminated' : 'disowned';
}

async function hasRunningHandler(jobs: Jobs, job: Job): Promise<boolean> {
  if (job.state !== 'held') return isExecuted(job);
  for await (const tasks of pagesOf(jobs, { parent: job.id, standings: ['running'] })) {
    if (tasks.some(isExecuted)) return true;
  }
  return false;
}

/** Whether a handler executes the job. A job that was handed off is running, but its handler has returned. */
const isExecuted = (job: Job): boolean => job.state === 'running' && !isHandedOff(job);
