/** Retention: deletes ended jobs and feed entries after their time. */
import type { Jobs } from '../../jobs.ts';

export interface Retention {
  /** For ended jobs without a retention of their own; null keeps them. */
  readonly jobsMs: number | null;
  readonly feedMs: number;
}

const purgeBatch = 500;

/** Deletes one batch; returns how many jobs. */
export const purgeEnded = ({ store }: Jobs, { jobsMs, feedMs }: Retention): Promise<number> =>
  store.purge({ limit: purgeBatch, feedKeptMs: feedMs, retentionMs: jobsMs });
