/** Retention: deletes ended jobs and feed entries whose retention has passed. */
import type { Jobs } from '../../jobs.ts';

export interface Retention {
  /** How long ended jobs without a retention of their own are stored; null: for ever. */
  readonly jobsMs: number | null;
  readonly feedMs: number;
}

const purgeBatch = 500;

/** Deletes one batch of ended jobs, and feed entries; returns the number of deleted jobs. */
export const purgeEnded = ({ store }: Jobs, { jobsMs, feedMs }: Retention): Promise<number> =>
  store.purge({ limit: purgeBatch, feedKeptMs: feedMs, retentionMs: jobsMs });
