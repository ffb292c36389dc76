/** Handing out queued jobs: the best that match, each with what its worker wants to know of its family. */
import { applyEach, claimFor, type Asker } from '../../apply.ts';
import type { Command } from '../../model/command.ts';
import { matches, type Glob } from '../../model/glob.ts';
import type { EndedJob, Job, JobError, RunningJob } from '../../model/job.ts';
import { pagesOf } from '../../store/paging.ts';
import type { ClaimRequest, Store } from '../../store/store.ts';
import { endedStandings } from '../../store/query.ts';
import { settleAfter } from '../settle.ts';
import { keepData } from './data.ts';
import { checkNames, checkQueuePriority, handOutMax } from './check.ts';

export interface HandOutRequest extends Pick<ClaimRequest, 'names' | 'limit' | 'priorities'> {
  /** Who gets the jobs: by name, or by how many have been served before. */
  readonly holder: string | ((served: number) => string);
  /** Mocks are handed out only to those who ask for them. */
  readonly withMocks: boolean;
  /** Jobs with such names fail instead of being handed out. */
  readonly crashing?: readonly Glob[];
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
  /** Jobs that matched but failed instead: handed out too often, or of a name that is made to crash. */
  readonly spoiled: number;
  /** The store time of the search. */
  readonly searchedAt: number;
}

/** A job that no worker ever answers for stays with it, unless it says after what time it is to be handed out again. */
const openEnded = null;

export function checkHandOut(request: HandOutRequest): HandOutRequest {
  request.priorities?.forEach(checkQueuePriority);
  return { ...request, names: checkNames(request.names), limit: Math.min(Math.max(1, Math.floor(request.limit)), handOutMax) };
}

export async function handOut(store: Store, given: HandOutRequest): Promise<HandOut> {
  const request = checkHandOut(given);
  for (;;) {
    const { passed, ...found } = await handOutOnce(store, request);
    if (passed === 0 || found.handed.length + found.spoiled > 0) return found;
  }
}

async function handOutOnce(
  store: Store,
  { names, limit, priorities, holder, withMocks, crashing = [] }: HandOutRequest,
): Promise<HandOut & { readonly passed: number }> {
  const kinds = withMocks ? (['bedrock', 'mock'] as const) : (['bedrock'] as const);
  const request = { kinds, names, limit, ...(priorities === undefined ? {} : { priorities }) };
  const holderOf = typeof holder === 'string' ? () => holder : holder;
  const { changes, searchedAt } = await claimFor(store, request, openEnded, holderOf, (job, claiming) =>
    commandsFor(job, claiming, crashOf(job, crashing)));
  await settleAfter(store, changes, { by: holderOf(0) });
  const running = changes.filter(({ after }) => after?.state === 'running');
  const parents = await parentsOf(store, running.map(({ after }) => after!));
  const handed = await Promise.all(running.map(async ({ before, after }) => ({
    before: before!,
    job: after as RunningJob,
    parent: after!.parent === null ? null : (parents.get(after!.parent) ?? null),
    children: await endedChildren(store, before!),
  })));
  const spoiled = changes.filter(({ after }) => after?.state === 'ended' && after.fate === 'failed').length;
  // Jobs that had been asked to give up have ended on the way.
  return { handed, spoiled, searchedAt, passed: changes.length - running.length - spoiled };
}

/** Jobs whose worker never heard of them go back, as if they had not been handed out; what has happened since stays. */
export async function releaseHandedOut(store: Store, jobs: readonly RunningJob[], asker: Asker): Promise<void> {
  const requests = jobs.map((job) => ({ job, command: { do: 'release', fence: job.fence } as const }));
  await applyEach(store, requests, { why: 'its worker was gone before it could be told', ...asker });
}

/** A job that fails instead of being handed out keeps the data of its last hand-out. */
function commandsFor(job: Job, claiming: Command, error: JobError | null): readonly Command[] {
  if (job.crashes >= (job.policy.handOutsMax ?? Infinity)) return [...keepData(job), claiming];
  if (error === null) return [claiming];
  return [...keepData(job), claiming, { do: 'fail', fence: job.fence + 1, error, retryable: false }];
}

function crashOf({ type }: Job, crashing: readonly Glob[]): JobError | null {
  const glob = crashing.find((each) => matches(each, type));
  return glob === undefined ? null : { code: 'automation', message: `jobs named ${glob.text} are made to fail` };
}

async function parentsOf(store: Store, jobs: readonly Job[]): Promise<ReadonlyMap<number, Job>> {
  const ids = jobs.flatMap(({ parent }) => parent ?? []);
  return new Map((ids.length === 0 ? [] : await store.load(ids)).map((job) => [job.id, job]));
}

/** Created and handed out are two events, and every child that joins is one more. */
export const mayHaveChildren = (job: Job): boolean => job.parent === null && job.version > 2;

export async function endedChildren(store: Store, job: Job): Promise<readonly EndedJob[]> {
  if (!mayHaveChildren(job)) return [];
  const pages = pagesOf(store, { parent: job.id, standings: endedStandings });
  return (await Array.fromAsync(pages)).flat() as EndedJob[];
}
