/** Watches the handlers of a flow: each run once, and none before those that it follows. */
import type { Input } from '../payload.ts';
import { flowIndexOf, type FlowRun } from './flow.ts';

export class FlowWatch {
  readonly #runs: readonly FlowRun[];
  readonly #isHandled: boolean[];
  readonly #done = Promise.withResolvers<void>();
  #handled = 0;

  constructor(runs: readonly FlowRun[]) {
    this.#runs = runs;
    this.#isHandled = runs.map(() => false);
    // Whoever awaits `done` later gets the error.
    this.#done.promise.catch(() => {});
  }

  handle(input: Input): void {
    const index = flowIndexOf(input);
    const run = this.#runs[index];
    if (!run) return this.#fail(`no run of the flow has the number ${index}`);
    if (this.#isHandled[index]) return this.#fail(`run ${index} was handled twice`);
    const early = run.after.find((before) => !this.#isHandled[before]);
    if (early !== undefined) return this.#fail(`run ${index} was handled before run ${early}, which it follows`);
    this.#isHandled[index] = true;
    this.#handled += 1;
    if (this.#handled === this.#runs.length) this.#done.resolve();
  }

  /** Resolves after the handler of the last run. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Throws if a run was handled again after the last one. */
  check(): void {
    if (this.#error) throw this.#error;
  }

  #error: Error | undefined;

  #fail(message: string): void {
    this.#error ??= new Error(message);
    this.#done.reject(this.#error);
  }
}
