/** The attempt: one execution of one claimed job in this process, until its outcome is known. */
import type { RunningJob } from '../../model/job.ts';
import { systemRandom, type Random } from '../../random.ts';
import type { Holding } from '../../store/store.ts';
import { newAnswerToken, newToken } from '../handler/token.ts';
import { Cancelled, Interrupted, LeaseLost, TimedOut } from '../handler/errors.ts';

const nothing = (): void => {};

/** The steps of an attempt, as far as the end of the attempt depends on them. */
export interface StepsInUse {
  /**
   * Ends the steps when the handler has returned, or thrown `failure.error`: aborts those that are running and resolves
   * when they have ended. Never rejects.
   */
  readonly end: (failure?: { readonly error: unknown }) => Promise<void>;
  /** Resolves when no step is running. */
  readonly whenIdle: () => Promise<void>;
}

/** The sleep with which a handler has ended its attempt. `seen`: see the command `sleep`. */
export interface AttemptSleep {
  readonly name: string;
  readonly until: number;
  readonly seen?: number;
}

export class Attempt {
  readonly job: RunningJob;
  readonly holding: Holding;
  readonly #random: Random;
  #token: string | null = null;
  #abort: AbortController | null = null;
  /** Why the handler was asked to stop; null: it was not asked. */
  #reason: Error | null = null;
  #onAbort: (reason: Error) => void = nothing;
  #afterAbort: (reason: Error) => void = nothing;
  /** Why the runner no longer awaits the handler; null: the runner still awaits it. */
  #end: Error | null = null;
  #onEnd: (reason: Error) => void = nothing;
  #kill: (() => Promise<void>) | null = null;
  #isLost = false;
  #isReleased = false;
  #isCompleted = false;
  #isCompleting = false;
  #refusedCompletion: string | null = null;
  #confirm: (() => Promise<void>) | null = null;
  #sleep: AttemptSleep | null = null;
  #steps: StepsInUse | null = null;

  constructor(job: RunningJob, random: Random = systemRandom) {
    this.#random = random;
    this.job = job;
    this.holding = { id: job.id, fence: job.fence };
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#reason !== null) this.#abort.abort(this.#reason);
    return this.#abort.signal;
  }

  /** The token of `handOff`. It is the same for the whole attempt. */
  get token(): string {
    this.#token ??= newToken(this.holding, this.#random);
    return this.#token;
  }

  /** Returns a new token with which a question of the handler can be answered. */
  answerToken(): string {
    return newAnswerToken(this.job.id, this.#random);
  }

  hasToken(token: string): boolean {
    return this.#token === token;
  }

  /** Whether the handler was asked to stop. */
  get isAborted(): boolean {
    return this.#reason !== null;
  }

  get isCancelled(): boolean {
    return this.#reason instanceof Cancelled;
  }

  /** Whether this instance no longer holds the job under this fence, so that the store refuses all writes. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Whether the attempt was ended because the engine closes or the lease may have lapsed. In both cases the job is
   * released if this instance still holds it, and the attempt does not count.
   */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Whether `complete` has stored the end of the job; nothing that happens afterwards changes it. */
  get isCompleted(): boolean {
    return this.#isCompleted;
  }

  complete(): void {
    this.#isCompleted = true;
  }

  /** Whether `complete` was called, and has not failed. */
  get isCompleting(): boolean {
    return this.#isCompleting;
  }

  set isCompleting(isCompleting: boolean) {
    this.#isCompleting = isCompleting;
  }

  /** Why `complete` is refused from now on; null: it is not. */
  get refusedCompletion(): string | null {
    return this.#refusedCompletion;
  }

  refuseCompletion(why: string): void {
    this.#refusedCompletion = why;
  }

  /** Whether the end of the job is written in a transaction of the handler that may not be committed yet. */
  get isCommitExpected(): boolean {
    return this.#confirm !== null;
  }

  /** Sets the function that finds out, after the handler, whether its transaction has ended the job. */
  expectCommit(confirm: () => Promise<void>): void {
    this.#confirm = confirm;
  }

  /** Rejects if the transaction of the handler has not ended the job. */
  async confirmCommit(): Promise<void> {
    const confirm = this.#confirm;
    this.#confirm = null;
    await confirm?.();
  }

  /** The sleep with which the handler has ended the attempt, whatever it does afterwards; null: it has not. */
  get sleep(): AttemptSleep | null {
    return this.#sleep;
  }

  fallAsleep(sleep: AttemptSleep): void {
    this.#sleep ??= sleep;
  }

  /** Withdraws the sleep: the handler has returned or failed although it sleeps. */
  stayAwake(): void {
    this.#sleep = null;
  }

  /** The steps that the handler has used; null: none. */
  get steps(): StepsInUse | null {
    return this.#steps;
  }

  useSteps(steps: StepsInUse): void {
    this.#steps = steps;
  }

  get isEnded(): boolean {
    return this.#end !== null;
  }

  /**
   * Resolves or rejects like `call`, the handler's promise, when no step is running any more; rejects earlier if the
   * attempt is ended first.
   */
  await<T>(call: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject;
      call.then(
        (value) => (this.#steps === null ? resolve(value) : void this.#steps.end().then(() => resolve(value))),
        (error: unknown) => (this.#steps === null ? reject(error) : void this.#steps.end({ error }).then(() => reject(error))),
      );
      if (this.#end !== null) reject(this.#end);
    });
  }

  /** Sets the function that is called when the attempt is ended, for a handler whose promise is not awaited by `await`. */
  onEnd(call: (reason: Error) => void): void {
    this.#onEnd = call;
  }

  /** Sets the function that is called once, when the handler is asked to stop. */
  onAbort(call: (reason: Error) => void): void {
    this.#onAbort = call;
  }

  /** Sets the function that is called once, after the signal of the attempt was aborted. */
  afterAbort(call: (reason: Error) => void): void {
    this.#afterAbort = call;
  }

  /**
   * Call when the outcome is decided: what happens to the attempt from now on concerns only its signal. Lets go of the
   * functions, which hold what the handler was called with: until the outcome is stored, the attempt stays in memory.
   */
  forgetCalls(): void {
    this.#onEnd = this.#onAbort = this.#afterAbort = nothing;
  }

  /** Sets the function that kills the thread or process of an isolated handler when the attempt is ended. */
  onKill(kill: () => Promise<void>): void {
    this.#kill = kill;
    if (this.#end !== null) void kill();
  }

  /** Asks the handler to stop; the runner still awaits it. */
  cancel(why: string): void {
    this.#stop(new Cancelled(why));
  }

  timeOut(afterMs: number): void {
    this.#endWith(new TimedOut(`the attempt took longer than ${afterMs} ms`));
  }

  /** Ends the attempt because this instance no longer holds the job. The handler must stop, and nothing is stored. */
  revoke(): void {
    if (this.#isCompleted) return;
    this.#isLost = true;
    this.#endWith(new LeaseLost(`job ${this.job.id} is no longer held under fence ${this.job.fence}`));
  }

  /** Ends the attempt because the lease may have lapsed. The handler must stop; the job is released if still held. */
  release(): void {
    this.#isReleased = true;
    const { id, fence } = this.holding;
    this.#endWith(new LeaseLost(`the store has not confirmed that job ${id} is still held under fence ${fence}`));
  }

  /** Ends the attempt because the engine closes. The handler must stop, and the job is released. */
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
    this.#afterAbort(reason);
  }
}
