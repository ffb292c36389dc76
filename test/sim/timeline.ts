// The timeline: callbacks in virtual time. It alone decides what happens next; idle time costs nothing.
import { turn } from '../../src/time/clock.ts';

type Callback = () => void | Promise<void>;

interface Entry {
  readonly at: number;
  readonly order: number;
  callback: Callback | null;
}

export class Timeline {
  #now: number;
  #order = 0;
  #isStopped = false;
  readonly #settle: () => Promise<void>;
  /** A binary heap: no entry is due before its parent. */
  readonly #entries: Entry[] = [];

  /** `settle` waits until all promises are settled that do not wait for the timeline. */
  constructor(start: number, settle: () => Promise<void> = turn) {
    this.#now = start;
    this.#settle = settle;
  }

  get now(): number {
    return this.#now;
  }

  /** Returns the function that cancels the callback. */
  after(ms: number, callback: Callback): () => void {
    const entry: Entry = { at: this.#now + Math.max(0, Math.ceil(ms)), order: (this.#order += 1), callback };
    this.#push(entry);
    return () => {
      entry.callback = null;
    };
  }

  /** Ends `run` after the current callback. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Calls what is due until a time, one after the other, and settles all promises after each. */
  async run(until: number): Promise<void> {
    this.#isStopped = false;
    await this.#settle();
    for (let entry = this.#peek(); entry && entry.at <= until && !this.#isStopped; entry = this.#peek()) {
      this.#pop();
      const { callback } = entry;
      if (callback === null) continue;
      this.#now = entry.at;
      await callback();
      await this.#settle();
    }
    if (!this.#isStopped) this.#now = Math.max(this.#now, until);
  }

  #peek(): Entry | undefined {
    return this.#entries[0];
  }

  #push(entry: Entry): void {
    const heap = this.#entries;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#entries;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Waits until nothing waits for a turn of the event loop. Then real I/O can take any time without a difference. */
export async function quiescence(): Promise<void> {
  do await turn();
  while (process.getActiveResourcesInfo().includes('Immediate'));
}
