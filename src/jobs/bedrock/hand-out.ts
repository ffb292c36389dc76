/** Handing out queued jobs: the first that match, each with the data of its parent and children. */
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
  /** The holder of the jobs: a name, or a function of the number of jobs served before. */
  readonly holder: string | ((served: number) => string);
  /** Mocks are handed out only to requests that ask for them. */
  readonly withMocks: boolean;
  /** Jobs with matching names fail instead of being handed out. */
  readonly crashing?: readonly Glob[];
}

export interface HandedOut {
  /** The job before the claim. */
  readonly before: Job;
  readonly job: RunningJob;
  readonly parent: Job | null;
  /** Children that have ended since it began to wait for them. */
  readonly children: readonly EndedJob[];
}

export interface HandOut {
  readonly handed: readonly HandedOut[];
  /** Jobs that matched but failed: handed out too often, or with a name in `crashing`. */
  readonly failed: number;
  /** The store time of the search. */
  readonly searchedAt: number;
}

/** A job without retryAfter stays with its worker without a time limit, and is never handed out again by itself. */
const openEnded = null;

export function checkHandOut(request: HandOutRequest): HandOutRequest {
  request.priorities?.forEach(checkQueuePriority);
  return { ...request, names: checkNames(request.names), limit: Math.min(Math.max(1, Math.floor(request.limit)), handOutMax) };
}

export async function handOut(store: Store, given: HandOutRequest): Promise<HandOut> {
  const request = checkHandOut(given);
  for (;;) {
    const { passed, ...found } = await handOutOnce(store, request);
    if (passed === 0 || found.handed.length + found.failed > 0) return found;
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
  const failed = changes.filter(({ after }) => after?.state === 'ended' && after.fate === 'failed').length;
  // Jobs that had been asked to cancel have ended.
  return { handed, failed, searchedAt, passed: changes.length - running.length - failed };
}

/**
 * Releases jobs whose worker did not receive them, as if they had not been handed out; jobs that changed since stay.
 */
export async function releaseHandedOut(store: Store, jobs: readonly RunningJob[], asker: Asker): Promise<void> {
  const requests = jobs.map((job) => ({ job, command: { do: 'release', fence: job.fence } as const }));
  await applyEach(store, requests, { why: 'its worker disconnected before it got the job', ...asker });
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

/** Creation and hand-out are two events; every added child is one more. */
export const mayHaveChildren = (job: Job): boolean => job.parent === null && job.version > 2;

export async function endedChildren(store: Store, job: Job): Promise<readonly EndedJob[]> {
  if (!mayHaveChildren(job)) return [];
  const pages = pagesOf(store, { parent: job.id, standings: endedStandings });
  return (await Array.fromAsync(pages)).flat() as EndedJob[];
}
