/** Run creation: requests become drafts, and drafts become jobs in the database or in memory. */
import type { Jobs } from '../jobs.ts';
import type { Created } from '../jobs/create.ts';
import { isGated, type Draft } from '../jobs/draft.ts';
import { busyType, newToStart, refuseIfAdmitted } from './declare/one-per-type.ts';
import { throughHook } from './declare/hooked-requests.ts';
import { draftsOf, isOneAtATime, type Runnable, type RunRequest } from './declare/run-request.ts';
import type { DefinitionActions, NamedRunnable } from './definition-actions.ts';
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

export class RunCreation {
  readonly #parts: RunCreationParts;

  constructor(parts: RunCreationParts) {
    this.#parts = parts;
  }

  async create(
    what: Runnable | NamedRunnable,
    requests: readonly RunRequest<unknown>[],
    by: string,
  ): Promise<readonly Created[]> {
    const created = await this.#create(what, requests, by, (jobs, drafts) => this.#store(jobs, drafts, by));
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
    const store: StoreDrafts = (jobs, drafts) => jobs.within(transaction).createMany(drafts, instance);
    return this.#create(what, requests, instance, store);
  }

  async #create(
    what: Runnable | NamedRunnable,
    given: readonly RunRequest<unknown>[],
    by: string,
    store: StoreDrafts,
  ): Promise<readonly Created[]> {
    const { stores, definitions, tracing } = this.#parts;
    const { store: database } = stores.database;
    await database.synchronize?.();
    const { rules, known, jobs } = await definitions.target(what);
    const { name, onePerType } = rules.entry;
    const requests = jobs.creating === null ? given : await throughHook(jobs.creating, rules, known, given, by);
    const now = database.now();
    const drafts = await draftsOf(rules, known, requests, now);
    const isOnePerType = known?.spec.onePerType ?? onePerType;
    if (isOnePerType && (await newToStart(jobs, drafts, now)).length > 0) await refuseIfAdmitted(jobs, name);
    const created = await tracing.creating(name, drafts, (traced) => store(jobs, traced));
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
