/** The slots: how many handlers run at a time in this instance, and the claimed jobs that wait for one. */

export interface SlotsParts<T> {
  /** Must not reject. */
  readonly work: (item: T) => Promise<void>;
  readonly onFree: () => void;
  /** Whether what waits may be started now; if not, `fill` is called when it may. */
  readonly mayStart: () => boolean;
}

export class Slots<T> {
  readonly size: number;
  readonly #work: (item: T) => Promise<void>;
  readonly #onFree: () => void;
  readonly #mayStart: () => boolean;
  #queue: T[] = [];
  #busy = 0;
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
    while (this.#busy < this.size && this.#queue.length > 0 && this.#mayStart()) void this.#start(this.#queue.shift()!);
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

  async #start(item: T): Promise<void> {
    this.#busy += 1;
    try {
      await this.#work(item);
    } finally {
      this.#busy -= 1;
      this.fill();
      this.#onFree();
      this.#tellIdle();
    }
  }

  #tellIdle(): void {
    if (this.#busy === 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
