/** Retention: how long ended jobs and the feed of events are kept. */
import type { Jobs } from '../../jobs.ts';

export interface Retention {
  /** For ended jobs that do not say it themselves; null: for ever. */
  readonly jobsMs: number | null;
  readonly feedMs: number;
}

const purgeBatch = 500;

/** Answers how many jobs went; more may be waiting. */
export const purgeEnded = ({ store }: Jobs, { jobsMs, feedMs }: Retention): Promise<number> =>
  store.purge({ limit: purgeBatch, feedKeptMs: feedMs, retentionMs: jobsMs });
