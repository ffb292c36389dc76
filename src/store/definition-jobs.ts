/** Reads the jobs that store definitions, by the names of the definitions. */
import { definitionKey } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import type { Writer } from './store.ts';

const readBatch = 500;

/** Returns them in the order of the names; names without a definition are absent. */
export async function definitionJobs(
  store: Pick<Writer, 'jobsByKey' | 'load'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, Job>> {
  const found = new Map<string, Job>();
  for (let from = 0; from < names.length; from += readBatch) {
    const keys = names.slice(from, from + readBatch).map(definitionKey);
    const ids = [...(await store.jobsByKey(keys)).values()];
    if (ids.length > 0) for (const job of await store.load(ids)) found.set(job.def!, job);
  }
  return new Map(names.flatMap((name) => (found.has(name) ? [[name, found.get(name)!] as const] : [])));
}
