/**
 * Handing out Bedrock jobs: claims the first matching jobs, and returns each with its parent and its ended children.
 */
import { applyEach, claimFor, type Asker } from '../../apply.ts';
import type { Command } from '../../model/command.ts';
import { matches, type Glob } from '../../model/glob.ts';
import type { EndedJob, Job, JobError, RunningJob } from '../../model/job.ts';
import { pagesOf } from '../../store/paging.ts';
import type { ClaimRequest, Store } from '../../store/store.ts';
import { endedStandings, type Standing } from '../../store/query.ts';
import { settleAfter } from '../settle.ts';
import { keepData } from './data.ts';
import { checkNames, checkQueuePriority, handOutMax } from './check.ts';

export interface HandOutRequest extends Pick<ClaimRequest, 'names' | 'limit' | 'priorities'> {
  /**
   * The name of the holder, or a function that returns the holder of the next job. `served`: how many jobs this request
   * has handed out before.
   */
  readonly holder: string | ((served: number) => string);
  readonly withMocks: boolean;
  /** Jobs whose name matches one of these patterns fail instead of being handed out. */
  readonly crashing?: readonly Glob[];
}

export interface HandedOut {
  /** The job before the claim. */
  readonly before: Job;
  readonly job: RunningJob;
  readonly parent: Job | null;
  /** The ended children of the job. Those that did not fail are deleted when the job finishes (see finish.ts). */
  readonly children: readonly EndedJob[];
}

export interface HandOut {
  readonly handed: readonly HandedOut[];
  /** How many jobs failed instead of being handed out. They were handed out too often, or match `crashing`. */
  readonly failed: number;
  /** The store time of the search. Pass it to `nextDue`, so that no job that became due after the search is missed. */
  readonly searchedAt: number;
}

/** The lease of a job without `retryAfter`: it has no end, so it never lapses. */
const openEnded = null;

export function checkHandOut(request: HandOutRequest): HandOutRequest {
  request.priorities?.forEach(checkQueuePriority);
  return {
    ...request, names: checkNames(request.names), limit: Math.min(Math.max(1, Math.floor(request.limit)), handOutMax),
  };
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
  // `passed` counts jobs that were cancelled instead of being handed out. If that happened to all claimed jobs,
  // `handOut` searches again.
  return { handed, failed, searchedAt, passed: changes.length - running.length - failed };
}

/**
 * Releases jobs that did not reach their worker, as if they had not been handed out. Jobs that are no longer held under
 * the same fence stay unchanged.
 */
export async function releaseHandedOut(store: Store, jobs: readonly RunningJob[], asker: Asker): Promise<void> {
  const requests = jobs.map((job) => ({ job, command: { do: 'release', fence: job.fence } as const }));
  await applyEach(store, requests, { why: 'its worker disconnected before it got the job', ...asker });
}

/**
 * Returns the commands that claim a job. If the job fails instead of being handed out, the commands first store the
 * members that its last hand-out added to the data (see `keepData`).
 */
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

/**
 * Whether the job may have children; saves a query if not. Creation and hand-out are two events, and adding children is
 * a further one, so a job with at most two events has no children.
 */
export const mayHaveChildren = (job: Job): boolean => job.parent === null && job.version > 2;

export async function endedChildren(
  store: Store,
  job: Job,
  standings: readonly Standing[] = endedStandings,
): Promise<readonly EndedJob[]> {
  if (!mayHaveChildren(job)) return [];
  const pages = pagesOf(store, { parent: job.id, standings });
  return (await Array.fromAsync(pages)).flat() as EndedJob[];
}
