/** S10, S11: a unique key belongs to one job only, until its period ends (S10) or while the job is open (S11). */
import type { Job } from '../model/job.ts';
import { violation, type Violation } from './violation.ts';

/** Checks a job that must have its key. `holder`: the job that has the key according to the store; undefined: none. */
export function checkKey(job: Job, holder: number | undefined): Violation[] {
  if (job.unique === null || holder === job.id) return [];
  const { key, forMs } = job.unique;
  const whose = holder === undefined ? 'nobody has it' : `job ${holder} has it`;
  const sentence = `job ${job.id} has the key ${JSON.stringify(key)}, and ${whose}`;
  return [violation(forMs === null ? 'S11' : 'S10', job.id, sentence)];
}
