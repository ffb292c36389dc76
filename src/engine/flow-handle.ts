/** The handle of a flow: its runs, and what can be done to all of them. */
import type { FlowRun } from './declare/flow-builder.ts';
import { RunHandle, type ActOptions, type CancelOptions, type EndOptions, type RunBackend } from './run-handle.ts';

export class FlowHandle {
  /** The id of the flow, which is the id of its first run. */
  readonly id: number;
  /** The runs in the order in which they were added. */
  readonly runs: readonly RunHandle[];
  readonly #backend: RunBackend;
  readonly #indexOf: (run: FlowRun) => number;

  constructor(backend: RunBackend, runs: readonly RunHandle[], indexOf: (run: FlowRun) => number) {
    this.id = runs[0]!.id;
    this.runs = runs;
    this.#backend = backend;
    this.#indexOf = indexOf;
  }

  /** The handle of a run that `run` of the builder returned. */
  handle<Result>(run: FlowRun<Result>): RunHandle<Result> {
    return this.runs[this.#indexOf(run)] as RunHandle<Result>;
  }

  /** Returns a handle of the same flow on another backend. */
  on(backend: RunBackend): FlowHandle {
    const runs = this.runs.map(({ id, outcome }) => new RunHandle(backend, id, outcome));
    return new FlowHandle(backend, runs, this.#indexOf);
  }

  /** Cancels the open runs of the flow; returns how many. */
  cancel(options?: CancelOptions): Promise<number> {
    return this.#backend.cancelFlow(this.id, options);
  }

  /** Stops the open runs of the flow; returns how many. */
  stop(options?: EndOptions): Promise<number> {
    return this.#backend.stopFlow(this.id, options);
  }

  /**
   * Retries the runs that failed or were cancelled by hand; returns how many. Runs that were cancelled because of them
   * wait for them again.
   */
  retry(options?: ActOptions): Promise<number> {
    return this.#backend.retryFlow(this.id, options);
  }
}
