/** Loads a run, a task or a Bedrock job. Refuses an unknown id, and records such as definitions and audit entries. */
import { unknownJob } from '../apply.ts';
import type { Job } from '../model/job.ts';
import { jobKinds } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { Writer } from '../store/store.ts';

export async function workOf(store: Writer, id: number): Promise<Job> {
  const [job] = await store.load([id]);
  if (!job) throw unknownJob(id);
  if (!jobKinds.includes(job.kind)) throw recordNotJob(job);
  return job;
}

export function recordNotJob({ id, kind, def }: Job): Refusal {
  const name = kind === 'def'
    ? `the id of the definition ${def}: use its name instead`
    : `a record of kind ${kind}`;
  return new Refusal('unknown.job', `there is no run ${id}: it is ${name}`, { id, kind });
}
