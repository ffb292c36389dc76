/** The attempt: one try at one job in this process, from its claim to its outcome. */
import type { RunningJob } from '../model/job.ts';
import type { Holding } from '../store/store.ts';
import { Cancelled, Interrupted, LeaseLost, TimedOut } from './outcome.ts';

export class Attempt {
  readonly job: RunningJob;
  readonly holding: Holding;
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<never>();
  #kill: (() => Promise<void>) | null = null;

  constructor(job: RunningJob) {
    this.job = job;
    this.holding = { id: job.id, fence: job.fence };
    this.#ended.promise.catch(() => {});
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isCancelled(): boolean {
    return this.#abort.signal.reason instanceof Cancelled;
  }

  /** Rejects when the handler is not waited for any longer. */
  get ended(): Promise<never> {
    return this.#ended.promise;
  }

  onKill(kill: () => Promise<void>): void {
    this.#kill = kill;
    if (this.#abort.signal.aborted && !this.isCancelled) void kill();
  }

  /** Asks the handler to give up; it is waited for. */
  cancel(why: string): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(new Cancelled(why));
  }

  timeOut(afterMs: number): void {
    this.#giveUp(new TimedOut(`the try took longer than ${afterMs} ms`));
  }

  /** Nothing it writes will be kept. */
  lose(): void {
    this.#giveUp(new LeaseLost(`job ${this.job.id} is no longer held under fence ${this.job.fence}`));
  }

  interrupt(): void {
    this.#giveUp(new Interrupted('the engine is closing'));
  }

  #giveUp(reason: Error): void {
    this.#abort.abort(reason);
    this.#ended.reject(reason);
    void this.#kill?.();
  }
}
