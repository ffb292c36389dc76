/** The attempt: one try at one job in this process, from its claim to its outcome. */
import type { RunningJob } from '../../model/job.ts';
import type { Holding } from '../../store/store.ts';
import { Cancelled, Interrupted, LeaseLost, TimedOut } from './outcome.ts';

export class Attempt {
  readonly job: RunningJob;
  readonly holding: Holding;
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<never>();
  #kill: (() => Promise<void>) | null = null;
  #isLost = false;
  #isGivenBack = false;

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

  /** Someone else has the job, or it is over: nothing of this attempt can be stored. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** It was ended by the engine and not by its handler: the job goes back as if it had not been tried. */
  get isGivenBack(): boolean {
    return this.#isGivenBack;
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
    this.#isLost = true;
    this.#giveUp(new LeaseLost(`job ${this.job.id} is no longer held under fence ${this.job.fence}`));
  }

  /** Nobody knows whether the job is still held: its handler must not go on, and the job goes back if it is. */
  doubt(): void {
    this.#isGivenBack = true;
    const { id, fence } = this.holding;
    this.#giveUp(new LeaseLost(`the store does not confirm that job ${id} is still held under fence ${fence}`));
  }

  interrupt(): void {
    this.#isGivenBack = true;
    this.#giveUp(new Interrupted('the engine is closing'));
  }

  #giveUp(reason: Error): void {
    this.#abort.abort(reason);
    this.#ended.reject(reason);
    void this.#kill?.();
  }
}
