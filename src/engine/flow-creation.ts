/** Flow creation: the runs of a flow become drafts, and are stored in one commit with the edges between them. */
import type { FlowDraft } from '../jobs/create-flow.ts';
import { flowRunIds } from '../jobs/flow.ts';
import type { Jobs } from '../jobs.ts';
import type { JobWriting } from '../jobs/job-writing.ts';
import type { Job } from '../model/job.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { Duration } from '../time/duration.ts';
import { FlowBuilder, type BuiltRun, type FlowRun } from './declare/flow-builder.ts';
import { addNamedRuns, type NamedFlow } from './declare/named-flow.ts';
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

/** The unique key of a flow, and for how long it is taken. */
export interface FlowKey {
  readonly key: string;
  readonly for: Duration;
}

export type BuildFlow = (flow: FlowBuilder) => void;

/** The id of a flow, and the ids of its runs by their names. */
export interface NamedFlowIds {
  readonly id: number;
  /** `existing`: another flow has the unique key of this one, and these are its ids. */
  readonly outcome: 'created' | 'existing';
  readonly runs: readonly { readonly name: string; readonly id: number }[];
}

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

  /**
   * Creates a flow whose runs have names; returns their ids in the order of the document. If another flow has the key
   * `unique`, which its first run has, returns the ids of that flow.
   */
  async createNamed(document: NamedFlow, backend: RunBackend, by: string, unique: FlowKey | null): Promise<NamedFlowIds> {
    let runs: ReadonlyMap<string, FlowRun> = new Map();
    const build: BuildFlow = (flow) => {
      runs = addNamedRuns(flow, document, unique);
    };
    const created = await orExisting(unique, this.#create(build, backend, (jobs) => jobs, by));
    this.#parts.workers.wake();
    const names = [...runs.keys()];
    const ids = typeof created === 'number'
      ? await this.#runsOf(created, names.length)
      : names.map((name) => created.handle(runs.get(name)!).id);
    const idByName = new Map(names.map((name, index) => [name, ids[index]!]));
    return {
      id: typeof created === 'number' ? created : created.id,
      outcome: typeof created === 'number' ? 'existing' : 'created',
      runs: document.runs.map(({ name }) => ({ name, id: idByName.get(name)! })),
    };
  }

  /** Returns the ids of the runs of a flow, in the order in which they were created. Refuses another number of runs. */
  async #runsOf(flow: number, count: number): Promise<readonly number[]> {
    const ids = await flowRunIds(this.#parts.stores.database.store, flow);
    if (ids.length === count) return ids;
    const message = 'the key was used for another flow, or for a run: use a new key for each flow';
    throw new Refusal('taken.key', message, { id: flow });
  }

  /** Creates a flow in the caller's transaction: it exists if and when the transaction commits. */
  createIn(transaction: unknown, build: BuildFlow, backend: RunBackend): Promise<FlowHandle> {
    return this.#create(build, backend, (jobs) => jobs.within(transaction));
  }

  async #create(
    build: BuildFlow,
    backend: RunBackend,
    writing: (jobs: Jobs) => JobWriting,
    by = this.#parts.instance,
  ): Promise<FlowHandle> {
    const { stores } = this.#parts;
    const builder = new FlowBuilder();
    buildWith(build, builder);
    const drafts = await this.#draftsOf(builder.runs, by);
    const jobs = await writing(stores.database).createFlow(drafts, by);
    const handleOf = (job: Job): RunHandle => new RunHandle(backend, job.id, 'created');
    return new FlowHandle(backend, jobs.map(handleOf), (run: FlowRun) => builder.indexOf(run));
  }

  async #draftsOf(runs: readonly BuiltRun[], by: string): Promise<readonly FlowDraft[]> {
    const { creation, stores } = this.#parts;
    const drafting = creation.drafting(by);
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

/** Returns the flow that was created, or the id of the one that has the key. */
async function orExisting(unique: FlowKey | null, creating: Promise<FlowHandle>): Promise<FlowHandle | number> {
  try {
    return await creating;
  } catch (error) {
    const isTaken = unique !== null && isRefusal(error) && error.code === 'taken.key' && error.detail['key'] === unique.key;
    if (!isTaken) throw error;
    return Number(error.detail['id']);
  }
}

const inMemory = (type: string): Refusal =>
  new Refusal('malformed.flow', `a definition of ${type} is in memory: a flow can only have stored runs`, { type });
