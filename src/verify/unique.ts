/** S10, S11: whoever has a unique key has it alone, while it is open or as long as its window lasts. */
import type { Job } from '../model/job.ts';
import { violation, type Violation } from './violation.ts';

/** `holder` is who has the key by the word of the store. */
export function checkKey(job: Job, holder: number | undefined): Violation[] {
  if (job.unique === null || holder === job.id) return [];
  const { key, forMs } = job.unique;
  const whose = holder === undefined ? 'nobody has it' : `job ${holder} has it`;
  const sentence = `job ${job.id} has the key ${JSON.stringify(key)}, and ${whose}`;
  return [violation(forMs === null ? 'S11' : 'S10', job.id, sentence)];
}
