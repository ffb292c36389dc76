/** The attempt: one try at one job in this process, from its claim to its outcome. */
import type { RunningJob } from '../../model/job.ts';
import type { Holding } from '../../store/store.ts';
import { Cancelled, Interrupted, LeaseLost, TimedOut } from '../handler/errors.ts';

const nothing = (): void => {};

export class Attempt {
  readonly job: RunningJob;
  readonly holding: Holding;
  #abort: AbortController | null = null;
  /** Why the handler shall stop. */
  #reason: Error | null = null;
  #onAbort: (reason: Error) => void = nothing;
  /** Why the handler is not waited for any longer. */
  #end: Error | null = null;
  #onEnd: (reason: Error) => void = nothing;
  #kill: (() => Promise<void>) | null = null;
  #isLost = false;
  #isReleased = false;

  constructor(job: RunningJob) {
    this.job = job;
    this.holding = { id: job.id, fence: job.fence };
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#reason !== null) this.#abort.abort(this.#reason);
    return this.#abort.signal;
  }

  get isCancelled(): boolean {
    return this.#reason instanceof Cancelled;
  }

  /** Someone else has the job, or it is over: nothing of this attempt can be stored. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** It was ended by the engine and not by its handler: the job goes back as if it had not been tried. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** What the handler gives; rejects when it is not waited for any longer. */
  await<T>(call: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject;
      call.then(resolve, reject);
      if (this.#end !== null) reject(this.#end);
    });
  }

  /** Called once, when the handler shall stop. */
  onAbort(call: (reason: Error) => void): void {
    this.#onAbort = call;
  }

  onKill(kill: () => Promise<void>): void {
    this.#kill = kill;
    if (this.#end !== null) void kill();
  }

  /** Asks the handler to give up; it is waited for. */
  cancel(why: string): void {
    this.#stop(new Cancelled(why));
  }

  timeOut(afterMs: number): void {
    this.#endWith(new TimedOut(`the try took longer than ${afterMs} ms`));
  }

  /** Nothing it writes will be kept. */
  revoke(): void {
    this.#isLost = true;
    this.#endWith(new LeaseLost(`job ${this.job.id} is no longer held under fence ${this.job.fence}`));
  }

  /** Nobody knows whether the job is still held: its handler must not go on, and the job goes back if it is. */
  abandon(): void {
    this.#isReleased = true;
    const { id, fence } = this.holding;
    this.#endWith(new LeaseLost(`the store does not confirm that job ${id} is still held under fence ${fence}`));
  }

  interrupt(): void {
    this.#isReleased = true;
    this.#endWith(new Interrupted('the engine is closing'));
  }

  #endWith(reason: Error): void {
    this.#stop(reason);
    this.#end ??= reason;
    this.#onEnd(reason);
    void this.#kill?.();
  }

  #stop(reason: Error): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#onAbort(reason);
    this.#abort?.abort(reason);
  }
}
