/** What a forced stop came to. */
import type { Job } from '../model/job.ts';

export interface StopAnswer {
  readonly job: Job;
  /**
   * `terminated`: its code runs in a thread or process of its own and is ended. `disowned`: its code was told, may go on,
   * and can change nothing any more. `idle`: nothing was running.
   */
  readonly how: 'terminated' | 'disowned' | 'idle';
}
