/** The claim order: highest priority first, then earliest due time, then lowest id. */
import type { Job } from './job.ts';

export const byClaimOrder = (a: Claimable, b: Claimable): number =>
  b.priority - a.priority || a.due - b.due || a.id - b.id;

type Claimable = Pick<Job, 'priority' | 'due' | 'id'>;
