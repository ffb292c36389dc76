/** The slots: how many handlers run at a time in this instance, and the claimed jobs that wait for one. */

export class Slots<T> {
  readonly size: number;
  readonly #work: (item: T) => Promise<void>;
  readonly #onFree: () => void;
  #queue: T[] = [];
  #busy = 0;
  #idle: (() => void)[] = [];

  constructor(size: number, work: (item: T) => Promise<void>, onFree: () => void) {
    this.size = size;
    this.#work = work;
    this.#onFree = onFree;
  }

  get busy(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get free(): number {
    return this.size - this.#busy;
  }

  /** Each starts when a slot is free. */
  add(items: readonly T[]): void {
    this.#queue.push(...items);
    this.#fill();
  }

  /** Takes back what has not started. */
  takeBack(): T[] {
    const waiting = this.#queue;
    this.#queue = [];
    return waiting;
  }

  /** Resolves when nothing runs or waits. */
  whenIdle(): Promise<void> {
    if (this.#busy === 0 && this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #fill(): void {
    while (this.#busy < this.size && this.#queue.length > 0) void this.#start(this.#queue.shift()!);
  }

  async #start(item: T): Promise<void> {
    this.#busy += 1;
    try {
      await this.#work(item);
    } finally {
      this.#busy -= 1;
      this.#fill();
      this.#onFree();
      if (this.#busy === 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }
}
