/** Flow creation: the runs of a flow become drafts, and are stored in one commit with the edges between them. */
import type { FlowDraft } from '../jobs/create-flow.ts';
import type { Jobs } from '../jobs.ts';
import type { JobWriting } from '../jobs/job-writing.ts';
import type { Job } from '../model/job.ts';
import { Refusal } from '../refusal.ts';
import { FlowBuilder, type BuiltRun, type FlowRun } from './declare/flow-builder.ts';
import { FlowHandle } from './flow-handle.ts';
import { RunHandle, type RunBackend } from './run-handle.ts';
import type { RunCreation } from './run-creation.ts';
import type { Stores } from './stores.ts';
import type { StoreWorkers } from './store-workers.ts';

export interface FlowCreationParts {
  readonly creation: RunCreation;
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly instance: string;
}

export type BuildFlow = (flow: FlowBuilder) => void;

export class FlowCreation {
  readonly #parts: FlowCreationParts;

  constructor(parts: FlowCreationParts) {
    this.#parts = parts;
  }

  async create(build: BuildFlow, backend: RunBackend): Promise<FlowHandle> {
    const handle = await this.#create(build, backend, (jobs) => jobs);
    this.#parts.workers.wake();
    return handle;
  }

  /** Creates a flow in the caller's transaction: it exists if and when the transaction commits. */
  createIn(transaction: unknown, build: BuildFlow, backend: RunBackend): Promise<FlowHandle> {
    return this.#create(build, backend, (jobs) => jobs.within(transaction));
  }

  async #create(build: BuildFlow, backend: RunBackend, writing: (jobs: Jobs) => JobWriting): Promise<FlowHandle> {
    const { stores, instance } = this.#parts;
    const builder = new FlowBuilder();
    buildWith(build, builder);
    const drafts = await this.#draftsOf(builder.runs);
    const jobs = await writing(stores.database).createFlow(drafts, instance);
    const handleOf = (job: Job): RunHandle => new RunHandle(backend, job.id, 'created');
    return new FlowHandle(backend, jobs.map(handleOf), (run: FlowRun) => builder.indexOf(run));
  }

  async #draftsOf(runs: readonly BuiltRun[]): Promise<readonly FlowDraft[]> {
    const { creation, stores, instance } = this.#parts;
    const drafting = creation.drafting(instance);
    const drafts: FlowDraft[] = [];
    for (const { what, request, after, follows, isLinked } of runs) {
      const { draft, jobs } = await drafting(what, request, isLinked);
      if (jobs !== stores.database) throw inMemory(draft.type);
      drafts.push({ draft, after, follows });
    }
    return drafts;
  }
}

/** Calls the function of the user. Runs that it adds after an `await` would come too late, so a promise is refused. */
function buildWith(build: BuildFlow, builder: FlowBuilder): void {
  if (typeof build !== 'function') {
    throw new Refusal('malformed.flow', 'createFlow takes a function that adds the runs: pass (f) => { f.run(…); }');
  }
  const returned: unknown = build(builder);
  if (!(returned instanceof Promise)) return;
  returned.catch(() => {});
  throw new Refusal('malformed.flow', 'the function of createFlow cannot be async: read what it needs before the call');
}

const inMemory = (type: string): Refusal =>
  new Refusal('malformed.flow', `a definition of ${type} is in memory: a flow can only have stored runs`, { type });
