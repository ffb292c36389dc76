/** The slots: execute a fixed number of claimed jobs at a time, and queue the others. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { turn } from '../../time/clock.ts';
import { isPromiseLike, type MaybePromise } from '../../time/maybe-promise.ts';

export interface SlotsParts<T> {
  /** Must not throw or reject, nor leave the asynchronous context in which it is called. */
  readonly work: (item: T) => MaybePromise<void>;
  /** Whether queued jobs may start now. When that changes to true, the owner calls `fill`. */
  readonly mayStart: () => boolean;
}

/** After starting this many jobs in a row, the slots yield to the event loop: synchronous handlers would block it. */
const yieldAfter = 250;

export class Slots<T> {
  readonly size: number;
  readonly #work: (item: T) => MaybePromise<void>;
  readonly #mayStart: () => boolean;
  #onFree = (): void => {};
  #queue: T[] = [];
  #busy = 0;
  #reserved = 0;
  #isYielding = false;
  #idle: (() => void)[] = [];
  /**
   * Calls a function in the asynchronous context in which the slots were created. Otherwise a handler would see values of
   * `AsyncLocalStorage` of the code that created its job. It is entered once for all jobs that start together.
   */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();

  constructor(size: number, { work, mayStart }: SlotsParts<T>) {
    this.size = size;
    this.#work = work;
    this.#mayStart = mayStart;
  }

  /** Sets the function that is called after the end of each job. */
  onFree(call: () => void): void {
    this.#onFree = call;
  }

  get busy(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get queue(): readonly T[] {
    return this.#queue;
  }

  get free(): number {
    return this.size - this.#busy;
  }

  /** How many slots are reserved for jobs that are being created. */
  get reserved(): number {
    return this.#reserved;
  }

  /**
   * The number of free slots that neither a queued job nor a reservation needs. Negative if queued jobs and
   * reservations need more slots than are free.
   */
  get unreserved(): number {
    return this.free - this.waiting - this.#reserved;
  }

  reserve(): void {
    this.#reserved += 1;
  }

  unreserve(): void {
    this.#reserved -= 1;
  }

  add(items: readonly T[]): void {
    this.#queue.push(...items);
    this.fill();
  }

  fill(): void {
    if (this.#canStart) this.#inOwnContext(this.#startQueued);
  }

  readonly #startQueued = (): void => {
    for (let started = 0; this.#canStart; started += 1) {
      if (started === yieldAfter) return void this.#yieldToEventLoop();
      this.#start(this.#queue.shift()!);
    }
  };

  drop(isDropped: (item: T) => boolean): void {
    this.#queue = this.#queue.filter((item) => !isDropped(item));
    this.#notifyIdle();
  }

  takeQueued(): T[] {
    return this.#queue.splice(0);
  }

  whenIdle(): Promise<void> {
    if (this.#busy === 0 && this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  get #canStart(): boolean {
    return this.#busy < this.size && this.#queue.length > 0 && !this.#isYielding && this.#mayStart();
  }

  #start(item: T): void {
    this.#busy += 1;
    const working = this.#work(item);
    if (isPromiseLike(working)) void working.then(() => this.#freeAndFill());
    else this.#free();
  }

  #freeAndFill(): void {
    this.#free();
    this.fill();
  }

  #free(): void {
    this.#busy -= 1;
    this.#onFree();
    this.#notifyIdle();
  }

  async #yieldToEventLoop(): Promise<void> {
    this.#isYielding = true;
    await turn();
    this.#isYielding = false;
    this.fill();
  }

  #notifyIdle(): void {
    if (this.#busy === 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
