/** Loads runs, tasks or Bedrock jobs. Refuses an unknown id, and records such as definitions and audit entries. */
import { unknownJob } from '../apply.ts';
import type { Job } from '../model/job.ts';
import { jobKinds } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { Writer } from '../store/store.ts';

export async function workOf(store: Writer, id: number): Promise<Job> {
  return (await worksOf(store, [id]))[0]!;
}

/** Loads several jobs, in the order of the ids. */
export async function worksOf(store: Writer, ids: readonly number[]): Promise<readonly Job[]> {
  const jobs = new Map((await store.load(ids)).map((job) => [job.id, job]));
  return ids.map((id) => {
    const job = jobs.get(id);
    if (!job) throw unknownJob(id);
    if (!jobKinds.includes(job.kind)) throw recordNotJob(job);
    return job;
  });
}

export function recordNotJob({ id, kind, def }: Job): Refusal {
  const name = kind === 'def'
    ? `the id of the definition ${def}: use its name instead`
    : `a record of kind ${kind}`;
  return new Refusal('unknown.job', `there is no run ${id}: it is ${name}`, { id, kind });
}
