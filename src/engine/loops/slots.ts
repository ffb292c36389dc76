/** The slots: how many handlers run at a time in this instance, and the claimed jobs that wait for one. */
import { turn } from '../../time/clock.ts';
import { isPromised, type Later } from '../../time/maybe-promise.ts';

export interface SlotsParts<T> {
  /** Must not throw or reject. */
  readonly work: (item: T) => Later<void>;
  readonly onFree: () => void;
  /** Whether what waits may be started now; if not, `fill` is called when it may. */
  readonly mayStart: () => boolean;
}

/** After as many handlers in a row the rest of the program has its turn: they may all be over when they return. */
const breathAfter = 250;

export class Slots<T> {
  readonly size: number;
  readonly #work: (item: T) => Later<void>;
  readonly #onFree: () => void;
  readonly #mayStart: () => boolean;
  #queue: T[] = [];
  #busy = 0;
  #isBreathing = false;
  #idle: (() => void)[] = [];

  constructor(size: number, { work, onFree, mayStart }: SlotsParts<T>) {
    this.size = size;
    this.#work = work;
    this.#onFree = onFree;
    this.#mayStart = mayStart;
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

  /** Each starts when a slot is free. */
  add(items: readonly T[]): void {
    this.#queue.push(...items);
    this.fill();
  }

  /** Starts what waits, as far as slots are free: to be called when it may be started again. */
  fill(): void {
    for (let started = 0; this.#canStart; started += 1) {
      if (started === breathAfter) return void this.#breathe();
      this.#start(this.#queue.shift()!);
    }
  }

  /** Forgets those that need not be started any more. */
  drop(isDropped: (item: T) => boolean): void {
    this.#queue = this.#queue.filter((item) => !isDropped(item));
    this.#tellIdle();
  }

  /** Takes back what has not started. */
  takeBack(): T[] {
    return this.#queue.splice(0);
  }

  /** Resolves when nothing runs or waits. */
  whenIdle(): Promise<void> {
    if (this.#busy === 0 && this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  get #canStart(): boolean {
    return this.#busy < this.size && this.#queue.length > 0 && !this.#isBreathing && this.#mayStart();
  }

  #start(item: T): void {
    this.#busy += 1;
    const working = this.#work(item);
    if (isPromised(working)) void working.then(() => this.#goOn());
    else this.#free();
  }

  #goOn(): void {
    this.#free();
    this.fill();
  }

  #free(): void {
    this.#busy -= 1;
    this.#onFree();
    this.#tellIdle();
  }

  async #breathe(): Promise<void> {
    this.#isBreathing = true;
    await turn();
    this.#isBreathing = false;
    this.fill();
  }

  #tellIdle(): void {
    if (this.#busy === 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
