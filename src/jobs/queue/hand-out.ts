/** Handing out queued jobs: the best that match, each with what its worker wants to know of its family. */
import { claim } from '../../apply.ts';
import type { EndedJob, Job, RunningJob } from '../../model/job.ts';
import type { ClaimAsk, Store } from '../../store/store.ts';
import { settleAfter } from '../settle.ts';

export interface HandOutAsk extends Pick<ClaimAsk, 'names' | 'limit' | 'priorities'> {
  readonly holder: string;
  /** Mocks are handed out only to those who ask for them. */
  readonly withMocks: boolean;
}

export interface HandedOut {
  /** As it was before. */
  readonly before: Job;
  readonly job: RunningJob;
  readonly parent: Job | null;
  /** Those that have ended since it waits for them. */
  readonly children: readonly EndedJob[];
}

export interface HandOut {
  readonly handed: readonly HandedOut[];
  /** Jobs that matched but failed instead, having been handed out too often. */
  readonly spoiled: number;
}

/** A job that no worker ever answers for stays with it, unless it says after what time it is to be handed out again. */
const openEnded = null;

export async function handOut(store: Store, { names, limit, priorities, holder, withMocks }: HandOutAsk): Promise<HandOut> {
  const kinds = withMocks ? (['bedrock', 'mock'] as const) : (['bedrock'] as const);
  const ask = { kinds, names, limit, ...(priorities === undefined ? {} : { priorities }) };
  const changes = await claim(store, ask, holder, openEnded);
  await settleAfter(store, changes, { by: holder });
  const running = changes.filter(({ after }) => after?.state === 'running');
  const parents = await parentsOf(store, running.map(({ after }) => after!));
  const handed = await Promise.all(running.map(async ({ before, after }) => ({
    before: before!,
    job: after as RunningJob,
    parent: after!.parent === null ? null : (parents.get(after!.parent) ?? null),
    children: await endedChildren(store, before!),
  })));
  return { handed, spoiled: changes.length - running.length };
}

async function parentsOf(store: Store, jobs: readonly Job[]): Promise<ReadonlyMap<number, Job>> {
  const ids = jobs.flatMap(({ parent }) => parent ?? []);
  return new Map((ids.length === 0 ? [] : await store.load(ids)).map((job) => [job.id, job]));
}

/** A job that has only been created, or is a child, has none. */
export async function endedChildren(store: Store, job: Job): Promise<readonly EndedJob[]> {
  if (job.version === 1 || job.parent !== null) return [];
  const found: Job[] = [];
  for (let after: number | undefined; ; ) {
    const page = await store.find(
      { parent: job.id, standings: ['succeeded', 'failed', 'cancelled'] },
      { order: 'oldest', limit: 1000, ...(after === undefined ? {} : { after }) },
    );
    found.push(...page.jobs);
    if (page.next === null) return found as EndedJob[];
    after = page.next;
  }
}
