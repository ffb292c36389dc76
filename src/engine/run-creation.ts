/** Run creation: requests become drafts, and drafts become jobs in the database or in memory. */
import type { Jobs } from '../jobs.ts';
import type { Created } from '../jobs/create.ts';
import type { FlowDraft } from '../jobs/create-flow.ts';
import { isGated, type Draft } from '../jobs/draft.ts';
import type { JobWriting } from '../jobs/job-writing.ts';
import { followersOf } from '../model/def-graph.ts';
import type { Job } from '../model/job.ts';
import { burstsInForce } from './declare/bursts.ts';
import { followedBy, followingOf } from './declare/follow-request.ts';
import { busyType, newToStart, refuseIfAdmitted } from './declare/one-per-type.ts';
import { throughHook } from './declare/hooked-requests.ts';
import { draftsOf, isOneAtATime, type Runnable, type RunRequest } from './declare/run-request.ts';
import type { BurstOf } from './declare/limit-uses.ts';
import { uncheckedRules } from './declare/unchecked-rules.ts';
import type { DefinitionActions, NamedRunnable, OwnRunnable, RunTarget } from './definition-actions.ts';
import type { Stores } from './stores.ts';
import type { Tracing } from './attempt/tracing.ts';
import type { StoreWorkers } from './store-workers.ts';

export interface RunCreationParts {
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly definitions: DefinitionActions;
  readonly tracing: Tracing;
  readonly instance: string;
}

type Drafts = readonly Draft[];
type StoreDrafts = (jobs: Jobs, drafts: Drafts) => Promise<readonly Created[]>;

/** How drafts are stored: those of a call in which a run follows others or has followers by `writing`. */
interface Storing {
  readonly store: StoreDrafts;
  readonly writing: (jobs: Jobs) => JobWriting;
}

/** Returns the draft of a run, and the jobs to which it belongs. The input of a linked run is not checked. */
export type DraftRun = (
  what: Runnable, request: RunRequest<unknown>, isLinked: boolean,
) => Promise<{ readonly draft: Draft; readonly jobs: Jobs }>;

export class RunCreation {
  readonly #parts: RunCreationParts;

  constructor(parts: RunCreationParts) {
    this.#parts = parts;
  }

  async create(
    what: Runnable | NamedRunnable | OwnRunnable,
    requests: readonly RunRequest<unknown>[],
    by: string,
  ): Promise<readonly Created[]> {
    const store: StoreDrafts = (jobs, drafts) => this.#store(jobs, drafts, by);
    const created = await this.#create(what, requests, by, { store, writing: (jobs) => jobs });
    if (created.some(({ job }) => job?.state !== 'running')) this.#parts.workers.wake();
    return created;
  }

  /**
   * Creates runs in the caller's transaction: they exist if and when the transaction commits. The store wakes the
   * workers at the commit.
   */
  createIn(
    transaction: unknown,
    what: Runnable,
    requests: readonly RunRequest<unknown>[],
  ): Promise<readonly Created[]> {
    const { instance } = this.#parts;
    const writing = (jobs: Jobs): JobWriting => jobs.within(transaction);
    const store: StoreDrafts = (jobs, drafts) => writing(jobs).createMany(drafts, instance);
    return this.#create(what, requests, instance, { store, writing });
  }

  /** Returns a function that drafts the runs of a flow, or children of a run. Each type or definition is looked up once. */
  drafting(by: string): DraftRun {
    const { stores, definitions, tracing } = this.#parts;
    const targetOf = async (what: Runnable): Promise<RunTarget & { readonly burstOf: BurstOf | undefined }> => {
      const target = await definitions.target(what);
      return { ...target, burstOf: await burstsInForce(stores.database.store, target.rules.entry.limits) };
    };
    const targets = new Map<Runnable, ReturnType<typeof targetOf>>();
    return async (what, given, isLinked) => {
      await stores.database.store.synchronize?.();
      const target = targets.get(what) ?? targetOf(what);
      targets.set(what, target);
      const { rules, known, jobs, burstOf } = await target;
      const used = isLinked ? uncheckedRules(rules) : rules;
      const [request] = jobs.creating === null ? [given] : await throughHook(jobs.creating, used, known, [given], by);
      const [draft] = await draftsOf(used, known, [request!], stores.database.store.now(), burstOf);
      return { draft: tracing.carrying(draft!), jobs };
    };
  }

  async #create(
    what: Runnable | NamedRunnable | OwnRunnable,
    given: readonly RunRequest<unknown>[],
    by: string,
    storing: Storing,
  ): Promise<readonly Created[]> {
    const { stores, definitions, tracing } = this.#parts;
    const { store: database } = stores.database;
    await database.synchronize?.();
    const { rules, known, jobs } = await definitions.target(what);
    const { name, onePerType } = rules.entry;
    const requests = jobs.creating === null ? given : await throughHook(jobs.creating, rules, known, given, by);
    const burstOf = await burstsInForce(database, rules.entry.limits);
    const now = database.now();
    const drafts = await draftsOf(rules, known, requests, now, burstOf);
    const isOnePerType = known?.spec.onePerType ?? onePerType;
    if (isOnePerType && (await newToStart(jobs, drafts, now)).length > 0) await refuseIfAdmitted(jobs, name);
    const created = await tracing.creating(name, drafts, (traced) =>
      storeDrafts({ jobs, known }, traced, requests, by, storing));
    refuseBusy(name, drafts, requests, created);
    return created;
  }

  #store(jobs: Jobs, drafts: Drafts, by: string): Promise<readonly Created[]> {
    const { stores, workers } = this.#parts;
    const { claimOnCreate } = workers;
    const single = drafts.length === 1 && jobs === stores.database ? drafts[0]! : null;
    // For a gated job, a slot would be reserved in vain, and the claimer might find no other.
    if (single && !isGated(single) && claimOnCreate.applies(single.type)) return claimOnCreate.create(single, by);
    return jobs.createMany(drafts, by);
  }
}

async function storeDrafts(
  { jobs, known }: Pick<RunTarget, 'jobs' | 'known'>,
  drafts: Drafts,
  requests: readonly RunRequest<unknown>[],
  by: string,
  { store, writing }: Storing,
): Promise<readonly Created[]> {
  const leader = known !== null && followersOf(known.job).length > 0 ? known.job : undefined;
  const leaderOf = ({ followers }: RunRequest<unknown>): Job | undefined => (followers === false ? undefined : leader);
  const isPlain = requests.every((request) => request.after === undefined && leaderOf(request) === undefined);
  if (isPlain) return store(jobs, drafts);
  const linked = drafts.map((draft, index) => ({ ...runAfter(draft, requests[index]!), leader: leaderOf(requests[index]!) }));
  return writing(jobs).createFollowers(linked, by, jobs.creating);
}

function runAfter(draft: Draft, request: RunRequest<unknown>): FlowDraft {
  const { ids, follows } = followedBy(request) ?? { ids: [], follows: followingOf({}) };
  return { draft, after: ids.map((id) => ({ run: { id }, links: [] })), follows };
}

/**
 * Throws `busy.type` if a run was not created because another run has the unique key that Stint adds for `onePerType`.
 * If the caller chose the unique key, a taken key is not an error: the outcome is `existing` or `updated`.
 */
function refuseBusy(
  type: string,
  drafts: Drafts,
  requests: readonly RunRequest<unknown>[],
  created: readonly Created[],
): void {
  created.forEach(({ id, outcome }, index) => {
    if (outcome !== 'created' && isOneAtATime(drafts[index]!, requests[index]!)) throw busyType(type, id);
  });
}
