/**
 * Retrying: reopens an ended job with its tasks, and optionally the runs that follow it, in one commit. Afterwards,
 * continues those reopened followers whose runs have all ended. A job that failed or was cancelled continues after its
 * finished steps; a job that succeeded forgets them and starts over.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Job } from '../model/job.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { proceedAll } from './proceed.ts';
import { openClosedEdges } from './reopened-edges.ts';
import { Reopening, type RetryScope } from './reopening.ts';
import { worksOf } from './work-of.ts';

/** Reopens an ended job; returns it. */
export async function retryJob(store: Store, id: number, asker: Asker, scope: RetryScope = {}): Promise<Job> {
  const jobs = await retryJobs(store, [id], asker, scope);
  return jobs.find((job) => job.id === id)!;
}

/** Reopens ended jobs, all in one commit; returns them, and the followers that were reopened with them. */
export async function retryJobs(
  store: Store,
  ids: readonly number[],
  asker: Asker,
  scope: RetryScope,
): Promise<readonly Job[]> {
  let reopening = new Reopening(store, scope);
  const changes = await applyTogether(store, async () => {
    reopening = new Reopening(store, scope);
    await reopening.add(await worksOf(store, ids));
    const answers = await reopening.decide({ ...asker, now: store.now() }, ids);
    return answers.find((answer) => answer instanceof Refusal) ?? (answers as Change[]);
  }, () => reopening.alsoWritten);
  const jobs = new Map(changes.flatMap(({ after }) => (after === null ? [] : [[after.id, after] as const])));
  const followed = [...reopening.runs].filter((id) => jobs.get(id)!.isFollowed);
  await openClosedEdges(store, 'followed', followed, asker);
  await openClosedEdges(store, 'follower', reopening.followers, asker);
  for (const job of await continueFollowers(store, reopening, asker)) jobs.set(job.id, job);
  return [...reopening.runs].map((id) => jobs.get(id)!);
}

/** Continues reopened followers whose runs have ended, before the commit or since; returns these followers. */
async function continueFollowers(store: Store, { followers, awaited }: Reopening, asker: Asker): Promise<readonly Job[]> {
  if (followers.length === 0) return [];
  if (awaited.size > 0) await store.closeEdges([...awaited]);
  const ready = (await store.proceedable(followers)).map(({ id }) => id);
  await proceedAll(store, ready, asker);
  return ready.length === 0 ? [] : store.load(ready);
}
