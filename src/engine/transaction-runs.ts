/** Runs in the caller's transaction: what is done to them takes effect if and when the transaction commits. */
import type { Job } from '../model/job.ts';
import type { JobDef } from './declare/job-def.ts';
import type { JobType } from './declare/job-type.ts';
import type { RequestOf, ResultOf, Runnable, RunRequest } from './declare/run-request.ts';
import type { BuildFlow, FlowCreation } from './flow-creation.ts';
import type { FlowHandle } from './flow-handle.ts';
import type { RunActions, RunEdit } from './run-actions.ts';
import type { RunCreation } from './run-creation.ts';
import { RunHandle, type ActOptions, type CancelOptions, type RunBackend, type RunMaker } from './run-handle.ts';

export interface TransactionRunsParts {
  readonly creation: RunCreation;
  readonly flows: FlowCreation;
  readonly actions: RunActions;
  readonly backend: RunBackend;
}

export class TransactionRuns implements RunMaker {
  readonly #transaction: unknown;
  readonly #parts: TransactionRunsParts;

  constructor(transaction: unknown, parts: TransactionRunsParts) {
    this.#transaction = transaction;
    this.#parts = parts;
  }

  async createJobRun<What extends Runnable>(
    what: What,
    ...[request]: RequestOf<What>
  ): Promise<RunHandle<ResultOf<What>>> {
    return (await this.createJobRuns<unknown, ResultOf<What>>(what, [request ?? {}]))[0]!;
  }

  async createJobRuns<Input, Result>(
    what: JobDef<Input, Result> | JobType<Input, Result>,
    requests: readonly RunRequest<NoInfer<Input>>[],
  ): Promise<readonly RunHandle<Result>[]> {
    const { creation, backend } = this.#parts;
    const created = await creation.createIn(this.#transaction, what, requests);
    return created.map(({ id, outcome }) => new RunHandle<Result>(backend, id, outcome));
  }

  /** Creates runs that follow each other; see `Engine.createFlow`. */
  createFlow(build: BuildFlow): Promise<FlowHandle> {
    return this.#parts.flows.createIn(this.#transaction, build, this.#parts.backend);
  }

  /** Cancels a run. If it is running, its handler is told within half a second of the commit. */
  async cancelJobRun(id: number, options?: CancelOptions): Promise<Job> {
    return this.#parts.actions.cancelIn(this.#transaction, id, options);
  }

  async editJobRun(id: number, edit: RunEdit, act?: ActOptions): Promise<Job> {
    return this.#parts.actions.editIn(this.#transaction, id, edit, act);
  }
}
